"""The app with the page that the session names at its root: AppTest switches by file path, and pages are functions.

The guard keeps processes that a test spawns from running it again.
"""

import streamlit as st

from ui.main import main

if __name__ == "__main__":
    main(st.session_state["first"])
