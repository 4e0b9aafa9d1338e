"""The Streamlit frame: what draws a page's parts, keeps its address, and stands around it on the server."""
