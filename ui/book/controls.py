"""Controls of a page as HTML's own inputs: what a reader moves goes through ``Store.try_put`` and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import rope_core as rc
from ui.book.places import Places
from ui.figures import catalogue as models
from ui.page import fields
from ui.page.fields import BASE, CUSTOM, DIM, LAYER, MODEL, TRAIN_LEN
from ui.page.frame import Names
from ui.page.state import Field, Value
from ui.page.store import Store
from ui.text.words import Words, short


class Controls:
    """The controls of one page: see ui.page.frame.Controls. ``hidden``: names of fields without one."""

    def __init__(self, store: Store, t: Words, places: Places, hidden: frozenset[str] = frozenset()) -> None:
        self.store, self.t, self.places, self.hidden = store, t, places, hidden
        self.folded = False

    def hides(self, field: Field) -> bool:
        return self.folded or field.name in self.hidden

    def label(self, field: Field) -> str:
        """Return the field's name in the page's language."""
        return escape(self.t(f"field.{field.name}"))

    def _labelled(self, field: Field, box: str) -> str:
        return f"<label><span>{self.label(field)}</span>{box}</label>"

    def _group(self, field: Field, kind: str, choices: Iterable[tuple[str, str]]) -> str:
        """Return buttons of which one or several are on."""
        look = f'type="{kind}" name="{{act}}" data-act="{{act}}"'
        buttons = [
            f'<label><input {look} value="{escape(choice)}"><span>{name}</span></label>' for choice, name in choices
        ]
        return f"<fieldset><legend>{self.label(field)}</legend>{''.join(buttons)}</fieldset>"

    def _put(
        self,
        field: Field,
        html: str,
        live: Any,
        read: Callable[[Any], Value],
        *,
        kind: str = "",
        after: Callable[[], None] | None = None,
    ) -> None:
        """Draw a control, which has ``{act}`` where its input names what it moves."""
        node = self.places.add(f"control {kind}".strip(), key=f"w.{field.name}", live=live)
        node.html = html.replace("{act}", escape(node.id))

        def act(given: Any) -> None:
            self.store.try_put(field, read(given))
            if after:
                after()

        self.places.act(node.id, act)

    def slider(self, field: Field) -> Value:
        value = min(self.store.get(field), field.high)
        if self.hides(field) or field.low == field.high:
            return value
        if field.steps:
            stops: list[Value] = sorted({*field.steps, value})
            texts = escape(json.dumps([short(stop) for stop in stops], ensure_ascii=False))
            look, read = f'min="0" max="{len(stops) - 1}" data-texts="{texts}"', lambda given: stops[int(given)]
            live: Value = stops.index(value)
        else:
            step = field.step or (1 if field.kind == "int" else "any")
            look, live = f'min="{field.low:g}" max="{field.high:g}" step="{step}"', value
            if field.kind == "int":
                look = f'min="{int(field.low)}" max="{int(field.high)}" step="{step}"'
            read = _number
        html = self._labelled(field, f'<input type="range" data-act="{{act}}" {look}><output></output>')
        self._put(field, html, live, read, kind="slider")
        return value

    def number(self, field: Field) -> Value:
        if not self.hides(field):
            step = (field.step or 1) if field.kind == "int" else "any"
            hint = f' placeholder="{escape(self.t("frame.auto"))}"' if field.optional else ""
            html = self._labelled(field, f'<input type="number" step="{step}" data-act="{{act}}"{hint}>')
            self._put(field, html, self.store.get(field), _number)
        return self.store.get(field)

    def text(self, field: Field) -> Value:
        if not self.hides(field):
            html = (
                f'<label><span>{self.label(field)}</span><input type="text" maxlength="200" data-act="{{act}}"></label>'
            )
            self._put(field, html, self.store.get(field), str)
        return self.store.get(field)

    def toggle(self, field: Field) -> Value:
        if not self.hides(field):
            box = '<input type="checkbox" role="switch" data-act="{act}">'
            html = f"<label>{box}<span>{self.label(field)}</span></label>"
            self._put(field, html, self.store.get(field), bool)
        return self.store.get(field)

    def select(self, field: Field, names: Names | None = None, after: Callable[[], None] | None = None) -> Value:
        if not self.hides(field):
            options = "".join(
                f'<option value="{escape(each)}">{name}</option>' for each, name in self._named(field, names)
            )
            html = f'<label><span>{self.label(field)}</span><select data-act="{{act}}">{options}</select></label>'
            self._put(field, html, self.store.get(field), str, after=after)
        return self.store.get(field)

    def segments(self, field: Field, names: Names | None = None) -> Value:
        if not self.hides(field):
            html = self._group(field, "radio", self._named(field, names))
            self._put(field, html, self.store.get(field), str, kind="segments")
        return self.store.get(field)

    def several(self, field: Field, choices: Sequence[str], names: Names) -> list[str]:
        chosen = [choice for choice in self.store.get(field).split(",") if choice in choices]
        if not self.hides(field):
            html = self._group(field, "checkbox", [(each, escape(names(each))) for each in choices])
            self._put(field, html, chosen, ",".join, kind="segments")
        return chosen

    def beside(self, *fields: Field, draw: Callable[[Field], Value] | None = None) -> None:
        with self.places.inside(self.places.add("beside")):
            for field in fields:
                (draw or self.slider)(field)

    def param(self, param: rc.Param) -> None:
        field = fields.PARAMS.get(param.name)
        if field is None:
            return
        draw = self.toggle if field.kind == "bool" else self.number if field.optional else self.slider
        draw(field)

    def model_name(self, choice: str) -> str:
        return self.t("frame.custom") if choice == CUSTOM else models.name(choice)

    def geometry(self) -> None:
        """Draw the model menu and, behind a line that says the values in force, the exact numbers."""
        self.select(MODEL, self.model_name)
        model = self.store.get(MODEL)
        kinds = () if model == CUSTOM else models.layer_types(model)
        if all(map(self.hides, (DIM, BASE, TRAIN_LEN, *((LAYER,) if kinds else ())))):
            return
        rope = self.store.rope()
        summary = self.t("frame.geometry", dim=rope.dim, base=short(rope.base), train_len=short(rope.train_len))
        with self.places.inside(self.places.add("popover", tag="details", key="geometry")):
            self.places.add("line", escape(summary), tag="summary")
            with self.places.inside(self.places.add("inside")):
                if kinds:
                    self.select(Field(LAYER.name, "choice", kinds[0], choices=kinds, shared=True), str)
                for field in (DIM, BASE, TRAIN_LEN):
                    self.number(field)

    def _named(self, field: Field, names: Names | None) -> list[tuple[str, str]]:
        name = names or (lambda choice: self.t(f"{field.name}.{choice}"))
        return [(choice, escape(name(choice))) for choice in field.choices]


def _number(given: Any) -> Value:
    """Return a number from an input, None where it is empty."""
    return None if given in (None, "") else float(given)
