"""Text, places and buttons of a page as nodes; nothing here knows which page it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

from ui.book.markdown import markdown_to_html
from ui.book.places import NodeTree
from ui.figures.tally import LETTERS
from ui.page.controls import ContainerContext
from ui.page.frame import (
    ButtonLook,
    ClickHandler,
    ColumnFormats,
    NoteKind,
    PageFrame,
    RowClickHandler,
    TableColumns,
    UploadedFile,
)

OPEN = "book.open"
"""The session's set of places behind a button that are open."""
SIGNS = {"check": "✓ ", "lightbulb": "✗ "}
ROLES = {"error": "alert", "warning": "alert", "success": "status", "info": "note"}


class RedrawRequest(BaseException):
    """The page asks to be drawn again; no error, so that no part takes it for one."""


@dataclass
class ChosenFile:
    """A file that the reader has chosen."""

    name: str
    size: int
    content: bytes

    def getvalue(self) -> bytes:
        return self.content


@dataclass(frozen=True)
class DownloadFile:
    """A file for the reader's disk."""

    name: str
    mime: str
    content: bytes


class BookContent(PageFrame):
    """What is the same on every page; each method is described in ui.page.frame.PageFrame."""

    places: NodeTree
    pressed: str = ""

    def redraw(self) -> None:
        raise RedrawRequest

    def write(self, markdown: str) -> None:
        self.places.add_node("write", markdown_to_html(markdown))

    def caption(self, markdown: str) -> None:
        self.places.add_node("caption", markdown_to_html(markdown))

    def note(self, markdown: str, kind: NoteKind = "info") -> None:
        self.places.add_node(f"note {kind}", markdown_to_html(markdown), key="note", attributes={"role": ROLES[kind]})

    def badge(self, text: str, icon: str, colour: str) -> None:
        self.places.add_node(f"badge {colour}", markdown_to_html(text, is_one_line=True), key="badge", tag="span")

    def code(self, text: str, language: str | None = None, height: int | None = None) -> None:
        look = "code wrapped" if language in (None, "bash") else "code"
        style = {"style": f"max-height: {height}px"} if height else {}
        inside = f"<code>{escape(text)}</code>"
        self.places.add_node(look, inside, key="code", tag="pre", attributes={"tabindex": "0", **style})

    def progress(self, share: float, text: str) -> None:
        self.places.add_node("progress", f'<label>{escape(text)} <progress value="{share:.3f}"></progress></label>')

    def table(
        self,
        columns: TableColumns,
        key: str = "",
        *,
        looks: ColumnFormats = None,
        height: int | None = None,
        pick: RowClickHandler = None,
    ) -> int:
        looks = looks or {}
        heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in columns)
        chosen: int = self.session.get(f"book.{key}", 0) if key else 0
        rows = []
        for number, row in enumerate(zip(*columns.values(), strict=True)):
            cells = [_cell(value, looks.get(head)) for head, value in zip(columns, row, strict=True)]
            if key:
                on = str(number == chosen and not pick).lower()
                cells[0] = f'<button data-act="{{act}}" value="{number}" aria-pressed="{on}">{cells[0]}</button>'
            rows.append(f"<tr>{''.join(f'<td>{each}</td>' for each in cells)}</tr>")
        style = f"max-height: {height}px" if height else ""
        attributes = {"tabindex": "0", "role": "region", "aria-label": next(iter(columns), ""), "style": style}
        node = self.places.add_node("table", key=key or "table", attributes=attributes)
        body = "".join(rows).replace("{act}", escape(node.id))
        node.html = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"

        def act(given: Any) -> None:
            if pick:
                pick(int(given))
            else:
                self.session[f"book.{key}"] = int(given)

        if key:
            self.places.register_handler(node.id, act)
        return min(chosen, max(len(rows) - 1, 0))

    def columns(self, *widths: float, level: bool = False) -> Sequence[ContainerContext]:
        look = "columns level" if level else "columns"
        shares = " ".join(f"minmax(0, {width:g}fr)" for width in widths)
        row = self.places.add_node(look, key="columns", attributes={"style": f"--widths: {shares}"})
        with self.places.inside(row):
            return [self._place("column") for _ in widths]

    def row(self) -> ContainerContext:
        return self._place("row")

    def card(self, *, stretch: bool = False, key: str | None = None) -> ContainerContext:
        return self.places.inside(self.places.add_node("card stretch" if stretch else "card", key=key or "card"))

    def tabs(self, titles: Sequence[str]) -> Sequence[ContainerContext]:
        group = self.places.unique_node_id("tabs")
        looks = ({"name": group, **({} if k else {"open": ""})} for k in range(len(titles)))
        return [
            self.places.folded_node("tab", markdown_to_html(title, is_one_line=True), attributes=look)
            for title, look in zip(titles, looks, strict=True)
        ]

    def fold(self, title: str, *, opened: bool = False) -> ContainerContext:
        return self.places.folded_node(
            "fold", markdown_to_html(title, is_one_line=True), attributes={"open": ""} if opened else {}
        )

    @contextmanager
    def details(self, label: str, key: str, *, lazy: bool = True, quiet: bool = False) -> Iterator[bool]:
        opened: set[str] = self.session.setdefault(OPEN, set())
        with self.places.folded_node(
            "popover quiet" if quiet else "popover", markdown_to_html(label, is_one_line=True), key=key
        ) as node:
            if lazy:
                node.attributes = {"data-act": node.id}
                self.places.register_handler(node.id, lambda on: opened.add(node.id) if on else opened.discard(node.id))
            yield not lazy or node.id in opened

    def button(
        self,
        label: str,
        key: str,
        act: ClickHandler = None,
        *given: Any,
        look: ButtonLook = "",
        icon: str = "",
        disabled: bool = False,
    ) -> bool:
        def press(_: Any) -> None:
            self.pressed = node.id
            if act:
                act(*given)

        inside = f'<button type="button" data-act="{{act}}"{" disabled" if disabled else ""}>{escape(label)}</button>'
        node = self.places.add_control_node(f"button {look}".strip(), key, inside, press)
        return self.pressed == node.id

    def icon_markdown(self, name: str) -> str:
        return SIGNS.get(name, "")

    def choice_buttons(self, key: str, texts: Sequence[str], chosen: int | None, take: Callable[[int], None]) -> None:
        inside = "".join(
            f'<button data-act="{{act}}" value="{at}" aria-pressed="{str(at == chosen).lower()}">'
            f"<b>{letter}</b>{f' {markdown_to_html(text, is_one_line=True)}' if text != letter else ''}</button>"
            for at, (letter, text) in enumerate(zip(LETTERS, texts, strict=False))
        )
        self.places.add_control_node("choices", key, inside, lambda at: take(min(max(int(at), 0), len(texts) - 1)))

    def download(self, label: str, data: str | Callable[[], str], file: str, mime: str, key: str) -> None:

        def save(_: Any) -> DownloadFile:
            return DownloadFile(file, mime, (data() if callable(data) else data).encode())

        self.places.add_control_node(
            "button", key, f'<button type="button" data-act="{{act}}">{escape(label)}</button>', save
        )

    def text_area(self, label: str, key: str) -> str:
        text, box = str(self.session.get(key, "")), '<textarea rows="5" data-act="{act}"></textarea>'
        inside = f"<label><span>{escape(label)}</span>{box}</label>"
        self.places.add_control_node(
            "control", key, inside, lambda given: self.session.update({key: str(given)}), live=text
        )
        return text

    def upload(
        self, label: str, key: str, max_mib: int, take: Callable[[UploadedFile], None] | None = None
    ) -> UploadedFile | None:

        def taken(given: Any) -> None:
            name, content = given
            file = ChosenFile(str(name)[:200], len(content), bytes(content))
            self.session[f"book.{key}"] = file
            if take:
                take(file)

        box = f'<input type="file" data-act="{{act}}" data-most="{max_mib << 20}">'
        self.places.add_control_node("control", key, f"<label><span>{escape(label)}</span>{box}</label>", taken)
        file: UploadedFile | None = self.session.get(f"book.{key}")
        return file

    def form(
        self, label: str, button: str, key: str, take: Callable[[str], None], *, lines: int = 1, hint: str = ""
    ) -> None:
        node = self.places.add_node("form", key=key, tag="form")
        node.attributes = {"data-act": node.id}
        hinted = f'placeholder="{escape(hint)}"'
        box = (
            f'<textarea name="text" rows="{lines + 1}" {hinted}></textarea>'
            if lines > 1
            else f'<input type="text" name="text" maxlength="200" {hinted}>'
        )
        node.html = f"<label><span>{escape(label)}</span>{box}</label><button>{escape(button)}</button>"
        self.places.register_handler(node.id, lambda text: take(str(text)))

    def _place(self, kind: str) -> ContainerContext:
        return self.places.inside(self.places.add_node(kind, key=kind.split()[0]))


def _cell(value: object, look: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if look == "link":
        return f'<a href="{escape(str(value))}">{escape(str(value))}</a>'
    return escape(f"{value:,}" if look == "number" and isinstance(value, int | float) else str(value))
