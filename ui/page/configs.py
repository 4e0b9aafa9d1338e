"""The config in view: a model of the catalogue, one of the hub, or text that stays in the session."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import rope_core as rc
from rope_core.extension.extend import config_reached_length
from rope_core.hf import hub
from rope_core.hf.read import check_nesting_depth, parse_json_object
from rope_core.hf.schemas import OLD
from ui.figures import catalogue as models
from ui.page.fields import LEN_STEPS, MAX_LEN, slider_stops
from ui.page.frame import PageFrame, UploadedFile
from ui.page.state import Field
from ui.page.store import RESET
from ui.text.words import PageTexts

# Far above any released config.json, and parsed and checked in well under a second.
LIMIT = 2**20
OPENED = "gpt-oss-20b"
"""The model that the page opens with."""
ROPE_FIELDS = (*OLD, "original_max_position_embeddings", "max_position_embeddings")
TEXT, HUB, REFUSED = "config.text", "config.hub", "config.refused"


# Stops of the wanted length: four an octave.
WHATIF_FACTORS = slider_stops(1.0, 64.0)
WANTED_STEPS = tuple(round(stop) for stop in slider_stops(64, MAX_LEN))


@dataclass(frozen=True)
class NamedConfig:
    """A config that could be read: where it came from ("model", "hub", "paste" or "upload"), its name, its content."""

    kind: str
    name: str
    config: Mapping[str, Any]

    @property
    def python_expression(self) -> str:
        """A Python expression for this config, for the recipes."""
        return f"rc.model({self.name!r}).hf_config()" if self.kind == "model" else '"config.json"'


@dataclass(frozen=True)
class ConfigPageState:
    """What the page was drawn for: the config, the layer type, transformers' version, all notes or few, the rotation.

    ``rope`` is None where none can be built, and ``trouble`` says why.
    """

    view: NamedConfig
    layer: str | None
    version: str
    everything: bool
    rope: rc.HfRope | None
    trouble: ValueError | None = None


def refuse_oversized_text(size: int) -> NoReturn:
    """Refuse a text over the limit."""
    raise rc.ConfigError("config", "long_bytes", size, limit=LIMIT)


def parse_config(text: str | bytes) -> dict[str, Any]:
    """Return the object in a JSON text of at most LIMIT bytes, or raise ConfigError with one sentence."""
    size = len(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    if size > LIMIT:
        refuse_oversized_text(size)
    config = parse_json_object(text)
    check_nesting_depth(config)
    return config


class ConfigChooser:
    """Which config a page shows, and the ways to change it; what cannot be read leaves the view as it was."""

    def __init__(self, page: PageFrame, model: Field, hub_id: Field, dependent: tuple[Field, ...]) -> None:
        self.page, self.store, self.session = page, page.store, page.session
        self.model, self.hub_id, self.dependent = model, hub_id, dependent

    def view(self) -> NamedConfig:
        """Return the config in view: text of this session, else the hub's, else the catalogue's."""
        if self.session.pop(RESET, None) == self.store.page:
            self.session.pop(TEXT, None)
        pasted = self.session.get(TEXT)
        if isinstance(pasted, NamedConfig):
            return pasted
        hub_id = self.store.get(self.hub_id)
        if hub_id:
            try:
                return self.fetched_hub_config(hub_id)
            except rc.ConfigError as error:
                self.session[REFUSED] = error
                self.store.put(self.hub_id, "")
        chosen = self.store.get(self.model)
        return NamedConfig("model", chosen, rc.model(chosen).hf_config())

    def fetched_hub_config(self, hub_id: str) -> NamedConfig:
        """Return the hub's config, fetched once in a session."""
        known: dict[str, NamedConfig] = self.session.setdefault(HUB, {})
        if hub_id not in known:
            known[hub_id] = NamedConfig("hub", hub_id, hub.fetch_config(hub_id))
        return known[hub_id]

    def pop_refusal(self) -> rc.ConfigError | None:
        """Return what was refused since the last drawing, once."""
        error: rc.ConfigError | None = self.session.pop(REFUSED, None)
        return error

    def draw_config_inputs(self) -> None:
        """Draw boxes for pasted text, a file and a hub id."""
        t = self.page.t
        paste, limit = t("paste_label"), t("upload_label", size=f"{LIMIT // 2**20} MiB")
        self.page.form(paste, t("paste_button"), "config.paste", self.take_pasted_text, lines=5, hint=t("paste_hint"))
        # Somewhat over the limit, so that such a file is answered in the page's language.
        self.page.upload(limit, "config.file", 16, self.take_uploaded_file)
        self.page.form(t("hub_label"), t("hub_button"), "config.id", self.take_hub_model, hint="org/name@revision")

    def show_loaded_config(self, kind: str, name: str, load: Callable[[], dict[str, Any]]) -> None:
        """Show the text that ``load`` reads, or keep the view and the reason."""
        try:
            view = NamedConfig(kind, name, load())
        except rc.ConfigError as error:
            self.session[REFUSED] = error
        else:
            self.forget_own_config()
            self.session[TEXT] = view

    def take_pasted_text(self, text: str) -> None:
        """Take a pasted text."""
        self.show_loaded_config("paste", "", lambda: parse_config(text))

    def take_uploaded_file(self, file: UploadedFile) -> None:
        """Take a file; one over the limit is not read."""
        self.show_loaded_config(
            "upload",
            file.name,
            lambda: parse_config(file.getvalue()) if file.size <= LIMIT else refuse_oversized_text(file.size),
        )

    def take_hub_model(self, text: str) -> None:
        """Take the model of the hub that the text names."""
        hub_id = text.strip()[:200]
        try:
            self.fetched_hub_config(hub_id)
        except rc.ConfigError as error:
            self.session[REFUSED] = error
        else:
            self.forget_own_config()
            self.store.put(self.hub_id, hub_id)

    def forget_own_config(self) -> None:
        """Drop the text, the hub's model, and the choices that belonged to them."""
        self.session.pop(TEXT, None)
        for field in (self.hub_id, *self.dependent):
            self.store.put(field, self.store.default_value(field))


