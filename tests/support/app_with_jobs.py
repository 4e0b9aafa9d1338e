"""The app, with an address at which a test ends the work that it has started."""

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app import ROOT, lifespan
from rope_core.jobs.queue import OVER, default_queue
from ui.served.early import PreloadMiddleware

JOBS = "/jobs-of-tests"


def cancel(_: Request) -> Response:
    """Cancel all jobs."""
    queue = default_queue()
    for job in queue.all():
        if job.state not in OVER:
            queue.cancel(job.id)
    return Response()


app = st.App(
    ROOT / "ui" / "main.py",
    lifespan=lifespan,
    middleware=[Middleware(PreloadMiddleware)],
    routes=[Route(JOBS, cancel, methods=["POST"])],
)
