"""Sessions without a browser: what Chromium sends over the websocket, for hundreds of visitors from one process."""

import asyncio
import contextlib
import http.client
import json
import ssl
import struct
import time
import zlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field, replace
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlsplit

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider
from streamlit.proto.WidgetStates_pb2 import WidgetState

FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
FAILED = (ForwardMsg.FINISHED_WITH_COMPILE_ERROR,)
MAX_MESSAGE = 64 * 2**20
# Kinds of widgets whose values this client holds; others are at their defaults, which the server knows.
HELD = ("slider", "selectbox", "button_group", "checkbox")


class Broken(Exception):
    """A session that was closed, answered with an error, or not in time."""


@dataclass
class Visit:
    """Which page a session opens and which slider it moves, by the slider's English name; "" is the first."""

    url: str
    page: str = ""
    slider: str = "base"
    query: str = "lang=en"


@dataclass
class Film:
    """A page's film: its widget, the stops of the control that is moved, and where all its controls are."""

    id: str
    control: str
    stops: list[float]
    at: dict[str, float] = field(default_factory=dict)
    moves: int = 0

    def step(self) -> WidgetState:
        """Let go of the control at its next stop, or at its first after the last, as the player reports it."""
        self.at[self.control] = self.stops[(self.stops.index(self.at[self.control]) + 1) % len(self.stops)]
        self.moves += 1
        return WidgetState(id=self.id, json_value=json.dumps({"moved": {"at": self.at, "count": self.moves}}))


