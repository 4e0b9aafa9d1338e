"""What a browser is sent of a page: everything that it lacks, and nothing that it has."""

import random
from typing import Any

from ui.book.nodes import HtmlNode, changed_node_record, marks_by_id, script_data_by_id


def leaf(name: str, text: str, drawn: str = "") -> HtmlNode:
    return HtmlNode(name, "write", f"<p>{text}</p>" if not drawn else "", data=drawn)


def tree(seed: int) -> HtmlNode:
    """Return a page whose parts, texts and figures depend on a seed."""
    draw = random.Random(seed)
    parts = []
    for part in range(3):
        names = draw.sample(range(5), draw.randint(1, 4))
        children = [
            leaf(f"{part}/{name}", str(draw.randint(0, 1)), "x" * (name == 3) * draw.randint(1, 2)) for name in names
        ]
        parts.append(HtmlNode(str(part), "part", children=children, attributes={"style": str(draw.randint(0, 1))}))
    return HtmlNode("page", "page", children=parts)


class Browser:
    """What book.js keeps of a page, by id: mark, content, and the ids of what is inside."""

    def __init__(self) -> None:
        self.seen: dict[str, tuple[str, str, tuple[str, ...]]] = {}
        self.sent = 0

    def has(self, node: HtmlNode) -> None:
        for each in node.all():
            self.seen[each.id] = (each.mark, each.html + each.data, tuple(child.id for child in each.children))

    def take(self, change: dict[str, Any], whole: HtmlNode) -> None:
        node = next(each for each in whole.all() if each.id == change["id"])
        if "html" in change:
            assert change["html"] == node.written() and change["drawn"] == script_data_by_id(node)
            self.has(node)
            self.sent += 1
        elif "children" in change:
            for child in change["children"]:
                self.take(child, whole)
            drawn = change.get("data", "")
            inside = tuple(child["id"] for child in change["children"])
            self.seen[node.id] = (change["mark"], node.html + drawn, inside)
            self.sent += bool(drawn)


def test_changes_bring_a_browser_from_any_page_to_any_other() -> None:
    for seed in range(60):
        browser, before, after = Browser(), tree(seed), tree(seed + 1)
        browser.has(before)
        browser.take(changed_node_record(after, marks_by_id(before)), after)
        for node in after.all():
            assert browser.seen[node.id] == (
                node.mark,
                node.html + node.data,
                tuple(child.id for child in node.children),
            )


def test_what_is_known_is_not_sent_again() -> None:
    page = tree(1)
    assert changed_node_record(page, marks_by_id(page)) == {"id": "page", "mark": page.mark}
    other = tree(1)
    other.children[0].children[0].html = "<p>new</p>"
    browser = Browser()
    browser.has(page)
    browser.take(changed_node_record(other, marks_by_id(page)), other)
    assert browser.sent == 1


def test_a_given_value_changes_no_mark() -> None:
    assert HtmlNode("w", "control", live=1).mark == HtmlNode("w", "control", live=2).mark
    assert HtmlNode("w", "control", html="a").mark != HtmlNode("w", "control", html="b").mark


def test_html_is_escaped_in_attributes() -> None:
    assert HtmlNode('a"b', "write", attributes={"title": '<"'}).written().startswith('<div class="write" id="a&quot;b"')
