"""What the browser's worker calls: a page opens at a link's values, then answers one move after another."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from copy import copy, deepcopy
from typing import Any

from ui.book.content import DownloadFile
from ui.book.frame import BookFrame, page_folder
from ui.book.hall import ROOMS
from ui.book.nodes import changed_node_record, content_hashes_by_id, live_values_by_id
from ui.present.lessons import Lesson
from ui.present.view import LOADED

OWN_LESSON: list[Lesson] = []
"""The reader's own lesson file, for the next page of this visit."""


class ReaderSession:
    """One reader's page, and what the browser has of it.

    Args:
        name, lang: of the page.
        root: the way from the page's folder to the book's.
        address: of the book, for links that are handed on.
        values: what the reader has set on other pages of this visit.
        query: the link's parameters.
        rooms: the address of a service of rooms, where this browser holds a lecturer's key; "" without one.
        known: the marks of the page as it was built, by id; the stage, where the figure that leads is in no part,
            knows none of them.
    """

    def __init__(
        self,
        name: str,
        lang: str,
        root: str,
        address: str,
        values: Mapping[str, Any],
        query: Mapping[str, str],
        known: Mapping[str, str],
        rooms: str = "",
    ) -> None:
        self.session: dict[Any, Any] = {"values": dict(values), "book.address": address, ROOMS: rooms}
        if OWN_LESSON:
            self.session[LOADED] = OWN_LESSON[-1]
        self.page = BookFrame(name, lang, self.session, root, dict(query))
        self.known = {} if self.page.view.is_on_stage else dict(known)

    def answer(self) -> str:
        """Return what has changed as JSON: nodes, their live values, values for the address and for other pages.

        ``page`` and ``page_folder`` say which page it is, and where below the book's root its address is.
        """
        tree = self.page.places.root
        changed = changed_node_record(tree, self.known)
        self.known = content_hashes_by_id(tree)
        values = self.session["values"]
        answer = {
            "tree": changed,
            "told": live_values_by_id(tree),
            "query": self.page.as_url_parameters(),
            "values": values,
        }
        page = {
            "page": self.page.name,
            "title": self.page.t("title"),
            "folder": page_folder(self.page.name, self.page.t.lang),
        }
        return json.dumps(answer | page, ensure_ascii=False, allow_nan=False)

    def act(self, key: str, given: str) -> str:
        """Do what a control asks for with the JSON that it gives; return the answer, or a file to be saved."""
        staged = self.page.view.is_on_stage
        saved = self.page.act(key, json.loads(given))
        OWN_LESSON[:] = filter(None, [self.session.get(LOADED)])
        if isinstance(saved, DownloadFile):
            content = b64encode(saved.content).decode("ascii")
            return json.dumps({"save": {"name": saved.name, "mime": saved.mime, "content": content}})
        following = self.page.view.pop_page_to_go_to()
        if following and following != self.page.name:
            query = self.page.view.as_url_parameters() | {"lang": self.page.t.lang}
            self.page = BookFrame(following, self.page.t.lang, self.session, self.page.root, query)
        if self.page.view.is_on_stage != staged:  # what is known is in other places
            self.known = {}
        return self.answer()

    def draw_ahead(self) -> None:
        """Draw what follows on the stage, the question's answer or the next step, on a page that nobody sees.

        Its figures are among the last drawings that are kept, so that the press then draws none.
        """
        if not self.page.view.is_on_stage:
            return
        unseen = copy(self)
        unseen.session = deepcopy(self.session)
        unseen.page = BookFrame(
            self.page.name, self.page.t.lang, unseen.session, self.page.root, self.page.as_url_parameters()
        )
        keys = {node.kind: node.id for node in unseen.page.places.root.self_and_descendants()}
        key = keys.get("choices", keys.get("button stage-next"))
        if key in unseen.page.places.acts:
            unseen.act(key, "0")


def open_session(request: str) -> ReaderSession:
    """Return the page that a request in JSON asks for, by the names of ``ReaderSession``'s arguments."""
    return ReaderSession(**json.loads(request))