@dataclass
class Session:
    """One visitor's tab: the page's widgets as the last run left them, and the messages it would have in its cache."""

    visit: Visit
    cookies: dict[str, str] = field(default_factory=dict)
    query: str = ""
    script: str = ""
    slider: Slider | None = None
    film: Film | None = None
    fragment: str = ""
    widgets: dict[str, WidgetState] = field(default_factory=dict)
    cached: dict[str, int] = field(default_factory=dict)
    received: int = 0
    runs: int = 0
    _socket: websockets.ClientConnection | None = None

    async def open(self, seconds: float = 60) -> float:
        """Load the page as a first visit does; the seconds until the script has finished."""
        parts = urlsplit(self.visit.url)
        if not self.cookies:
            self.cookies = await asyncio.to_thread(cookies, self.visit.url)
        self.query = self.query or self.visit.query
        scheme = {"http": "ws", "https": "wss"}[parts.scheme]
        self._socket = await websockets.connect(
            f"{scheme}://{parts.netloc}/_stcore/stream",
            origin=websockets.Origin(f"{parts.scheme}://{parts.netloc}"),
            subprotocols=[websockets.Subprotocol(name) for name in ("streamlit", self._token())],
            additional_headers={"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())},
            ssl=unverified() if parts.scheme == "https" else None,
            compression=None,
            max_size=MAX_MESSAGE,
            open_timeout=seconds,
            proxy=None,
        )
        assert self._socket.response is not None
        self.cookies |= given(self._socket.response.headers.get_all("Set-Cookie"))
        self.widgets.clear()
        self.cached.clear()
        self.slider = self.film = None
        return await self._run(self.message(), seconds)

    async def move(self, seconds: float = 30) -> float:
        """Move the slider, a film's or the page's, by one step; the seconds until the script has finished."""
        if self.film is not None:
            self.widgets[self.film.id] = self.film.step()
        elif self.slider is not None:
            step(self.slider)
            self.widgets[self.slider.id] = state("slider", self.slider)
        else:
            raise Broken(f"slider must be on the page, got none called {self.visit.slider}")
        message = self.message()
        message.rerun_script.fragment_id = self.fragment
        return await self._run(message, seconds)

    async def send(self, data: bytes | str) -> None:
        """Send a message as it is, and wait for no answer."""
        assert self._socket is not None
        await self._socket.send(data)

    async def listen(self) -> bytes:
        """Return the server's next message."""
        assert self._socket is not None
        return await self._socket.recv(decode=False)

    async def close(self) -> None:
        """Close the tab."""
        if self._socket is not None:
            await self._socket.close()

    def _token(self) -> str:
        return self.cookies.get("_streamlit_xsrf", "none").strip('"') or "none"

    def message(self) -> BackMsg:
        """Return what the browser sends for a run with the widgets as they are."""
        message = BackMsg()
        run = message.rerun_script
        run.query_string = self.query
        run.widget_states.widgets.extend(self.widgets.values())
        run.page_script_hash = self.script
        run.page_name = "" if self.script else self.visit.page
        run.cached_message_hashes.extend(self.cached)
        run.context_info.timezone = "UTC"
        run.context_info.timezone_offset = 0
        run.context_info.locale = "en-GB"
        run.context_info.url = f"{self.visit.url}/{self.visit.page}"
        run.context_info.is_embedded = False
        run.context_info.color_scheme = "light"
        return message

    async def _run(self, message: BackMsg, seconds: float) -> float:
        assert self._socket is not None
        self.runs += 1
        start = time.perf_counter()
        try:
            async with asyncio.timeout(seconds):
                await self._socket.send(message.SerializeToString())
                while not self._take(await self._socket.recv(decode=False)):
                    pass
        except TimeoutError as error:
            raise Broken(f"answer must come within {seconds:g} s") from error
        except websockets.ConnectionClosed as error:
            raise Broken(f"connection must stay open, got {error}") from error
        return time.perf_counter() - start

    def _take(self, data: bytes) -> bool:
        """Take one message in; whether it was the run's last."""
        self.received += len(data)
        message = ForwardMsg.FromString(data)
        if message.metadata.cacheable:
            self.cached[message.hash] = self.runs
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            self.cached[message.ref_hash] = self.runs
        elif kind == "new_session":
            self.script = message.new_session.page_script_hash or self.script
            oldest = self.runs - message.new_session.config.max_cached_message_age
            self.cached = {name: run for name, run in self.cached.items() if run >= oldest}
        elif kind == "navigation":
            self.script = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._element(message.delta.new_element, message.delta.fragment_id)
        elif kind == "script_finished":
            if message.script_finished in FAILED:
                raise Broken("script must compile")
            return message.script_finished in FINISHED
        return False

    def _element(self, element: Element, fragment: str) -> None:
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise Broken(f"page must not raise, got {element.exception.type}")
        if kind == "bidi_component":
            self._film_part(element.bidi_component, fragment)
        if kind not in HELD:
            return
        widget = getattr(element, kind)
        new = widget.id not in self.widgets
        if kind == "slider" and self.film is None and self._wanted(widget):
            self.fragment = fragment
            if new or widget.set_value:
                self.slider = settled(widget)
        if new or widget.set_value:
            self.widgets[widget.id] = state(kind, settled(widget) if kind == "slider" else widget)

    def _film_part(self, part: BidiComponent, fragment: str) -> None:
        """Take in a film's scene, or its values, which come after it."""
        if part.bytes:
            controls = (each for each in scene(part.bytes)["controls"] if self.visit.slider in each["label"])
            control = next(controls, None)
            if control and (self.film is None or self.film.id == part.id):
                old = self.film or Film(part.id, control["name"], [])
                self.film, self.fragment = replace(old, stops=control["stops"]), fragment
        elif part.json and self.film is not None and self.film.control in (at := json.loads(part.json)["at"]):
            self.film.at = at

    def _wanted(self, slider: Slider) -> bool:
        if self.slider is None:
            return self.visit.slider in slider.label
        return key(slider) == key(self.slider)


def scene(data: bytes) -> dict[str, Any]:
    """Return the head of a film's scene: after its name and eight bytes, deflated, its length and JSON."""
    body = zlib.decompress(data[1 + data[0] + 8 :])
    head: dict[str, Any] = json.loads(body[4 : 4 + struct.unpack("<I", body[:4])[0]])
    return head


def key(slider: Slider) -> str:
    """Return the page's own name of a widget, without the hash of its settings."""
    return slider.id.split("-", 2)[-1]


def settled(slider: Slider) -> Slider:
    """Return a slider whose ``default`` is its present value, given by the page or its own."""
    if slider.set_value:
        slider.default[:] = [list(slider.options).index(word) for word in slider.raw_value] or slider.value
    return slider


def step(slider: Slider) -> None:
    """Move a slider's handle one step on, or back to its start from its end; ``default`` holds its value."""
    at = slider.default[0] + slider.step
    slider.default[:] = [at if at <= slider.max else slider.min]


def state(kind: str, widget: Any) -> WidgetState:
    """Return a widget's value as the browser sends it back with every move.

    >>> state("slider", Slider(id="base", options=["2", "4", "8"], default=[1])).string_array_value.data
    ['4']
    """
    value = WidgetState(id=widget.id)
    if kind == "checkbox":
        value.bool_value = widget.value if widget.set_value else widget.default
    elif kind == "selectbox":
        value.string_value = widget.raw_value if widget.set_value else widget.options[widget.default]
    elif kind == "button_group":
        chosen = widget.raw_values if widget.set_value else [widget.options[at].content for at in widget.default]
        value.string_array_value.data.extend(chosen)
    elif widget.options:
        value.string_array_value.data.extend(widget.options[int(at)] for at in widget.default)
    else:
        value.double_array_value.data.extend(widget.default)
    return value


def unverified() -> ssl.SSLContext:
    """Return a context that takes any certificate: the server under load is the operator's own."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def connection(url: str) -> http.client.HTTPConnection:
    """Return a line to the server of ``url``."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return http.client.HTTPSConnection(parts.netloc, timeout=30, context=unverified())
    return http.client.HTTPConnection(parts.netloc, timeout=30)


def given(headers: Iterable[str]) -> dict[str, str]:
    """Return the cookies that Set-Cookie headers hand over."""
    return {name: morsel.coded_value for header in headers for name, morsel in SimpleCookie(header).items()}


def cookies(url: str) -> dict[str, str]:
    """Return the cookies that a first visit is given by the page and by Streamlit's health check, in that order."""
    jar: dict[str, str] = {}
    for path in ("/", "/_stcore/health"):
        line = connection(url)
        with contextlib.closing(line):
            line.request("GET", path, headers={"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())})
            answer = line.getresponse()
            answer.read()
            jar |= given(answer.headers.get_all("Set-Cookie", []))
    return jar


@contextlib.asynccontextmanager
async def sessions(visit: Visit, count: int, together: int = 4) -> AsyncIterator[list[Session]]:
    """Open ``count`` sessions, a few at a time, and close them at the end."""
    opened = [Session(visit) for _ in range(count)]
    try:
        await open_all(opened, together)
        yield opened
    finally:
        await asyncio.gather(*(each.close() for each in opened), return_exceptions=True)


async def open_all(opened: list[Session], together: int = 4) -> None:
    """Open sessions, ``together`` at a time."""
    gate = asyncio.Semaphore(together)

    async def opened_in_turn(session: Session) -> None:
        async with gate:
            await session.open()

    await asyncio.gather(*(opened_in_turn(session) for session in opened))
