"""The session's values: read, set with validation, in step with the URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import streamlit as st

import rope_core as rc
from ui.page import fields, models
from ui.page.fields import CUSTOM, GEOMETRY, MODEL
from ui.page.state import Field, Refused, Value, check, from_query, number_text

Note = tuple[str, dict[str, Any]]


class Store:
    """Values of one page's fields. Explicit values live in the session; the rest are defaults."""

    def __init__(self, page: str, own: Iterable[Field]) -> None:
        self.page = page
        self.fields = {field.name: field for field in own}

    @cached_property
    def explicit(self) -> dict[str, Value]:
        """All values that were set, by slot; one plain dict for the whole session."""
        return st.session_state.setdefault("values", {})  # type: ignore[no-any-return]

    @property
    def notes(self) -> list[Note]:
        """What is to be said once, above the page: (text key, slots)."""
        return st.session_state.setdefault("notes", [])  # type: ignore[no-any-return]

    def get(self, field: Field) -> Value:
        """The value in force: the explicit one, else the model's, else the field's default."""
        slot = field.slot(self.page)
        return self.explicit[slot] if slot in self.explicit else self.default(field)

    def default(self, field: Field) -> Value:
        """What a field holds before anybody sets it; geometry and scheme come from the chosen model."""
        if not field.shared or field is MODEL or field is fields.LAYER:
            return field.default
        setting = self.setting()
        if setting is None:
            return field.default
        of_rope = {"dim": setting.rope.dim, "base": setting.rope.base, "train_len": setting.rope.train_len}
        if field.name in of_rope:
            return of_rope[field.name]
        if field is fields.SCHEME:
            return setting.scheme
        value = setting.params.get(field.name)
        return field.default if value is None or isinstance(value, tuple) else value

    def setting(self) -> models.Setting | None:
        """The chosen model's geometry and scheme; None for the visitor's own values."""
        model = self.explicit.get(MODEL.name, MODEL.default)
        return None if model == CUSTOM else models.setting(model, self.explicit.get(fields.LAYER.name, ""))

    def modified(self) -> bool:
        """Whether the geometry differs from the chosen model's."""
        return any(self.get(f) != self.default(f) for f in (fields.DIM, fields.BASE, fields.TRAIN_LEN))

    def rope(self) -> rc.Rope:
        """The geometry in force."""
        return rc.Rope(self.get(fields.DIM), self.get(fields.BASE), self.get(fields.TRAIN_LEN))

    def params(self, scheme: str) -> dict[str, Value]:
        """The parameters in force for ``scheme``: the controls' values, and a model's own vectors."""
        setting = self.setting()
        chosen: dict[str, Value] = {}
        for param in rc.SCHEMES[scheme].params:
            if param.name in fields.PARAMS:
                chosen[param.name] = self.get(fields.PARAMS[param.name])
            elif setting is not None and setting.scheme == scheme:
                chosen[param.name] = setting.params.get(param.name, param.default)
        return chosen

    def request(self, scheme: str | None = None) -> rc.Request:
        """The request for ``scheme`` (default: the chosen one); raises ValueError when the values do not fit."""
        name = self.get(fields.SCHEME) if scheme is None else scheme
        return rc.Request(self.rope(), name, self.params(name), self.get(fields.SEQ_LEN))

    def put(self, field: Field, value: Value) -> None:
        """Set a value; an equal-to-default one is forgotten, so that links stay short."""
        if field is MODEL:
            for other in GEOMETRY + fields.SCHEME_FIELDS:
                self.explicit.pop(other.slot(self.page), None)
        if value == self.default(field):
            self.explicit.pop(field.slot(self.page), None)
        else:
            self.explicit[field.slot(self.page)] = value

    def try_put(self, field: Field, value: Value, fits: Callable[[], object]) -> None:
        """Set a value unless the field or the page refuses it; a refusal becomes a note and changes nothing."""
        before = dict(self.explicit)
        try:
            self.put(field, check(field, value))
            fits()
        except Refused as refused:
            self.restore(before)
            self.notes.append(("frame.refused", slots(refused)))
        except ValueError as error:
            self.restore(before)
            self.notes.append(("frame.impossible", {"detail": str(error)}))

    def restore(self, values: Mapping[str, Value]) -> None:
        """Put back an earlier state of all values."""
        self.explicit.clear()
        self.explicit.update(values)

    def reset(self) -> None:
        """Forget this page's values and the shared ones."""
        for field in self.fields.values():
            self.explicit.pop(field.slot(self.page), None)

    def take(self, state: Mapping[str, Value]) -> None:
        """Make ``state``, checked values by name, the whole state: what it leaves out returns to its default."""
        self.reset()
        self._put_all(state)

    def _put_all(self, values: Mapping[str, Value]) -> None:
        # The model first: choosing one sets the others.
        for name in sorted(values, key=lambda name: (name != MODEL.name, name)):
            self.put(self.fields[name], values[name])

    def read_query(self, query: Mapping[str, str], fits: Callable[[], object]) -> None:
        """Take values from a link; what was corrected or refused becomes a note."""
        before = dict(self.explicit)
        values, corrected = from_query(self.fields, query)
        self._put_all(values)
        for refused, used in corrected:
            key = "frame.ignored" if used is None else "frame.corrected"
            self.notes.append((key, slots(refused) | {"used": used}))
        unknown = [name for name in query if name not in self.fields and name not in RESERVED]
        self.notes.extend(("frame.unknown_parameter", {"given": name[:40]}) for name in unknown[:3])
        try:
            fits()
        except ValueError as error:
            self.restore(before)
            self.notes.append(("frame.impossible", {"detail": str(error)}))

    def query(self) -> dict[str, str]:
        """The explicit values as URL parameters."""
        found = {}
        for name, field in self.fields.items():
            slot = field.slot(self.page)
            if slot in self.explicit:
                value = self.explicit[slot]
                found[name] = "auto" if value is None else number_text(value)
        return found


# Parameters of the frame and of Streamlit itself, which are no page's fields.
RESERVED = ("lang", "embed", "embed_options", "display", "hide", "room", "talk", "step")


def slots(refused: Refused) -> dict[str, Any]:
    """The parts of a refusal that its sentence needs; the frame looks up the words."""
    field = refused.field
    return {"field": field.name, "rule": refused.rule, "given": refused.given, "low": field.low, "high": field.high}
