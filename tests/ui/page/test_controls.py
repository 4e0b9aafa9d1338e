"""What a hand lets go of reaches the store, and nothing else does."""

from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from ui.page.controls import FilmHand

HELD = {"a": 1, "b": 2, "c": 3}


@given(
    moved=st.dictionaries(st.sampled_from([*HELD, "other"]), st.integers(0, 4)), hidden=st.sets(st.sampled_from("abc"))
)
def test_a_hand_puts_what_it_moved_of_what_is_shown(moved: dict[str, int], hidden: set[str]) -> None:
    fields = {name: SimpleNamespace(name=name) for name in HELD}
    put: dict[str, Any] = {}
    store = SimpleNamespace(
        fields=fields, get=lambda field: HELD[field.name], try_put=lambda field, value: put.update({field.name: value})
    )
    scene = SimpleNamespace(
        sketch=None,
        all_controls=tuple(fields.values()),
        control_values=lambda get: {name: get(name) for name in HELD},
        finding_at=lambda _: "",
    )
    controls = SimpleNamespace(store=store, hidden=hidden)
    FilmHand(cast("Any", SimpleNamespace(scene=scene)), cast("Any", controls)).store_control_values(moved)
    assert put == {
        name: moved[name] for name in HELD if name in moved and name not in hidden and moved[name] != HELD[name]
    }
