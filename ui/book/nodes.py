"""A page as a tree of nodes: HTML for who reads, and for the browser only what has changed since the last answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

LETTERS = 10
"""Letters of each half of a mark."""


@dataclass
class HtmlNode:
    """An element of a page.

    Attributes:
        id: names it on its page, the same in every run.
        kind: its class, which says what the browser does with it.
        html: what it holds, before its children.
        children: the nodes in it.
        tag, attributes: of its element.
        data: what a script draws in it: a figure's JSON, or a film's bytes in base64.
        live: what moves without a change of content: a control's value, a film's values.
    """

    id: str
    kind: str
    html: str = ""
    children: list[HtmlNode] = field(default_factory=list)
    tag: str = "div"
    attributes: Mapping[str, str] = field(default_factory=dict)
    data: str = ""
    live: Any = None
    kept: str = field(default="", repr=False)

    @property
    def content_hashes(self) -> str:
        """Return hashes of the node's own element and of all that it shows, a dot between; ``live`` is in neither."""
        if not self.kept:
            shell = _hash([self.kind, self.tag, sorted(self.attributes.items()), self.html])
            self.kept = (
                f"{shell}.{_hash([shell, self.data, [(child.id, child.content_hashes) for child in self.children]])}"
            )
        return self.kept

    def self_and_descendants(self) -> Iterator[HtmlNode]:
        """Yield the node and all below it."""
        yield self
        for child in self.children:
            yield from child.self_and_descendants()

    def to_html(self) -> str:
        """Return the node as HTML."""
        return "".join(self._pieces())

    def _pieces(self) -> Iterator[str]:
        more = "".join(f' {name}="{escape(value)}"' for name, value in self.attributes.items())
        hashes = f'data-mark="{self.content_hashes}"'
        yield f'<{self.tag} class="{self.kind}" id="{escape(self.id)}" {hashes}{more}>{self.html}'
        for child in self.children:
            yield from child._pieces()
        yield f"</{self.tag}>"


def script_data_by_id(node: HtmlNode) -> dict[str, str]:
    """Return by id what scripts draw in the nodes below."""
    return {each.id: each.data for each in node.self_and_descendants() if each.data}


def live_values_by_id(node: HtmlNode) -> dict[str, Any]:
    """Return the live values of the nodes below, by id."""
    return {each.id: each.live for each in node.self_and_descendants() if each.live is not None}


def changed_node_record(node: HtmlNode, known_hashes: Mapping[str, str]) -> dict[str, Any]:
    """Return a node for a browser that has the marks ``known_hashes`` by id: what it lacks, else id and mark alone."""
    before, named = known_hashes.get(node.id), {"id": node.id, "mark": node.content_hashes}
    if before == node.content_hashes:
        return named
    if before and before.partition(".")[0] == node.content_hashes.partition(".")[0]:
        children = {"children": [changed_node_record(child, known_hashes) for child in node.children]}
        return named | children | ({"data": node.data} if node.data else {})
    return named | {"html": node.to_html(), "drawn": script_data_by_id(node)}


def content_hashes_by_id(node: HtmlNode) -> dict[str, str]:
    """Return the marks of a node and all below it, by id."""
    return {each.id: each.content_hashes for each in node.self_and_descendants()}


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:LETTERS]
