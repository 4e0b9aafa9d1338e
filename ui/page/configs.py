"""The config in view: a model of the catalogue, one of the hub, or text that stays in the session."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import streamlit as st

import rope_core as rc
from rope_core.checks.extend import reached
from rope_core.checks.schemas import OLD
from rope_core.hf import hub
from rope_core.hf.read import parse, shallow
from ui.page import models
from ui.page.fields import MAX_LEN, ladder
from ui.page.state import Field
from ui.page.store import Store
from ui.text.words import Words

T = TypeVar("T")

# Far above any released config.json, and parsed and checked in well under a second.
LIMIT = 2**20
ROPE_FIELDS = (*OLD, "original_max_position_embeddings", "max_position_embeddings")
TEXT, HUB, SAID, WORDS = "config.text", "config.hub", "config.said", "config.paste"


# Streamlit's own line names the transport's limit, in English; the label names the one that counts.
QUIET = "<style>[data-testid=stFileUploaderDropzoneInstructions] {display: none}</style>"
# Stops of the wanted length: four an octave.
WANTED_STEPS = tuple(round(stop) for stop in ladder(64, MAX_LEN))


@dataclass(frozen=True)
class View:
    """A config that could be read: where it came from ("model", "hub", "paste" or "upload"), its name, its content."""

    kind: str
    name: str
    config: Mapping[str, Any]

    @property
    def where(self) -> str:
        """A Python expression for this config, for the recipes."""
        return f"rc.model({self.name!r}).hf_config()" if self.kind == "model" else '"config.json"'


def too_long(size: int) -> rc.ConfigError:
    """The sentence for a text over the limit."""
    return rc.ConfigError("config", "long_bytes", size, limit=LIMIT)


def read(text: str | bytes) -> dict[str, Any]:
    """Return the object in a JSON text of at most LIMIT bytes, or raise ConfigError with one sentence."""
    size = len(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    if size > LIMIT:
        raise too_long(size)
    found = parse(text)
    shallow(found)
    return found


class Source:
    """Which config a page shows, and the ways to change it; what cannot be read leaves the view as it was."""

    def __init__(self, store: Store, model: Field, hub_id: Field, dependent: tuple[Field, ...]) -> None:
        self.store, self.model, self.hub_id, self.dependent = store, model, hub_id, dependent

    def view(self) -> View:
        """The config in view: text of this session, else the hub's, else the catalogue's."""
        if st.session_state.get(f"reset.{self.store.page}"):
            st.session_state.pop(TEXT, None)
        pasted = st.session_state.get(TEXT)
        if isinstance(pasted, View):
            return pasted
        asked = self.store.get(self.hub_id)
        if asked:
            try:
                return self.fetched(asked)
            except rc.ConfigError as error:
                self.say(error)
                self.store.put(self.hub_id, "")
        chosen = self.store.get(self.model)
        return View("model", chosen, rc.model(chosen).hf_config())

    def fetched(self, asked: str) -> View:
        """The hub's config, asked for once in a session."""
        known = st.session_state.setdefault(HUB, {})
        if asked not in known:
            known[asked] = View("hub", asked, hub.fetch(asked))
        found: View = known[asked]
        return found

    def say(self, error: Exception) -> None:
        """Keep a refusal for the next drawing."""
        st.session_state[SAID] = str(error)

    def said(self) -> str | None:
        """What was refused since the last drawing."""
        text: str | None = st.session_state.pop(SAID, None)
        return text

    def menu(self, t: Words) -> None:
        """The catalogue's menu."""
        key = f"w.{self.store.page}.{self.model.name}"
        if st.session_state.get(key) != self.store.get(self.model):
            st.session_state[key] = self.store.get(self.model)
        label = t("field.model")
        st.selectbox(label, models.ids(), key=key, format_func=models.name, on_change=self.pick, args=(key,))

    def ways(self, t: Words, said: str | None) -> None:
        """Boxes for pasted text, a file and a hub id, with what was refused of the last one."""
        st.html(QUIET)
        if said:
            st.error(said)
        with st.form("config.form.paste", border=False):
            st.text_area(t("paste_label"), key=WORDS, height=140, placeholder=t("paste_hint"))
            st.form_submit_button(t("paste_button"), on_click=self.paste, type="primary")
        st.file_uploader(
            t("upload_label", size=f"{LIMIT // 2**20} MiB"),
            key="config.file",
            max_upload_size=16,  # so that a file somewhat over the limit is answered in the page's language
            on_change=self.upload,
            args=("config.file",),
        )
        with st.form("config.form.hub", border=False):
            st.text_input(t("hub_label"), key="config.id", max_chars=200, placeholder="org/name@revision")
            st.form_submit_button(t("hub_button"), on_click=self.load, args=("config.id",))

    def take(self, kind: str, name: str, load: Callable[[], dict[str, Any]]) -> None:
        """Show the text that ``load`` reads, or keep the view and say why not."""
        try:
            found = View(kind, name, load())
        except rc.ConfigError as error:
            self.say(error)
        else:
            self.forget()
            st.session_state[TEXT] = found

    def paste(self) -> None:
        """Take the text of the paste box."""
        text = st.session_state.get(WORDS) or ""
        self.take("paste", "", lambda: read(text))

    def upload(self, key: str) -> None:
        """Take the file of the upload box."""
        file = st.session_state.get(key)
        if file is not None and file.size > LIMIT:
            self.say(too_long(file.size))
        elif file is not None:
            self.take("upload", file.name, lambda: read(file.getvalue()))

    def load(self, key: str) -> None:
        """Take the model that the hub box names."""
        asked = str(st.session_state.get(key) or "").strip()[:200]
        try:
            self.fetched(asked)
        except rc.ConfigError as error:
            self.say(error)
        else:
            self.forget()
            self.store.put(self.hub_id, asked)

    def pick(self, key: str) -> None:
        """Take the model that the catalogue's menu names."""
        chosen = st.session_state[key]
        if chosen in models.ids():
            self.forget()
            self.store.put(self.model, chosen)

    def forget(self) -> None:
        """Drop the text, the hub's model, and the choices that belonged to them."""
        st.session_state.pop(TEXT, None)
        for field in (self.hub_id, *self.dependent):
            self.store.put(field, self.store.default(field))


