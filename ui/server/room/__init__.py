"""The page of a room: what a phone shows while a lecturer leads. It is no session of the app, and runs no script.

A phone asks for what the lecturer shows and is answered when that changes, so it follows within a moment; one read of
the rooms' file a moment serves all phones of a room.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from cachetools import LRUCache
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ui.present.rooms import room_name
from ui.present.tally import Tally, Unavailable
from ui.present.visitor import PLACE, browser
from ui.text.words import LANGUAGES, Words

ASSETS = Path(__file__).parent / "assets"
MOMENT, HOLD = 0.2, 20.0
"""Seconds between two reads of a room, and the longest that a phone's question is held open."""
KNOWN, BODY = 2000, 400
"""Rooms that are remembered, and bytes of a vote."""
WORDS = ("wait", "counted", "out", "yes", "no", "lost", "late", "closed", "crowded")
YEAR = 31_536_000


@dataclass
class Seen:
    """What a room showed when it was last read, and who reads it now."""

    number: int = 0
    content: dict[str, Any] = field(default_factory=dict)
    read: float = -1e9
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


ROOMS: LRUCache[str, Seen] = LRUCache(KNOWN)


async def look(room: str) -> Seen:
    """Return what a room shows, as old as a moment at most; of all who ask at once one reads the file."""
    seen = ROOMS.setdefault(room, Seen())
    async with seen.lock:
        if time.monotonic() - seen.read >= MOMENT:
            try:
                seen.number, text = await run_in_threadpool(Tally().shown, room)
                seen.content = json.loads(text) if text else {}
            except Unavailable:
                pass  # what was shown before stays
            seen.read = time.monotonic()
    return seen


def voter(request: Request) -> str:
    """Return the word by which a phone's vote is known, or "" before it has a cookie."""
    return browser(request.cookies, "") if PLACE in request.cookies else ""


async def page(request: Request) -> Response:
    """Answer with the page, in the language that its link names."""
    try:
        room = room_name(request.path_params["room"])
    except ValueError:
        return Response(status_code=404)
    lang = request.query_params.get("lang", "en")
    t = Words(lang if lang in LANGUAGES else "en", "predict")
    words = {key: t(f"phone.{key}") for key in WORDS}
    text = (
        (ASSETS / "page.html")
        .read_text("utf-8")
        .format(
            lang=t.lang,
            title=escape(t("phone.title", room=room)),
            wait=escape(words["wait"]),
            room=escape(t("phone.room", room=room)),
            words=json.dumps(words, ensure_ascii=False).replace("<", "\\u003c"),
        )
    )
    answer = HTMLResponse(text, headers={"cache-control": "no-store"})
    if PLACE not in request.cookies:
        secure = request.url.scheme == "https"
        answer.set_cookie(PLACE, secrets.token_hex(16), max_age=YEAR, httponly=True, samesite="lax", secure=secure)
    return answer


async def state(request: Request) -> Response:
    """Answer with what the room shows once that is no longer number ``since``, at the latest after a while."""
    try:
        room, since = room_name(request.path_params["room"]), int(request.query_params.get("since", "-1"))
    except ValueError:
        return Response(status_code=404)
    end = time.monotonic() + HOLD
    while (seen := await look(room)).number == since and time.monotonic() < end:
        await asyncio.sleep(MOMENT)
        if await request.is_disconnected():
            break
    return JSONResponse({"number": seen.number} | seen.content, headers={"cache-control": "no-store"})


async def vote(request: Request) -> Response:
    """Count a choice for the question that the room shows; answers why not where it does not count."""
    # A form of another site cannot send this type.
    if request.headers.get("content-type") != "application/json":
        return Response(status_code=415)
    body = b""
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > BODY:
                return Response(status_code=413)
    except ClientDisconnect:
        return Response(status_code=400)
    try:
        room = room_name(request.path_params["room"])
        given = json.loads(body)
        question, choice = given["question"], given["choice"]
    except (ValueError, KeyError, TypeError):
        return Response(status_code=400)
    content = (await look(room)).content
    token, count = voter(request), len(content.get("choices", ()))
    if question != content.get("id") or not isinstance(choice, int) or not 0 <= choice < count or not token:
        return JSONResponse({"counted": False, "reason": "late"})
    try:
        counted = await run_in_threadpool(Tally().answer, room, question, token, choice)
    except Unavailable as error:
        return JSONResponse({"counted": False, "reason": error.reason})
    return JSONResponse({"counted": counted, "reason": "" if counted else "late"})


def routes() -> list[BaseRoute]:
    """Return the routes of rooms, for the app."""
    return [
        Mount("/room-files", StaticFiles(directory=ASSETS)),
        Route("/room/{room}", page),
        Route("/room/{room}/state", state),
        Route("/room/{room}/vote", vote, methods=["POST"]),
    ]