def differing_layer_types(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the layer types that differ; () where all are alike or none can be built."""
    try:
        return tuple(rc.layer_types(config))
    except rc.ConfigError:
        return ()


def config_label(view: NamedConfig, t: PageTexts) -> str:
    """How a reader knows the config in view; holds nothing that a visitor wrote but a checked hub id."""
    if view.kind == "model":
        return models.model_name(view.name)
    return view.name if view.kind == "hub" else t(f"view.{view.kind}")


def catalogue_rope(model_id: str, layer: str | None, length: int | None) -> rc.HfRope:
    """Return what a model of the catalogue computes in the same layer type, else in its first one.

    Raises:
        ValueError: where that length is none of the model's.
    """
    config = rc.model(model_id).hf_config()
    types = differing_layer_types(config)
    return rc.from_hf(config, layer if layer in types else next(iter(types), None), length)


def length_field_past_training(field: Field, rope: rc.HfRope) -> Field:
    """Return the length's field with a default past the trained length: the longest one, else twice the trained one."""
    longest = rope.max_len or rope.train_len
    return replace(field, default=min(longest if longest > rope.train_len else 2 * rope.train_len, int(field.high)))


def wanted_length_field(field: Field, config: Mapping[str, Any]) -> Field | None:
    """Return the wanted length's field: past what the config reaches, twice that at first; None where none fits."""
    try:
        reach = config_reached_length(config)
    except ValueError:
        return None
    low, high = reach + 1, min(1024 * reach, int(field.high))
    if high <= low:
        return None
    stops = tuple(stop for stop in field.steps if low <= stop <= high)
    return replace(field, default=min(2 * reach, high), low=low, high=high, steps=stops)


def config_to_json(config: Mapping[str, Any]) -> str:
    """Return a config as a file's text."""
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"


def rope_fields(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that decide the rotation, at the top or in the text part, for a reader."""
    inner = [value for value in config.values() if isinstance(value, Mapping)]
    parts = [part for part in (config, *inner) if any(name in part for name in ROPE_FIELDS)]
    return {name: parts[0][name] for name in ROPE_FIELDS if name in parts[0]} if parts else {}


def factor_and_length_stops(
    view: NamedConfig,
    request: rc.Request,
    factor: float | None,
    trained_length: int | None,
    promised_length: int | None = None,
) -> tuple[float, tuple[float, ...], tuple[int, ...]]:
    """Return the factor that a film of a request opens with, and the factors and trained lengths that it can rest at.

    Its own, those in force and the one that a promised length asks for are among them. The model that the page opens
    with has a quarter of its own factor at first: what is wrong with it is what the film shows.
    """
    own, length = float(str(request.params["factor"])), request.rope.train_len
    start = own / 4 if (view.kind, view.name) == ("model", OPENED) else own
    factors = {
        own,
        start,
        *WHATIF_FACTORS,
        *([factor] if factor else []),
        *([promised_length / length] if promised_length else []),
    }
    lengths = {
        length,
        *(stop for stop in LEN_STEPS if length / 2 <= stop <= 16 * length),
        *([trained_length] if trained_length else []),
    }
    return start, tuple(sorted(factors)), tuple(sorted(lengths))
