"""What a browser is sent of a page: everything that it lacks, and nothing that it has."""

import random
from typing import Any

from ui.book.nodes import HtmlNode, changed_node_record, content_hashes_by_id, script_data_by_id


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
        for each in node.self_and_descendants():
            self.seen[each.id] = (
                each.content_hashes,
                each.html + each.data,
                tuple(child.id for child in each.children),
            )

    def take(self, change: dict[str, Any], whole: HtmlNode) -> None:
        node = next(each for each in whole.self_and_descendants() if each.id == change["id"])
        if "html" in change:
            assert change["html"] == node.to_html() and change["drawn"] == script_data_by_id(node)
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
        browser.take(changed_node_record(after, content_hashes_by_id(before)), after)
        for node in after.self_and_descendants():
            assert browser.seen[node.id] == (
                node.content_hashes,
                node.html + node.data,
                tuple(child.id for child in node.children),
            )


def test_what_is_known_is_not_sent_again() -> None:
    page = tree(1)
    assert changed_node_record(page, content_hashes_by_id(page)) == {"id": "page", "mark": page.content_hashes}
    other = tree(1)
    other.children[0].children[0].html = "<p>new</p>"
    browser = Browser()
    browser.has(page)
    browser.take(changed_node_record(other, content_hashes_by_id(page)), other)
    assert browser.sent == 1


def test_a_given_value_changes_no_mark() -> None:
    assert HtmlNode("w", "control", live=1).content_hashes == HtmlNode("w", "control", live=2).content_hashes
    assert HtmlNode("w", "control", html="a").content_hashes != HtmlNode("w", "control", html="b").content_hashes


def test_html_is_escaped_in_attributes() -> None:
    assert HtmlNode('a"b', "write", attributes={"title": '<"'}).to_html().startswith('<div class="write" id="a&quot;b"')
