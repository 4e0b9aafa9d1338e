"""The benchmark: it checks the answer before it times, and prints what it measured."""

import pytest
import torch

from rope_core.lrpe import bench
from rope_core.lrpe.eager import EAGER


def test_the_command_times_every_variant_beside_its_copy(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--shape", "1", "16", "3", "8", "--rounds", "5", "--no-compile", "--theta", "both"]
    assert bench.main([*sizes, "--act", "softmax", "--dtype", "bfloat16"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    names = ["copy", "eager", "eager backward"]
    assert [" ".join(line[:-7]) for line in lines] == 2 * names
    assert [line[-6] for line in lines] == 3 * ["-1"] + 3 * ["1"]
    for line in lines:
        ratio, low, high, micro, error = map(float, line[-5:])
        assert 0 < low <= ratio <= high and micro > 0 and 0 <= error < 0.02
        assert line[0] != "copy" or ratio == low == high == 1


def test_a_wrong_answer_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = EAGER.backward

    def wrong(x: torch.Tensor, theta: torch.Tensor, *rest: object) -> object:
        return right(x, -theta, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(EAGER, "backward", wrong)
    with pytest.raises(AssertionError, match="eager backward"):
        bench.measure((1, 32, 4, 16), "none", None, rounds=1, compiled=False)


@pytest.mark.long
def test_the_compiled_peer_runs() -> None:
    rows = bench.measure((1, 32, 4, 16), "silu", None, rounds=1)
    assert "compiled" in {row.name for row in rows}
