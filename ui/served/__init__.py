"""The Streamlit frame: what draws a page's parts, keeps its address, and frames it on the server."""