def kinds(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The layer types that differ; () where all are alike or none can be built."""
    try:
        return tuple(rc.layer_types(config))
    except rc.ConfigError:
        return ()


def label(view: View, t: Words) -> str:
    """How a reader knows the config in view; holds nothing that a visitor wrote but a checked hub id."""
    if view.kind == "model":
        return models.name(view.name)
    return view.name if view.kind == "hub" else t(f"view.{view.kind}")


def counterpart(model_id: str, layer: str | None, length: int | None) -> rc.HfRope | str:
    """What a model of the catalogue computes in the same layer type, else in its first one."""
    config = rc.model(model_id).hf_config()
    found = kinds(config)
    return attempt(rc.from_hf, config, layer if layer in found else next(iter(found), None), length)


def length_field(field: Field, rope: rc.HfRope) -> Field:
    """The length's field with a default past the trained length: the longest one, else twice the trained one."""
    longest = rope.max_len or rope.train_len
    return replace(field, default=min(longest if longest > rope.train_len else 2 * rope.train_len, int(field.high)))


def wanted_field(field: Field, config: Mapping[str, Any]) -> Field | None:
    """The wanted length's field: past the length that the config reaches, twice that at first; None where none fits."""
    reach = attempt(reached, config)
    if isinstance(reach, str):
        return None
    low, high = reach + 1, min(1024 * reach, int(field.high))
    if high <= low:
        return None
    stops = tuple(stop for stop in field.steps if low <= stop <= high)
    return replace(field, default=min(2 * reach, high), low=low, high=high, steps=stops)


def as_json(config: Mapping[str, Any]) -> str:
    """A config as a file's text."""
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"


def rope_part(config: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that decide the rotation, at the top or in the text part, for a reader."""
    inner = [value for value in config.values() if isinstance(value, Mapping)]
    found = [part for part in (config, *inner) if any(name in part for name in ROPE_FIELDS)]
    return {name: found[0][name] for name in ROPE_FIELDS if name in found[0]} if found else {}


def attempt(function: Callable[..., T], *arguments: object) -> T | str:
    """What a function of configs answers, or the sentence that says why it cannot."""
    try:
        return function(*arguments)
    except ValueError as error:
        return str(error)
