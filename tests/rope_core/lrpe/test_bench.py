"""The benchmark: it checks the answer before it times, covers what it says, and restores the threads."""

import numba
import pytest
import torch

from rope_core.lrpe import bench, lrpe_rotate
from rope_core.lrpe.cpu import FUSED


def test_every_case_is_timed_beside_its_copy() -> None:
    # The first launch of numba's threads gives torch as many.
    lrpe_rotate(torch.ones(1, 2, 1, 4), torch.ones(2), backend="numba")
    before = torch.get_num_threads(), numba.get_num_threads()
    rows = bench.measure((1, 32, 4, 16), rounds=2, threads=1, peers=("eager",), theta_kind="both")
    assert (torch.get_num_threads(), numba.get_num_threads()) == before
    assert [(row.act, row.dim) for row in rows if row.name == "fused"] == list(bench.CASES)
    assert {row.name for row in rows} == {"copy", "fused", "fused backward", "eager", "eager backward"}
    assert all(row.ratio == row.best == 1.0 for row in rows if row.name == "copy")
    assert all(row.ratio > 0 and row.milliseconds > 0 and row.error < 1e-5 for row in rows)


def test_a_wrong_answer_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = FUSED.forward_into

    def wrong(x: torch.Tensor, theta: torch.Tensor, *rest: object) -> None:
        right(x, -theta, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(FUSED, "forward_into", wrong)
    with pytest.raises(AssertionError, match="fused"):
        bench.measure((1, 32, 4, 16), rounds=1, threads=1, cases=[("none", None)], peers=())


def test_the_command_prints_a_row_per_variant(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--shape", "1", "16", "2", "8", "--rounds", "1", "--threads", "1", "--act", "relu", "--peers", "eager"]
    assert bench.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["variant", "act", "dim", "x", "copy", "best", "ms", "error"]
    assert [line[:16].strip() for line in lines[1:]] == ["copy", "fused", "fused backward", "eager", "eager backward"]


@pytest.mark.long
def test_the_compiled_peer_runs() -> None:
    rows = bench.measure((1, 32, 4, 16), rounds=1, threads=1, cases=[("silu", None)], peers=("compiled",))
    assert "compiled" in {row.name for row in rows}
