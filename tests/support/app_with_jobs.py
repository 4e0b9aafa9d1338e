"""The app, with a socket through which a test ends the work that it has started."""

import os
from pathlib import Path

import streamlit as st

from app import ROOT, lifespan
from rope_core.jobs import control
from rope_core.jobs.queue import default_queue
from ui.server.middleware import stack
from ui.server.room import routes

# Who only reads this file, as the doctests do, has no records.
if RECORDS := os.environ.get("ROPE_LAB_RECORDS"):
    control.serve(default_queue(), Path(RECORDS).with_suffix(control.SUFFIX))
app = st.App(ROOT / "ui" / "main.py", lifespan=lifespan, middleware=stack(), routes=routes())
