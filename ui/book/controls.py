"""Controls of a page as HTML's own inputs: what a reader moves goes through ``PageValues.try_put`` and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

from ui.book.places import NodeTree
from ui.page import controls
from ui.page.controls import LabelFunction, hideable_control
from ui.page.state import Field, FieldValue
from ui.page.store import PageValues
from ui.text.words import PageTexts, number_text


class BookControls(controls.PageControls):
    """The controls of one page: see ui.page.controls.PageControls."""

    def __init__(self, store: PageValues, t: PageTexts, places: NodeTree, hidden: frozenset[str] = frozenset()) -> None:
        super().__init__(store, t, hidden)
        self.places = places

    def _labelled(self, field: Field, box: str) -> str:
        return f"<label><span>{escape(self.label(field))}</span>{box}</label>"

    def _group(self, field: Field, kind: str, choices: Iterable[str], names: LabelFunction) -> str:
        """Return buttons of which one or several are on."""
        look = f'type="{kind}" name="{{act}}" data-act="{{act}}"'
        buttons = [
            f'<label><input {look} value="{escape(choice)}"><span>{escape(names(choice))}</span></label>'
            for choice in choices
        ]
        return f"<fieldset><legend>{escape(self.label(field))}</legend>{''.join(buttons)}</fieldset>"

    def _put(
        self,
        field: Field,
        html: str,
        live: Any,
        read: Callable[[Any], FieldValue],
        *,
        kind: str = "",
        after: Callable[[], None] | None = None,
    ) -> None:
        """Draw a control, which has ``{act}`` where its input names what it moves."""

        def act(given: Any) -> None:
            self.store.try_put(field, read(given))
            if after:
                after()

        self.places.add_control_node(f"control {kind}".strip(), f"w.{field.name}", html, act, live=live)

    def draw_slider(self, field: Field, value: FieldValue, stops: list[FieldValue]) -> None:
        if stops:
            texts = escape(json.dumps([number_text(stop) for stop in stops], ensure_ascii=False))
            look, read = f'min="0" max="{len(stops) - 1}" data-texts="{texts}"', lambda given: stops[int(given)]
            live: FieldValue = stops.index(value)
        else:
            whole = field.kind == "int"
            low, high = (str(int(end)) if whole else f"{end:g}" for end in (field.low, field.high))
            look = f'min="{low}" max="{high}" step="{field.step or (1 if whole else "any")}"'
            live, read = value, _number
        html = self._labelled(field, f'<input type="range" data-act="{{act}}" {look}><output></output>')
        self._put(field, html, live, read, kind="slider")

    @hideable_control
    def number(self, field: Field) -> None:
        step = (field.step or 1) if field.kind == "int" else "any"
        hint = f' placeholder="{escape(self.t("frame.auto"))}"' if field.optional else ""
        html = self._labelled(field, f'<input type="number" step="{step}" data-act="{{act}}"{hint}>')
        self._put(field, html, self.store.get(field), _number)

    @hideable_control
    def text(self, field: Field) -> None:
        html = self._labelled(field, '<input type="text" maxlength="200" data-act="{act}">')
        self._put(field, html, self.store.get(field), str)

    @hideable_control
    def toggle(self, field: Field) -> None:
        box = '<input type="checkbox" role="switch" data-act="{act}">'
        html = f"<label>{box}<span>{escape(self.label(field))}</span></label>"
        self._put(field, html, self.store.get(field), bool)

    @hideable_control
    def select(self, field: Field, names: LabelFunction | None = None, after: Callable[[], None] | None = None) -> None:
        name = self.choice_labels(field, names)
        options = "".join(f'<option value="{escape(each)}">{escape(name(each))}</option>' for each in field.choices)
        html = self._labelled(field, f'<select data-act="{{act}}">{options}</select>')
        self._put(field, html, self.store.get(field), str, after=after)

    @hideable_control
    def segments(self, field: Field, names: LabelFunction | None = None) -> None:
        html = self._group(field, "radio", field.choices, self.choice_labels(field, names))
        self._put(field, html, self.store.get(field), str, kind="segments")

    def draw_several(self, field: Field, choices: Sequence[str], names: LabelFunction, chosen: list[str]) -> None:
        self._put(field, self._group(field, "checkbox", choices, names), chosen, ",".join, kind="segments")

    def beside(self, *fields: Field, draw: Callable[[Field], FieldValue] | None = None) -> None:
        with self.places.inside(self.places.add_node("beside")):
            for field in fields:
                (draw or self.slider)(field)


def _number(given: Any) -> FieldValue:
    """Return a number from an input, None where it is empty."""
    return None if given in (None, "") else float(given)
