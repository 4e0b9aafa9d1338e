"""All that knows Streamlit or Plotly, and all words."""
