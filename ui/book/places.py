"""Where a page's nodes go: the tree that is being drawn, and the actions that its controls ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from html import escape
from typing import Any

from ui.book.nodes import HtmlNode

EventHandler = Callable[[Any], object]


class NodeContext(AbstractContextManager[HtmlNode]):
    """A place in a tree."""

    def __init__(self, places: NodeTree, node: HtmlNode) -> None:
        self.places, self.node = places, node

    def __enter__(self) -> HtmlNode:
        self.places.path.append(self.node)
        return self.node

    def __exit__(self, *_: object) -> None:
        self.places.path.pop()


class NodeTree:
    """A tree that grows at the place in force."""

    def __init__(self) -> None:
        self.root = HtmlNode("page", "page")
        self.path = [self.root]
        self.counts: dict[str, Counter[str]] = {}
        self.acts: dict[str, EventHandler] = {}
        self.owners: dict[str, str] = {}

    @property
    def current_node(self) -> HtmlNode:
        """The node that is being filled."""
        return self.path[-1]

    @property
    def current_part(self) -> HtmlNode:
        """The part that is being drawn, else the page."""
        return next((node for node in reversed(self.path) if node.kind == "part"), self.root)

    def unique_node_id(self, key: str) -> str:
        """Return an id that no other node has: the part's and the ``key``, counted where it comes again."""
        counts = self.counts.setdefault(self.current_part.id, Counter())
        counts[key] += 1
        return f"{self.current_part.id}/{key}" + (f".{counts[key]}" if counts[key] > 1 else "")

    def add_node(self, kind: str, html: str = "", *, key: str = "", **more: Any) -> HtmlNode:
        """Put a node at the place in force."""
        node = HtmlNode(self.unique_node_id(key or kind), kind, html, **more)
        self.current_node.children.append(node)
        return node

    def inside(self, node: HtmlNode) -> NodeContext:
        """Return a place that fills a node, as often as it is entered."""
        return NodeContext(self, node)

    def add_control_node(self, kind: str, key: str, html: str, act: EventHandler, **more: Any) -> HtmlNode:
        """Put a node whose HTML has ``{act}`` where it names what it asks for."""
        node = self.add_node(kind, key=key, **more)
        node.html = html.replace("{act}", escape(node.id))
        self.register_handler(node.id, act)
        return node

    @contextmanager
    def folded_node(self, kind: str, line: str, *, key: str = "", **more: Any) -> Iterator[HtmlNode]:
        """Fill a node that folds under a line of HTML."""
        with self.inside(self.add_node(kind, key=key or kind, tag="details", **more)) as node:
            self.add_node("line", line, tag="summary")
            with self.inside(self.add_node("inside")):
                yield node

    def register_handler(self, key: str, act: EventHandler) -> None:
        """Have ``act`` called with what the browser sends under ``key``; it belongs to the part that is being drawn."""
        self.acts[key] = act
        self.owners[key] = self.current_part.id

    @contextmanager
    def redrawing_part(self, part: HtmlNode) -> Iterator[None]:
        """Draw a part anew in its own place, without the nodes and acts that it had."""
        gone = {node.id for node in part.self_and_descendants()} - {part.id}
        self.acts = {key: act for key, act in self.acts.items() if self.owners[key] not in gone | {part.id}}
        for node in part.self_and_descendants():
            self.counts.pop(node.id, None)
        part.children.clear()
        for node in self.root.self_and_descendants():
            node.kept = ""
        self.path = [self.root, part]
        yield
        self.path = [self.root]
