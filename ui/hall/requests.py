"""What a room's requests carry, checked at the door: names, bodies, steps; and who waits no longer."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Coroutine
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rope_core.languages import FIRST, LANGUAGES
from ui.present.rooms import normalized_room_name

BODY_SECONDS = 10.0
QUESTION = re.compile(r"[\w-]{1,60}/\d{1,3}", re.ASCII)


class RefusedRequest(Exception):
    """A request that is not answered with what it wants: ``status`` is the answer's."""

    def __init__(self, status: int, reason: str = "") -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def room_name_of_request(request: Request) -> str:
    """Return the name of the room in a request's path; refuse what is none."""
    try:
        return normalized_room_name(request.path_params["room"])
    except ValueError:
        raise RefusedRequest(404) from None


def uncached_json_response(content: Any, status: int = 200) -> Response:
    """Return an answer that nobody keeps."""
    return JSONResponse(content, status, {"cache-control": "no-store"})


def refuse_other_sites(request: Request) -> None:
    """Refuse what a page of another site sends; a request without an Origin is no page's, or one of this site."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host", ""):
        raise RefusedRequest(403, "origin")


async def read_json_body(request: Request, max_bytes: int) -> dict[str, Any]:
    """Return a body of JSON, whole within BODY_SECONDS; a form of another site cannot send its type."""
    if request.headers.get("content-type") != "application/json":
        raise RefusedRequest(415)
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > max_bytes:
                    raise RefusedRequest(413)
        given = json.loads(body)
    except TimeoutError:
        raise RefusedRequest(408) from None
    except (ValueError, RecursionError):
        raise RefusedRequest(400) from None
    if not isinstance(given, dict):
        raise RefusedRequest(400)
    return given


def checked_step_content(given: dict[str, Any]) -> dict[str, Any]:
    """Return what phones show, of a lecturer's request: the parts that are known, each of its type."""
    lang, say = given.get("lang"), given.get("say", "")
    content: dict[str, Any] = {"lang": lang if lang in LANGUAGES else FIRST, "say": say}
    if given.get("over") is True:
        content["over"] = True
    if "id" in given:
        choices, answer = given.get("choices"), given.get("answer")
        content |= {"id": given["id"], "question": given.get("question"), "choices": choices}
        texts = [given["id"], content["question"], *(choices if isinstance(choices, list) else [None])]
        if not all(isinstance(text, str) for text in texts) or not QUESTION.fullmatch(given["id"]):
            raise RefusedRequest(400)
        if answer is not None:
            if not isinstance(answer, int) or not 0 <= answer < len(texts) - 2:
                raise RefusedRequest(400)
            content["answer"] = answer
    if not isinstance(say, str):
        raise RefusedRequest(400)
    return content


async def wait_while_connected(request: Request, news: Coroutine[Any, Any, Any], seconds: float) -> None:
    """Wait for news, at most for some seconds, and no longer than the browser is there."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    waiting = [asyncio.create_task(news), asyncio.create_task(gone())]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
