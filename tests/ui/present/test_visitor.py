"""One word for all tabs of a browser, which gives nobody away."""

import re

from hypothesis import given
from hypothesis import strategies as st
from streamlit.web.server.starlette import starlette_app_utils as xsrf

from ui.present.visitor import PLACE, XSRF, browser


def test_a_browser_is_known_by_its_cookies_and_a_mask_makes_it_no_other() -> None:
    token, other = bytes(range(16)), bytes(16)
    masked = {xsrf.generate_xsrf_token_string(token, 1) for _ in range(5)}
    assert len(masked) == 5
    assert len({browser({XSRF: text}, "10.0.0.1") for text in masked}) == 1
    words = {
        browser({XSRF: next(iter(masked))}, ""),
        browser({XSRF: xsrf.generate_xsrf_token_string(other, 1)}, ""),
        browser({PLACE: "0" * 32}, ""),
        browser({PLACE: "1" * 32, XSRF: next(iter(masked))}, ""),
        browser({}, "10.0.0.1"),
        browser({}, "10.0.0.2"),
        browser({}, ""),
        browser({}, ""),
    }
    assert len(words) == 8 and all(len(word) == 32 for word in words)


def test_without_a_cookie_or_with_a_made_up_one_an_address_is_one_visitor() -> None:
    odd = [{}, {PLACE: "x"}, {PLACE: "\x00" * 40}, {XSRF: "2|zz|00|1"}, {XSRF: "2|00000000|123|1"}]
    assert len({browser(cookies, "10.0.0.1") for cookies in odd}) == 1


@given(st.lists(st.text(max_size=300).filter(lambda text: not re.fullmatch(r"[\w.|-]{16,200}", text)), min_size=2))
def test_made_up_cookies_without_an_address_are_one_voter(texts: list[str]) -> None:
    assert len({browser({PLACE: text}, "") for text in texts}) == 1
