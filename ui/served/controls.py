"""Widgets generated from fields: what a visitor turns goes through ``Store.try_put`` and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any

import streamlit as st

import rope_core as rc
from ui.figures import catalogue as models
from ui.page import fields
from ui.page.fields import BASE, CUSTOM, DIM, LAYER, MODEL, SCHEME, TRAIN_LEN
from ui.page.frame import Names
from ui.page.state import Field, Value
from ui.page.store import Store
from ui.text.words import Words, short


def hideable(draw: Callable[..., Value]) -> Callable[..., Value]:
    """Draw a field's widget at the place for controls; where it is hidden, answer the value in force without it."""

    @wraps(draw)
    def method(self: Controls, field: Field, *args: Any, **looks: Any) -> Value:
        if self.hides(field):
            return self.store.get(field)
        with self.place:
            return draw(self, field, *args, **looks)

    return method


class Controls:
    """The widgets of one page. Each returns the value in force after the visitor's last move.

    ``hidden``: names of fields without a widget; ``folded``: no widget at all; ``place``: where widgets are drawn.
    """

    def __init__(self, store: Store, t: Words, hidden: frozenset[str] = frozenset()) -> None:
        self.store, self.t, self.hidden = store, t, hidden
        self.folded = False
        self.place: AbstractContextManager[object] = nullcontext()

    def hides(self, field: Field) -> bool:
        return self.folded or field.name in self.hidden

    def label(self, field: Field) -> str:
        """Return the field's name in the page's language."""
        return self.t(f"field.{field.name}")

    def _seed(self, field: Field, value: Value, suffix: str = "") -> str:
        """Make the widget hold the store's value; returns the widget's key."""
        key = f"w.{self.store.page}.{field.name}{suffix}"
        if st.session_state.get(key, ...) != value:
            st.session_state[key] = value
        return key

    def _commit(self, field: Field, key: str, after: Callable[[], None] | None = None) -> None:
        self.store.try_put(field, st.session_state[key])
        if after:
            after()

    @hideable
    def slider(self, field: Field, **looks: Any) -> Value:
        value = min(self.store.get(field), field.high)
        if field.low == field.high:
            return value
        if field.steps:
            stops = sorted({*field.steps, value})
            key = self._seed(field, value)
            st.select_slider(
                self.label(field), stops, key=key, format_func=short, on_change=self._commit, args=(field, key), **looks
            )
        else:
            key = self._seed(field, value)
            st.slider(
                self.label(field),
                *(int(field.low), int(field.high)) if field.kind == "int" else (float(field.low), float(field.high)),
                step=field.step or (1 if field.kind == "int" else None),
                key=key,
                on_change=self._commit,
                args=(field, key),
                **looks,
            )
        return self.store.get(field)

    @hideable
    def number(self, field: Field) -> Value:
        value = self.store.get(field)
        key = self._seed(field, value, ".exact")
        # A popover builds its boxes when it opens, from the last run alone, and loses what an earlier run set.
        st.session_state[key] = value
        whole = field.kind == "int"
        st.number_input(
            self.label(field),
            value=None,
            step=(int(field.step or 1) if whole else None),
            format=None if whole else "%.10g",
            key=key,
            on_change=self._commit,
            args=(field, key),
        )
        return self.store.get(field)

    @hideable
    def select(
        self, field: Field, names: Names | None = None, after: Callable[[], None] | None = None, **looks: Any
    ) -> Value:
        key = self._seed(field, self.store.get(field))
        st.selectbox(
            self.label(field),
            field.choices,
            key=key,
            format_func=names or (lambda choice: self.t(f"{field.name}.{choice}")),
            on_change=self._commit,
            args=(field, key, after),
            **looks,
        )
        return self.store.get(field)

    @hideable
    def segments(self, field: Field, names: Names | None = None) -> Value:
        key = self._seed(field, self.store.get(field))
        st.segmented_control(
            self.label(field),
            field.choices,
            key=key,
            required=True,
            format_func=names or (lambda choice: self.t(f"{field.name}.{choice}")),
            on_change=self._commit,
            args=(field, key),
        )
        return self.store.get(field)

    @hideable
    def text(self, field: Field) -> Value:
        key = self._seed(field, self.store.get(field))
        st.text_input(self.label(field), max_chars=200, key=key, on_change=self._commit, args=(field, key))
        return self.store.get(field)

    @hideable
    def toggle(self, field: Field) -> Value:
        key = self._seed(field, self.store.get(field))
        st.toggle(self.label(field), key=key, on_change=self._commit, args=(field, key))
        return self.store.get(field)

    def several(self, field: Field, choices: Sequence[str], names: Names) -> list[str]:
        chosen = [choice for choice in self.store.get(field).split(",") if choice in choices]
        if self.hides(field):
            return chosen
        key = self._seed(field, chosen)
        with self.place:
            st.pills(
                self.label(field),
                choices,
                selection_mode="multi",
                format_func=names,
                key=key,
                on_change=lambda: self.store.put(field, ",".join(st.session_state[key])),
            )
        return chosen

    def beside(self, *fields: Field, draw: Callable[[Field], Value] | None = None) -> None:
        for column, field in zip(st.columns(len(fields)), fields, strict=True):
            with column:
                (draw or self.slider)(field)

    def param(self, param: rc.Param) -> None:
        field = fields.PARAMS.get(param.name)
        if field is None:
            return
        if field.kind == "bool":
            self.toggle(field)
        elif field.optional:
            self.number(field)
        else:
            self.slider(field)

    def model_name(self, choice: str) -> str:
        return self.t("frame.custom") if choice == CUSTOM else models.name(choice)

    def model(self) -> None:
        """Draw the model menu; picking one sets the geometry and the scheme to that model's."""
        self.select(MODEL, self.model_name, width=230, label_visibility="collapsed")

    def geometry(self) -> None:
        """Draw the model menu and, behind one button that says the values in force, the exact numbers."""
        self.model()
        model = self.store.get(MODEL)
        kinds = () if model == CUSTOM else models.layer_types(model)
        if all(map(self.hides, (DIM, BASE, TRAIN_LEN, *((LAYER,) if kinds else ())))):
            return
        rope = self.store.rope()
        summary = self.t("frame.geometry", dim=rope.dim, base=short(rope.base), train_len=short(rope.train_len))
        with self.place, st.popover(summary, key="geometry"):
            outside, self.place = self.place, nullcontext()
            if kinds:
                layer = Field(LAYER.name, "choice", kinds[0], choices=kinds, shared=True)
                self.select(layer, str)
            for field in (DIM, BASE, TRAIN_LEN):
                self.number(field)
            self.place = outside

    def scheme(self) -> None:
        """Draw the scheme menu and its declared parameters."""
        name = self.select(SCHEME)
        for param in rc.SCHEMES[name].params:
            self.param(param)
