"""The passkey task's examples."""

import re

import numpy as np
import pytest

from rope_core.lab import passkey


def filler(size: int = 3000) -> np.ndarray:
    """Text without a digit."""
    return np.frombuffer((b"no digits in this line at all.\n" * (size // 31 + 1))[:size], dtype=np.uint8)


@pytest.mark.parametrize("length", [101, 257, 1000])
@pytest.mark.parametrize("depth", [0.0, 0.3, 1.0])
def test_an_example_holds_its_key_at_its_depth_and_ends_in_it(length: int, depth: float) -> None:
    built, key = passkey.passkey_example(filler(), length, depth, np.random.default_rng(3))
    text = built.tobytes()
    assert (len(text), built.dtype) == (length, np.dtype("uint8"))
    assert text.endswith(b"The pass key is " + key)
    result = [m.start() for m in re.finditer(key, text)]
    assert len(result) == 3
    assert set(re.findall(rb"\d+", text)) == {key}
    room = length - passkey.FRAME
    assert result[0] == round(depth * room) + passkey.HIDE.index(b"%s")


def test_keys_and_filler_are_drawn() -> None:
    rng = np.random.default_rng(0)
    keys = {passkey.passkey_example(filler(), 200, 0.5, rng)[1] for _ in range(300)}
    assert len(keys) > 290
    assert {k[:1] for k in keys} == {str(d).encode() for d in range(10)}
    rows = passkey.passkey_examples(filler(), 5, 300, np.random.default_rng(1))
    assert rows.shape == (5, 300)
    assert len({bytes(row.tolist()) for row in rows}) == 5
    assert np.array_equal(rows, passkey.passkey_examples(filler(), 5, 300, np.random.default_rng(1)))


def test_what_cannot_be_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="length must be an integer in"):
        passkey.passkey_example(filler(), passkey.FRAME, 0.5, rng)
    with pytest.raises(ValueError, match=r"depth must be a number in \[0, 1\], got 1.5"):
        passkey.passkey_example(filler(), 200, 1.5, rng)
    with pytest.raises(ValueError, match="text must be at least 108 bytes of filler, got 50"):
        passkey.passkey_example(filler(50), 200, 0.5, rng)
