"""A page's values in a session: what is in force, what is kept, what a link carries, and what a refusal leaves."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rope_core as rc
from ui.figures import catalogue as models
from ui.page.fields import BASE, CUSTOM, DIM, FACTOR, GEOMETRY, MODEL, PARAMS, SCHEME, SCHEME_FIELDS, SEQ_LEN, TRAIN_LEN
from ui.page.state import Field
from ui.page.store import PageValues

OWN = Field("m", "int", 12, 0, 4095)
ALL = (OWN, *GEOMETRY, *SCHEME_FIELDS)
# Models of the catalogue that bring a scheme with a factor, and one with a vector for each pair.
SCALED = next(name for name in models.model_ids() if "factor" in models.model_rope_setting(name).params)
WIDE = next(name for name in models.model_ids() if models.model_rope_setting(name).rope.dim != DIM.default)
VECTOR = next(name for name in models.model_ids() if "short_factor" in models.model_rope_setting(name).params)


def store(fits: Any = None, fields: tuple[Field, ...] = ALL, **values: Any) -> PageValues:
    return PageValues("rotation", fields, {"values": dict(values)}, fits)


def state(of: PageValues) -> dict[str, object]:
    return {field.name: of.get(field) for field in ALL}


def test_a_value_in_force_is_the_explicit_one_then_the_model_s_then_the_field_s() -> None:
    of = store()
    default = models.model_rope_setting(models.DEFAULT)
    assert (of.get(DIM), of.get(BASE)) == (default.rope.dim, default.rope.base) and of.get(OWN) == 12
    of.put(MODEL, SCALED)
    setting = models.model_rope_setting(SCALED)
    assert of.rope() == setting.rope and of.get(SCHEME) == setting.scheme
    assert of.get(FACTOR) == setting.params["factor"] != FACTOR.default
    of.put(BASE, 77.0)
    assert of.rope() == rc.Rope(setting.rope.dim, 77.0, setting.rope.train_len)
    of.put(MODEL, CUSTOM)
    assert of.rope() == rc.Rope(DIM.default, BASE.default, TRAIN_LEN.default) and of.get(FACTOR) == FACTOR.default


def test_choosing_a_model_forgets_every_value_that_a_model_sets_and_no_other() -> None:
    of = store()
    for field, value in ((OWN, 7), (DIM, 32), (BASE, 77.0), (SCHEME, "yarn"), (SEQ_LEN, 99), (FACTOR, 3.0)):
        of.put(field, value)
    of.put(MODEL, SCALED)
    assert of.explicit == {"model": SCALED, "rotation.m": 7}


def test_a_default_is_not_kept() -> None:
    of = store()
    of.put(OWN, 13)
    assert of.explicit == {"rotation.m": 13}
    of.put(OWN, 12)
    of.put(DIM, models.model_rope_setting(models.DEFAULT).rope.dim)
    assert of.explicit == {} and of.as_url_parameters() == {}
    of.put(MODEL, WIDE)
    of.put(DIM, DIM.default)
    assert of.rope().dim == DIM.default, "the field's own default is another value than the model's"


def test_parameters_are_the_controls_values_and_a_model_s_own_vectors() -> None:
    of = store()
    of.put(MODEL, VECTOR)
    setting = models.model_rope_setting(VECTOR)
    params = of.params(setting.scheme)
    assert params.keys() == {param.name for param in rc.SCHEMES[setting.scheme].params}
    assert params["short_factor"] == setting.params["short_factor"]
    assert of.request() == rc.Request(setting.rope, setting.scheme, params, None)
    number = next(param for param in rc.SCHEMES["yarn"].params if param.name in PARAMS and param.kind == "float")
    of.put(PARAMS[number.name], number.high)
    assert of.params("yarn")[number.name] == number.high
    assert "short_factor" not in store().params(setting.scheme), "another model has no vector to give"


def refuse_odd(of: PageValues) -> None:
    if of.get(OWN) % 2:
        raise ValueError("m must be even")


@pytest.mark.parametrize("value, key", [(4096, "frame.refused"), (13, "frame.impossible")])
def test_a_refused_value_changes_nothing_and_is_reported_once(value: int, key: str) -> None:
    of = store(refuse_odd, model=SCALED, base=77.0)
    kept = of.explicit
    before = dict(kept)
    of.try_put(OWN, value)
    assert of.explicit is kept and kept == before and of.get(OWN) == 12
    assert [note for note, _ in of.notes] == [key]
    of.try_put(OWN, 14)
    assert of.explicit == before | {"rotation.m": 14} and len(of.notes) == 1


def test_a_refusal_brings_back_what_a_model_had_cleared() -> None:
    def never(of: PageValues) -> None:
        if of.get(MODEL) == SCALED:
            raise ValueError("not this one")

    of = store(never, base=77.0, dim=32)
    of.try_put(MODEL, SCALED)
    assert of.explicit == {"base": 77.0, "dim": 32}
    of.try_put(MODEL, "no such model")
    assert of.explicit == {"base": 77.0, "dim": 32}
    assert [note for note, _ in of.notes] == ["frame.impossible", "frame.refused"]


def test_a_reset_forgets_this_page_s_values_and_the_shared_ones() -> None:
    values: dict[str, Any] = {"rotation.m": 3, "base": 77.0, "factor": 3.0, "clock.slower": 2.0}
    of = store(**values)
    of.reset()
    assert of.explicit == {"clock.slower": 2.0}


def test_a_state_that_is_taken_is_the_whole_state() -> None:
    values: dict[str, Any] = {"rotation.m": 3, "factor": 3.0, "clock.slower": 2.0}
    of = store(**values)
    of.replace_all({"base": 77.0, "model": SCALED})
    assert of.explicit == {"base": 77.0, "model": SCALED, "clock.slower": 2.0}
    assert of.get(OWN) == 12


@pytest.mark.parametrize("query", [{"dim": "32", "model": SCALED}, {"model": SCALED, "dim": "32"}])
def test_a_link_s_model_comes_before_its_other_values(query: dict[str, str]) -> None:
    of = store()
    of.read_query(query)
    assert of.rope().dim == 32 and of.rope().base == models.model_rope_setting(SCALED).rope.base


def test_a_link_whose_values_do_not_go_together_leaves_everything() -> None:
    of = store(refuse_odd, base=77.0)
    of.read_query({"m": "13", "base": "500"})
    assert of.explicit == {"base": 77.0} and [note for note, _ in of.notes] == ["frame.impossible"]


def test_what_a_link_says_wrong_is_reported() -> None:
    of = store()
    of.read_query({"dim": "13", "m": "x", "foo": "1", "lang": "en", **{f"bar{k}": "1" for k in range(5)}})
    keys = [note for note, _ in of.notes]
    assert keys == ["frame.corrected", "frame.ignored"] + ["frame.unknown_parameter"] * 3
    assert of.notes[0][1]["used"] == 12 and of.get(DIM) == 12


def test_automatic_is_written_and_read_back() -> None:
    length = Field("seq", "int", 64, 1, 4096, optional=True)
    of = store(fields=(length,))
    of.put(length, None)
    assert of.as_url_parameters() == {"seq": "auto"}
    again = store(fields=(length,))
    again.read_query(of.as_url_parameters())
    assert again.get(length) is None and again.explicit == of.explicit


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "m": st.integers(0, 4095),
            "dim": st.integers(1, 512).map(lambda half: 2 * half),
            "base": st.floats(1.5, 1e9),
            "train_len": st.integers(16, 10**6),
            "model": st.sampled_from([SCALED, VECTOR, CUSTOM]),
            "seq_len": st.one_of(st.none(), st.integers(1, 10**6)),
            "factor": st.floats(1, 64),
        },
    )
)
def test_a_link_is_the_state(values: dict[str, object]) -> None:
    of, again = store(lambda _: None), store(lambda _: None)
    of.replace_all(values)
    again.read_query(of.as_url_parameters())
    assert state(again) == state(of) and not again.notes


@pytest.mark.parametrize(
    "fields, refused", [((OWN,), False), ((OWN, *GEOMETRY), False), ((OWN, *GEOMETRY, *SCHEME_FIELDS), True)]
)
def test_a_page_needs_what_its_shared_fields_need(fields: tuple[Field, ...], refused: bool) -> None:
    # A vector of another width fits a page that draws no scheme.
    of = store(fields=fields, model=VECTOR, dim=8)
    assert of.is_consistent() is not refused
