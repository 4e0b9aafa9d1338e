"""The session's values: read, set with validation, in step with the URL."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import rope_core as rc
from ui.figures import catalogue as models
from ui.page import fields
from ui.page.fields import CUSTOM, GEOMETRY, MODEL, SCHEME
from ui.page.state import Field, FieldValue, RefusedValue, checked_value, url_value_text, values_from_query
from ui.work.session import SessionState

StoreNote = tuple[str, dict[str, Any]]
OWN = "own"
"""The session's place for the geometry and scheme of a model that is none of the catalogue."""
RESET = "reset"
"""The session's page whose values were forgotten last, until it has dropped what it keeps beside them."""


class PageValues:
    """Values of one page's fields. Explicit values live in the session; the rest are defaults.

    Args:
        page: the page's name.
        own: all fields of the page, the shared ones included.
        session: where values and notes are kept; a dict of its own tries values apart from any visitor's.
        fits: raises ValueError where the values do not go together; by default what the shared fields ask for.
    """

    def __init__(
        self,
        page: str,
        own: Collection[Field],
        session: SessionState,
        fits: Callable[[PageValues], object] | None = None,
    ) -> None:
        self.page = page
        self.fields = {field.name: field for field in own}
        self.explicit: dict[str, FieldValue] = session.setdefault("values", {})
        self.session = session
        shared = any(field.shared for field in own)
        self._fits = fits or (PageValues.request if SCHEME in own else PageValues.rope if shared else lambda _: None)

    @property
    def notes(self) -> list[StoreNote]:
        """What is shown once, above the page: (text key, slots)."""
        notes: list[StoreNote] = self.session.setdefault("notes", [])
        return notes

    def require_consistent(self) -> None:
        """Raise ValueError where the values in force do not go together on this page."""
        self._fits(self)

    def is_consistent(self) -> bool:
        """Return whether the values in force go together on this page."""
        try:
            self.require_consistent()
        except ValueError:
            return False
        return True

    def get(self, field: Field) -> FieldValue:
        """Return the value in force: the explicit one, else the model's, else the field's default."""
        slot = field.session_key(self.page)
        return self.explicit[slot] if slot in self.explicit else self.default_value(field)

    def default_value(self, field: Field) -> FieldValue:
        """Return what a field holds before anybody sets it; geometry and scheme come from the chosen model."""
        if not field.shared or field is MODEL or field is fields.LAYER:
            return field.default
        setting = self.model_setting()
        if setting is None:
            return field.default
        of_rope = {"dim": setting.rope.dim, "base": setting.rope.base, "train_len": setting.rope.train_len}
        if field.name in of_rope:
            return of_rope[field.name]
        if field is SCHEME:
            return setting.scheme
        value = setting.params.get(field.name)
        return field.default if value is None or isinstance(value, tuple) else value

    def model_setting(self) -> models.RopeSetting | None:
        """Return the chosen model's geometry and scheme: the session's own one, or None, for the visitor's values."""
        model = self.explicit.get(MODEL.name, MODEL.default)
        if model == CUSTOM:
            own: models.RopeSetting | None = self.session.get(OWN)
            return own
        return models.model_rope_setting(model, self.explicit.get(fields.LAYER.name, ""))

    def shared_values(self) -> tuple[FieldValue, ...]:
        """Return the values in force of the fields that this page shares with others."""
        return tuple(self.get(field) for field in self.fields.values() if field.shared)

    def rope(self) -> rc.Rope:
        """Return the geometry in force."""
        return rc.Rope(self.get(fields.DIM), self.get(fields.BASE), self.get(fields.TRAIN_LEN))

    def params(self, scheme: str) -> dict[str, FieldValue]:
        """Return the parameters in force for ``scheme``: the controls' values, and a model's own vectors."""
        setting = self.model_setting()
        chosen: dict[str, FieldValue] = {}
        for param in rc.SCHEMES[scheme].params:
            if param.name in fields.PARAMS:
                chosen[param.name] = self.get(fields.PARAMS[param.name])
            elif setting is not None and setting.scheme == scheme:
                chosen[param.name] = setting.params.get(param.name, param.default)
        return chosen

    def request(self) -> rc.Request:
        """Return the request for the chosen scheme; raise ValueError where the values do not fit."""
        name = self.get(SCHEME)
        return rc.Request(self.rope(), name, self.params(name), self.get(fields.SEQ_LEN))

    def put(self, field: Field, value: FieldValue) -> None:
        """Set a value; an equal-to-default one is forgotten, so that links stay short."""
        if field is MODEL:
            for other in GEOMETRY + fields.SCHEME_FIELDS:
                self.explicit.pop(other.session_key(self.page), None)
        if value == self.default_value(field):
            self.explicit.pop(field.session_key(self.page), None)
        else:
            self.explicit[field.session_key(self.page)] = value

    def try_put(self, field: Field, value: FieldValue) -> None:
        """Set a value unless the field or the page refuses it; a refusal becomes a note and changes nothing."""
        before = dict(self.explicit)
        try:
            self.put(field, checked_value(field, value))
            self.require_consistent()
        except ValueError as error:
            self.restore(before)
            note = (
                ("frame.refused", refusal_slots(error))
                if isinstance(error, RefusedValue)
                else ("frame.impossible", {"error": error})
            )
            self.notes.append(note)

    def restore(self, values: Mapping[str, FieldValue]) -> None:
        """Put back an earlier state of all values."""
        self.explicit.clear()
        self.explicit.update(values)

    def reset(self) -> None:
        """Forget this page's values and the shared ones; what a page keeps elsewhere it drops by `RESET`."""
        self.session[RESET] = self.page
        for field in self.fields.values():
            self.explicit.pop(field.session_key(self.page), None)

    def replace_all(self, state: Mapping[str, FieldValue]) -> None:
        """Make ``state``, checked values by name, the whole state: what it leaves out returns to its default."""
        self.reset()
        self._put_all(state)

    def _put_all(self, values: Mapping[str, FieldValue]) -> None:
        # The model first: choosing one sets the others.
        for name in sorted(values, key=lambda name: (name != MODEL.name, name)):
            self.put(self.fields[name], values[name])

    def read_query(self, query: Mapping[str, str]) -> None:
        """Take values from a link; what was corrected or refused becomes a note."""
        before = dict(self.explicit)
        values, corrected = values_from_query(self.fields, query)
        self._put_all(values)
        for refused, used in corrected:
            key = "frame.ignored" if used is None else "frame.corrected"
            self.notes.append((key, refusal_slots(refused) | {"used": used}))
        unknown = [name for name in query if name not in self.fields and name not in RESERVED]
        self.notes.extend(("frame.unknown_parameter", {"given": name[:40]}) for name in unknown[:3])
        try:
            self.require_consistent()
        except ValueError as error:
            self.restore(before)
            self.notes.append(("frame.impossible", {"error": error}))

    def as_url_parameters(self) -> dict[str, str]:
        """Return the explicit values as URL parameters."""
        explicit = {name: field.session_key(self.page) for name, field in self.fields.items()}
        values = {name: self.explicit[slot] for name, slot in explicit.items() if slot in self.explicit}
        return {name: "auto" if value is None else url_value_text(value) for name, value in values.items()}


# Parameters of the frame and of Streamlit itself, which are no page's fields.
RESERVED = ("lang", "embed", "embed_options", "display", "hide", "room", "lead", "talk", "step", "open")


def refusal_slots(refused: RefusedValue) -> dict[str, Any]:
    """Return the parts of a refusal that its sentence needs; the frame looks up the words."""
    field = refused.field
    return {"field": field.name, "rule": refused.rule, "given": refused.given, "low": field.low, "high": field.high}
