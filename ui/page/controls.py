"""What sets the values of a page's fields: the same controls on every frame, drawn in its way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any, Protocol

import rope_core as rc
from ui.figures import catalogue as models
from ui.figures.drawing import Film
from ui.page import fields
from ui.page.fields import BASE, CUSTOM, DIM, LAYER, MODEL, TRAIN_LEN
from ui.page.state import Field, FieldValue
from ui.page.store import PageValues
from ui.text.words import PageTexts

ContainerContext = AbstractContextManager[object]
LabelFunction = Callable[[str], str]


def hideable_control(draw: Callable[..., None]) -> Callable[..., FieldValue]:
    """Have a field's control drawn at the place for controls unless it is hidden, and the value in force returned."""

    @wraps(draw)
    def method(self: PageControls, field: Field, *args: Any, **looks: Any) -> FieldValue:
        if not self.is_hidden(field):
            with self.place:
                draw(self, field, *args, **looks)
        return self.store.get(field)

    return method


class PageControls(Protocol):
    """The controls of one page. Each returns the value in force; a hidden one is not drawn.

    ``hidden``: names of fields without a control; ``folded``: no control at all; ``place``: where controls are drawn.
    """

    store: PageValues
    t: PageTexts
    hidden: frozenset[str]
    folded: bool
    place: ContainerContext

    def __init__(self, store: PageValues, t: PageTexts, hidden: frozenset[str] = frozenset()) -> None:
        self.store, self.t, self.hidden = store, t, hidden
        self.folded, self.place = False, nullcontext()

    def number(self, field: Field) -> FieldValue:
        """Draw a box for an exact number."""

    def text(self, field: Field) -> FieldValue:
        """Draw a box for a line of text."""

    def toggle(self, field: Field) -> FieldValue:
        """Draw a switch."""

    def select(
        self, field: Field, names: LabelFunction | None = None, after: Callable[[], None] | None = None
    ) -> FieldValue:
        """Draw a menu over the field's choices; call ``after`` when the visitor has chosen."""

    def segments(self, field: Field, names: LabelFunction | None = None) -> FieldValue:
        """Draw a row of buttons over the field's choices; one is always on."""

    def beside(self, *fields: Field, draw: Callable[[Field], FieldValue] | None = None) -> None:
        """Draw the controls of fields beside each other, sliders unless ``draw`` draws others."""

    def draw_slider(self, field: Field, value: FieldValue, stops: list[FieldValue]) -> None:
        """Draw a slider at a value, over ``stops`` where there are some."""

    def draw_several(self, field: Field, choices: Sequence[str], names: LabelFunction, chosen: list[str]) -> None:
        """Draw a button for each choice, those that are chosen on."""

    # ---- the same on all frames ------------------------------------------------------------------------------------

    def is_hidden(self, field: Field) -> bool:
        """Return whether a field's control is not drawn."""
        return self.folded or field.name in self.hidden

    def label(self, field: Field) -> str:
        """Return the field's name in the page's language."""
        return self.t(f"field.{field.name}")

    def choice_labels(self, field: Field, names: LabelFunction | None) -> LabelFunction:
        """Return what names the field's choices."""
        return names or (lambda choice: self.t(f"{field.name}.{choice}"))

    def slider(self, field: Field) -> FieldValue:
        """Draw a slider, over the field's own stops where it has some."""
        value = min(self.store.get(field), field.high)
        if field.low < field.high and not self.is_hidden(field):
            with self.place:
                self.draw_slider(field, value, sorted({*field.steps, value}) if field.steps else [])
        return value

    def several(self, field: Field, choices: Sequence[str], names: LabelFunction) -> list[str]:
        """Draw a button for each choice, any number of them on; the field holds them with commas between."""
        chosen = [choice for choice in self.store.get(field).split(",") if choice in choices]
        if not self.is_hidden(field):
            with self.place:
                self.draw_several(field, choices, names, chosen)
        return chosen

    def draw_parameter_control(self, param: rc.Param) -> None:
        """Draw the control of a scheme's parameter."""
        if field := fields.PARAMS.get(param.name):
            draw = self.toggle if field.kind == "bool" else self.number if field.optional else self.slider
            draw(field)

    def model_name(self, choice: str) -> str:
        """Return how the model menu names a choice."""
        return self.t("frame.custom") if choice == CUSTOM else models.model_name(choice)

    def draw_model_and_geometry_controls(self) -> None:
        """Draw the model menu and the exact numbers."""
        self.select(MODEL, self.model_name)
        model = self.store.get(MODEL)
        kinds = () if model == CUSTOM else models.rotating_layer_types(model)
        if kinds:
            self.select(Field(LAYER.name, "choice", kinds[0], choices=kinds, shared=True), str)
        if numbers := [field for field in (DIM, BASE, TRAIN_LEN) if not self.is_hidden(field)]:
            self.beside(*numbers, draw=self.number)


class FilmHand:
    """What a film's controls hold on a page, and what happens when a hand lets go of them.

    Attributes:
        values: of the film's controls and of its sketch, by name.
        finding: the sentence below its picture; ``gap``: how far a curve drawn by hand is from the true one.
    """

    def __init__(self, film: Film, controls: PageControls) -> None:
        self._store, self._controls, self._sketch = controls.store, controls, film.scene.sketch
        self._fields = [self._store.fields[control.name] for control in film.scene.all_controls]
        self.values: dict[str, Any] = dict(
            film.scene.control_values(lambda name: self._store.get(self._store.fields[name]))
        )
        self.gap: str | None = None
        if self._sketch:
            self._fields.append(field := self._store.fields[self._sketch.name])
            heights = self._sketch.drawn_heights(self._store.get(field))
            self.values[field.name] = "" if heights is None else self._store.get(field)
            self.gap = film.gap(heights) if film.gap and heights is not None else None
        self.finding = self.gap or film.scene.finding_at(self.values)

    def store_control_values(self, at: Mapping[str, Any]) -> None:
        """Put what was moved or drawn into the store; a value that is refused goes back in the picture."""
        for field in self._fields:
            given = at.get(field.name, self.values[field.name])
            if self._sketch and field.name == self._sketch.name and self._sketch.drawn_heights(given) is None:
                given = ""
            if field.name not in self._controls.hidden and given != self.values[field.name]:
                self._store.try_put(field, given)

    def player_settings(self, name: str, count: int, play: Mapping[str, Any] | None, *, lesson: bool) -> dict[str, Any]:
        """Return what the player of the film ``name`` takes, in its words.

        ``count``: how often its controls moved. ``play``: a control that it is to drag by itself, to a value, in
        seconds; once for each step of a ``lesson``, whose sentence is shown in place of the beats' own.
        """
        hidden = [field.name for field in self._fields if field.name in self._controls.hidden]
        return {
            "film": name,
            "at": self.values,
            "count": count,
            "fixed": hidden,
            "bare": self._controls.folded,
            "told": lesson,
            "play": play,
            "said": self.gap,
        }
