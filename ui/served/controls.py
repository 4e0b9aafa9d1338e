"""Widgets generated from fields: what a visitor turns goes through ``Store.try_put`` and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from ui.page import controls
from ui.page.controls import LabelFunction, hideable_control
from ui.page.state import Field, FieldValue
from ui.text.words import number_text


class ServedControls(controls.PageControls):
    """The widgets of one page: see ui.page.controls.PageControls."""

    def _seed(self, field: Field, value: FieldValue, suffix: str = "") -> str:
        """Make the widget hold the store's value; returns the widget's key."""
        key = f"w.{self.store.page}.{field.name}{suffix}"
        if st.session_state.get(key, ...) != value:
            st.session_state[key] = value
        return key

    def _commit(self, field: Field, key: str, after: Callable[[], None] | None = None) -> None:
        self.store.try_put(field, st.session_state[key])
        if after:
            after()

    def _bound(self, field: Field, value: FieldValue, after: Callable[[], None] | None = None) -> dict[str, Any]:
        """Return what ties a widget to its field."""
        key = self._seed(field, value)
        return {"label": self.label(field), "key": key, "on_change": self._commit, "args": (field, key, after)}

    def draw_slider(self, field: Field, value: FieldValue, stops: list[FieldValue]) -> None:
        bound = self._bound(field, value)
        if stops:
            st.select_slider(options=stops, format_func=number_text, **bound)
        elif field.kind == "int":
            st.slider(min_value=int(field.low), max_value=int(field.high), step=field.step or 1, **bound)
        else:
            st.slider(min_value=float(field.low), max_value=float(field.high), step=field.step, **bound)

    @hideable_control
    def number(self, field: Field) -> None:
        value = self.store.get(field)
        key = self._seed(field, value, ".exact")
        # A popover builds its boxes when it opens, from the last run alone, and loses what an earlier run set.
        st.session_state[key] = value
        whole = field.kind == "int"
        look: dict[str, Any] = {"step": int(field.step or 1)} if whole else {"format": "%.10g"}
        st.number_input(self.label(field), value=None, key=key, on_change=self._commit, args=(field, key), **look)

    @hideable_control
    def select(
        self, field: Field, names: LabelFunction | None = None, after: Callable[[], None] | None = None, **looks: Any
    ) -> None:
        bound = self._bound(field, self.store.get(field), after)
        st.selectbox(options=field.choices, format_func=self.choice_labels(field, names), **bound, **looks)

    @hideable_control
    def segments(self, field: Field, names: LabelFunction | None = None) -> None:
        bound = self._bound(field, self.store.get(field))
        st.segmented_control(
            options=field.choices, required=True, format_func=self.choice_labels(field, names), **bound
        )

    @hideable_control
    def text(self, field: Field) -> None:
        st.text_input(max_chars=200, **self._bound(field, self.store.get(field)))

    @hideable_control
    def toggle(self, field: Field) -> None:
        st.toggle(**self._bound(field, self.store.get(field)))

    def draw_several(self, field: Field, choices: Sequence[str], names: LabelFunction, chosen: list[str]) -> None:
        key = self._seed(field, chosen)
        st.pills(
            self.label(field),
            choices,
            selection_mode="multi",
            format_func=names,
            key=key,
            on_change=lambda: self.store.put(field, ",".join(st.session_state[key])),
        )

    def beside(self, *fields: Field, draw: Callable[[Field], FieldValue] | None = None) -> None:
        for column, field in zip(st.columns(len(fields)), fields, strict=True):
            with column:
                (draw or self.slider)(field)
