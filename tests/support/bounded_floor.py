"""The benchmarks' floor page behind the app's own middleware: what attacks need, without the app's start."""

import streamlit as st

from benchmarks.floor_frozen import lifespan
from benchmarks.servers import ROOT
from ui.server.middleware import stack

app = st.App(ROOT / "benchmarks" / "floor.py", lifespan=lifespan, middleware=stack())
