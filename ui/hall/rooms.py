"""The rooms of a hall: a lecturer shows a step, phones follow it and vote; no phone gets what was not shown."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import hmac
import io
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from rope_core.languages import FIRST, LANGUAGES
from ui.hall.requests import (
    RefusedRequest,
    checked_step_content,
    read_json_body,
    refuse_other_sites,
    room_name_of_request,
    uncached_json_response,
    wait_while_connected,
)
from ui.hall.store import RoomStore, StoredRoom, StoreUnavailable
from ui.text.words import PageTexts

ASSETS = {path.name: path.read_bytes() for path in (Path(__file__).parent / "assets").iterdir()}
TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
PHONE = "rope_phone"
"""The cookie of a phone's name with its signature."""
YEAR = 31_536_000
HOLD, GATHER, BEAT = 25.0, 0.2, 20.0
"""Seconds: a lecturer's request waits for votes, votes are gathered, a stream gives another sign of life."""
MOST_ROOMS, BODY, VOTE = 2000, 8000, 400
"""Rooms, and bytes: of what is shown, of a vote."""
WORDS = ("wait", "counted", "out", "yes", "no", "lost", "late", "closed", "crowded", "over")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
STREAM = {"cache-control": "no-store", "x-accel-buffering": "no"}
"""A proxy in front hands a stream's events on at once."""
LOG_SECONDS = 60.0
log = logging.getLogger(__name__)


@dataclass
class LiveRoom:
    """A room in memory: what its phones show, and an event for who waits for another content or another vote."""

    room: StoredRoom
    content: dict[str, Any]
    shown: asyncio.Event = field(default_factory=asyncio.Event)
    voted: asyncio.Event = field(default_factory=asyncio.Event)

    @cached_property
    def content_event(self) -> bytes:
        """The content as an event of a stream."""
        text = json.dumps({"number": self.room.number} | self.content, ensure_ascii=False)
        return f"retry: 1000\ndata: {text}\n\n".encode()

    @property
    def question(self) -> str:
        """The question that is open or answered; "" where there is none."""
        return str(self.content.get("id", ""))

    def replace_content(self, room: StoredRoom, content: dict[str, Any]) -> None:
        """Take another content, and wake all who wait."""
        self.room, self.content = room, content
        with contextlib.suppress(AttributeError):  # nobody has asked for it
            del self.content_event
        self.wake_waiting(phones=True)

    def wake_waiting(self, *, phones: bool) -> None:
        """Wake who waits for votes, and the phones too."""
        if phones:
            event, self.shown = self.shown, asyncio.Event()
            event.set()
        event, self.voted = self.voted, asyncio.Event()
        event.set()


