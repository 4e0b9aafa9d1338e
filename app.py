"""The RoPE Lab as one app: `streamlit run app.py` serves it."""

import gc
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from starlette.middleware import Middleware  # noqa: E402

from ui.served.early import PreloadMiddleware  # noqa: E402


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Import what every page needs, then take it out of the garbage collector's sight.

    A thread draws the next step of a lesson while one is shown.

    Streamlit collects all generations after every rerun; with the imports frozen that costs a few milliseconds
    instead of most of the rerun.
    """
    import ui.served.warm  # noqa: F401
    from ui.served import ahead, film

    film.register_player()
    threading.Thread(target=ahead.draw_queued_steps, daemon=True).start()
    gc.collect()
    gc.freeze()
    yield


app = st.App(ROOT / "ui" / "main.py", lifespan=lifespan, middleware=[Middleware(PreloadMiddleware)])
