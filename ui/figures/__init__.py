"""Figures as pure functions: numbers and words in, a Drawing out; no Streamlit."""
