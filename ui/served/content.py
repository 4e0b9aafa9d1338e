"""Text, places and buttons of a page, drawn by Streamlit; nothing here knows which page it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import streamlit as st

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
from ui.present import choices
from ui.served.access import MOST_LETTERS

# Streamlit's own line names the transport's limit, in English; a box's label names the one that counts.
QUIET = "<style>[data-testid=stFileUploaderDropzoneInstructions] {display: none}</style>"
BOXES = {"info": st.info, "success": st.success, "warning": st.warning, "error": st.error}
LOOKS: dict[str, Callable[[], Any]] = {
    "pinned": lambda: st.column_config.TextColumn(pinned=True),
    "year": lambda: st.column_config.NumberColumn(format="%d"),
    "number": lambda: st.column_config.NumberColumn(format="localized"),
    "link": st.column_config.LinkColumn,
}


class ServedContent(PageFrame):
    """What is the same on every page; each method is described in ui.page.frame.PageFrame."""

    def redraw(self) -> None:
        st.rerun()

    def write(self, markdown: str) -> None:
        st.markdown(markdown)

    def caption(self, markdown: str) -> None:
        st.caption(markdown)

    def note(self, markdown: str, kind: NoteKind = "info") -> None:
        BOXES[kind](markdown)

    def badge(self, text: str, icon: str, colour: str) -> None:
        st.badge(text, icon=f":material/{icon}:", color=cast(Any, colour))

    def code(self, text: str, language: str | None = None, height: int | None = None) -> None:
        st.code(text, language=language, wrap_lines=language in (None, "bash"), height=height or "content")

    def progress(self, share: float, text: str) -> None:
        st.progress(share, text=text)

    def table(
        self,
        columns: TableColumns,
        key: str = "",
        *,
        looks: ColumnFormats = None,
        height: int | None = None,
        pick: RowClickHandler = None,
    ) -> int:
        config = {
            head: LOOKS[look]() if look in LOOKS else st.column_config.TextColumn(width=look)
            for head, look in (looks or {}).items()
        }
        given: dict[str, Any] = {"hide_index": True, "height": height or "content", "column_config": config}
        if not key:
            st.dataframe(columns, **given)
            return 0

        def chosen() -> None:
            for row in st.session_state[key].selection.rows:
                cast(Callable[[int], None], pick)(row)

        given |= {"on_select": chosen if pick else "rerun", "selection_mode": "single-row"}
        rows: list[int] = st.dataframe(columns, key=key, **given).selection.rows
        return next(iter(rows), 0)

    def columns(self, *widths: float, level: bool = False) -> Sequence[ContainerContext]:
        return st.columns(widths, vertical_alignment="bottom" if level else "top")

    def row(self) -> ContainerContext:
        return st.container(horizontal=True, vertical_alignment="center")

    def card(self, *, stretch: bool = False, key: str | None = None) -> ContainerContext:
        return st.container(border=True, height="stretch" if stretch else "content", key=key)

    def tabs(self, titles: Sequence[str]) -> Sequence[ContainerContext]:
        return st.tabs(titles)

    def fold(self, title: str, *, opened: bool = False) -> ContainerContext:
        return st.expander(title, expanded=opened)

    @contextmanager
    def details(self, label: str, key: str, *, lazy: bool = True, quiet: bool = False) -> Iterator[bool]:
        looks: dict[str, Any] = {"type": "tertiary"} if quiet else {"width": "stretch"}
        with st.popover(label, key=key, on_change="rerun" if lazy else "ignore", **looks) as box:
            yield bool(box.open) if lazy else True

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
        looks: dict[str, Any] = {"type": {"": "secondary", "quiet": "tertiary"}.get(look, look)}
        looks |= {"icon": f":material/{icon}:" if icon else None, "disabled": disabled}
        return st.button(label, key=key, on_click=cast(Any, act), args=given, **looks)

    def icon_markdown(self, name: str) -> str:
        return f":material/{name}: "

    def choice_buttons(self, key: str, texts: Sequence[str], chosen: int | None, take: Callable[[int], None]) -> None:
        choices.draw_choice_buttons(key, texts, chosen, take)

    def download(self, label: str, data: str | Callable[[], str], file: str, mime: str, key: str) -> None:
        st.download_button(label, cast(Any, data), file_name=file, mime=mime, key=key, on_click="ignore")

    def text_area(self, label: str, key: str) -> str:
        return st.text_area(label, key=key, height=120, max_chars=MOST_LETTERS) or ""

    def upload(
        self, label: str, key: str, max_mib: int, take: Callable[[UploadedFile], None] | None = None
    ) -> UploadedFile | None:

        def taken() -> None:
            if take and st.session_state[key] is not None:
                take(st.session_state[key])

        if take:
            st.html(QUIET)
        return st.file_uploader(label, key=key, max_upload_size=max_mib, on_change=taken)

    def form(
        self, label: str, button: str, key: str, take: Callable[[str], None], *, lines: int = 1, hint: str = ""
    ) -> None:

        def taken() -> None:
            take(st.session_state.get(key) or "")

        with st.form(f"{key}.form", border=False):
            if lines > 1:
                st.text_area(label, key=key, height=140, placeholder=hint, max_chars=MOST_LETTERS)
            else:
                st.text_input(label, key=key, max_chars=200, placeholder=hint)
            st.form_submit_button(button, on_click=taken, type="primary" if lines > 1 else "secondary")
