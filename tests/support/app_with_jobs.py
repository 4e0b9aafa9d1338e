"""The app, with a socket through which a test ends the work that it has started."""

import os
from pathlib import Path

import streamlit as st

from app import ROOT, lifespan
from rope_core.jobs import control
from rope_core.jobs.queue import default_queue
from ui.server.middleware import stack

control.serve(default_queue(), Path(os.environ["ROPE_LAB_RECORDS"]).with_suffix(control.SUFFIX))
app = st.App(ROOT / "ui" / "main.py", lifespan=lifespan, middleware=stack())