class RoomService:
    """The service of rooms below ``/room/``.

    Args:
        store: the file of rooms and votes.
        keys: the lecturers' keys; a room belongs to the key that opened it.
    """

    def __init__(self, store: RoomStore, keys: list[str]) -> None:
        self.store, self.keys = store, keys
        self.secret = sha256("\n".join(["phones", *keys[:1]]).encode()).digest()
        self.live = {room.name: LiveRoom(room, json.loads(room.content)) for room in store.unexpired_rooms()}
        self._logged: dict[str, float] = {}

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            Route("/room/{file:str}.{ending:str}", self._guard(self.phone_file_response)),
            Route("/room/{room}", self._guard(self.room_page_response), methods=["GET"]),
            Route("/room/{room}", self._guard(self.show_step), methods=["PUT"]),
            Route("/room/{room}", self._guard(self.close_room), methods=["DELETE"]),
            Route("/room/{room}/state", self._guard(self.shown_content_response)),
            Route("/room/{room}/steps", self._guard(self.content_stream_response)),
            Route("/room/{room}/vote", self._guard(self.count_vote), methods=["POST"]),
            Route("/room/{room}/votes", self._guard(self.vote_counts_response)),
            Route("/room/{room}/votes.csv", self._guard(self.votes_csv_response)),
        ]

    def remove_expired_rooms(self) -> None:
        """Forget the rooms whose time has run out."""
        there = {room.name for room in self.store.unexpired_rooms()}
        for name in self.live.keys() - there:
            self.live.pop(name).wake_waiting(phones=True)

    def _guard(self, answer: Any) -> Any:
        """Return an endpoint that answers refusals and a file that takes nothing, which is logged once a minute."""

        async def endpoint(request: Request) -> Response:
            try:
                response: Response = await answer(request)
            except RefusedRequest as refused:
                return uncached_json_response({"counted": False, "reason": refused.reason}, refused.status)
            except ClientDisconnect:
                return Response(status_code=400)
            except StoreUnavailable as error:
                if time.monotonic() - self._logged.get(error.reason, -LOG_SECONDS) >= LOG_SECONDS:
                    self._logged[error.reason] = time.monotonic()
                    log.error("%s: %s", error, error.__cause__)
                return uncached_json_response({"counted": False, "reason": error.reason}, 503)
            return response

        return endpoint

    # ---- who asks --------------------------------------------------------------------------------------------------

    def lecturer_key_hash(self, request: Request) -> str:
        """Return the hash of the lecturer's key that a request bears; "" without one."""
        kind, _, key = request.headers.get("authorization", "").partition(" ")
        given = key.encode("utf-8", "replace") if kind.lower() == "bearer" else b""
        match = [each for each in self.keys if secrets.compare_digest(given, each.encode())]
        return sha256(match[0].encode()).hexdigest() if match else ""

    def _lecturer(self, request: Request) -> str:
        owner = self.lecturer_key_hash(request)
        if not owner:
            raise RefusedRequest(403, "lecturer")
        return owner

    def _own(self, request: Request) -> LiveRoom:
        """Return the room that a lecturer's request names; refuse one of another lecturer."""
        owner, live = self._lecturer(request), self._there(request)
        if live.room.owner != owner:
            raise RefusedRequest(403, "taken")
        return live

    def _there(self, request: Request) -> LiveRoom:
        live = self.live.get(room_name_of_request(request))
        if live is None:
            raise RefusedRequest(404, "closed")
        return live

    def signed_voter_cookie(self, name: str) -> str:
        """Return a phone's cookie: its name and a signature, so that a made-up one votes nowhere."""
        return f"{name}.{hmac.digest(self.secret, name.encode(), 'sha256').hex()[:32]}"

    def voter_name(self, request: Request) -> str:
        """Return the name of a phone's browser; "" where its cookie is none of ours."""
        cookie = request.cookies.get(PHONE, "")
        name = cookie.partition(".")[0]
        given, signed = cookie.encode("utf-8", "replace"), self.signed_voter_cookie(name).encode()
        return name if len(name) == 32 and secrets.compare_digest(given, signed) else ""

    # ---- for the lecturer ------------------------------------------------------------------------------------------

    async def show_step(self, request: Request) -> Response:
        """Have a room's phones show a step; a room that is not there is opened for the lecturer's key."""
        owner, name = self._lecturer(request), room_name_of_request(request)
        live = self.live.get(name)
        if live and live.room.owner != owner:
            raise RefusedRequest(403, "taken")
        if live is None and len(self.live) >= MOST_ROOMS:
            raise RefusedRequest(503, "rooms")
        content = checked_step_content(await read_json_body(request, BODY))
        text = json.dumps(content, ensure_ascii=False)
        before = live.room if live else StoredRoom(name, owner, 0, "")
        if text != before.content:
            room = StoredRoom(name, owner, max(before.number + 1, int(1000 * self.store.now())), text)
            self.store.store_content(room, content["id"] if "answer" in content else "")
            if live is None:
                self.live[name] = LiveRoom(room, content)
            else:
                live.replace_content(room, content)
        return self._counts(self.live[name])

    async def vote_counts_response(self, request: Request) -> Response:
        """Answer a lecturer with the counts of the question that is shown, once they are no longer ``since``."""
        live = self._own(request)
        if request.query_params.get("since") == self._mark(live):
            await wait_while_connected(request, live.voted.wait(), HOLD)
            await asyncio.sleep(GATHER)
        return self._counts(self._own(request))

    def _mark(self, live: LiveRoom) -> str:
        return f"{live.room.number}.{self.store.voter_count(live.room.name, live.question)}"

    def _counts(self, live: LiveRoom) -> Response:
        """Return how many have voted; how, only once the answer is out."""
        counts: dict[str, Any] = {"mark": self._mark(live), "id": live.question}
        counts["voters"] = self.store.voter_count(live.room.name, live.question)
        if live.question and self.store.is_answer_out(live.room.name, live.question):
            votes = self.store.vote_counts(live.room.name).get(live.question, {})
            counts["votes"] = [votes.get(choice, 0) for choice in range(len(live.content["choices"]))]
        return uncached_json_response(counts)

    async def votes_csv_response(self, request: Request) -> Response:
        """Answer a lecturer with the votes of a room as CSV; choices from 1."""
        live, out = self._own(request), io.StringIO()
        rows = csv.writer(out)
        rows.writerow(("room", "question", "choice", "votes"))
        for question, counts in self.store.vote_counts(live.room.name).items():
            rows.writerows((live.room.name, question, choice + 1, votes) for choice, votes in counts.items())
        headers = {"content-disposition": 'attachment; filename="votes.csv"', "cache-control": "no-store"}
        return Response(out.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)

    async def close_room(self, request: Request) -> Response:
        """Close a lecturer's room; its votes are gone."""
        live = self._own(request)
        self.store.remove_room(live.room.name)
        del self.live[live.room.name]
        live.wake_waiting(phones=True)
        return uncached_json_response({})

    # ---- for phones ------------------------------------------------------------------------------------------------

    async def phone_file_response(self, request: Request) -> Response:
        """Answer with a file of the phones' page."""
        name = "{file}.{ending}".format_map(request.path_params)
        if name not in ASSETS or request.path_params["ending"] not in TYPES:
            raise RefusedRequest(404)
        return Response(
            ASSETS[name], media_type=TYPES[request.path_params["ending"]], headers={"cache-control": "max-age=300"}
        )

    async def room_page_response(self, request: Request) -> Response:
        """Answer with a room's page in the language that its link names, whether the room is open or not."""
        room, lang = room_name_of_request(request), request.query_params.get("lang", FIRST)
        t = PageTexts(lang if lang in LANGUAGES else FIRST, "predict")
        words = {key: t(f"phone.{key}") for key in WORDS}
        text = (
            ASSETS["page.html"]
            .decode()
            .format(
                lang=t.lang,
                title=escape(t("phone.title", room=room)),
                wait=escape(words["wait"]),
                room=escape(t("phone.room", room=room)),
                words=json.dumps(words, ensure_ascii=False).replace("<", "\\u003c"),
            )
        )
        answer = HTMLResponse(text, headers={"cache-control": "no-store", "content-security-policy": POLICY})
        if not self.voter_name(request):
            secure = request.url.scheme == "https"
            cookie = self.signed_voter_cookie(secrets.token_hex(16))
            answer.set_cookie(PHONE, cookie, max_age=YEAR, httponly=True, samesite="lax", secure=secure)
        return answer

    async def shown_content_response(self, request: Request) -> Response:
        """Answer with what a room shows."""
        live = self._there(request)
        return uncached_json_response({"number": live.room.number} | live.content)

    async def content_stream_response(self, request: Request) -> Response:
        """Answer with a stream of what a room shows (server-sent events), until the room is closed."""
        return StreamingResponse(self._steps(self._there(request)), media_type="text/event-stream", headers=STREAM)

    async def _steps(self, live: LiveRoom) -> AsyncIterator[bytes]:
        number = -1
        while self.live.get(live.room.name) is live:
            shown = live.shown
            if number != live.room.number:
                number = live.room.number
                yield live.content_event
            try:
                async with asyncio.timeout(BEAT):
                    await shown.wait()
            except TimeoutError:
                yield b":\n\n"

    async def count_vote(self, request: Request) -> Response:
        """Count a choice for the question that a room shows; ``reason`` says why where it does not count."""
        refuse_other_sites(request)
        live, given, voter = self._there(request), await read_json_body(request, VOTE), self.voter_name(request)
        choice, offered = given.get("choice"), range(len(live.content.get("choices", ())))
        if not isinstance(choice, int) or isinstance(choice, bool) or choice not in offered:
            raise RefusedRequest(200, "late")
        if given.get("question") != live.question or not voter:
            raise RefusedRequest(200, "late")
        reason = self.store.record_vote(live.room.name, live.question, voter, choice)
        if not reason:
            live.wake_waiting(phones=False)
        return uncached_json_response({"counted": not reason, "reason": reason})
