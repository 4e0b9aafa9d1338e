"""The harness: wrong answers get no time, right ones are timed beside the copy; the command line."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from rope_core.__main__ import main
from rope_core.bench import answers, contestants, harness
from rope_core.bench.answers import largest_error_and_first_seconds, random_inputs
from rope_core.bench.cases import SUITES, BenchmarkCase
from rope_core.bench.contestants import Implementation, RotationInputs, TensorPair
from rope_core.bench.records import BenchmarkDatabase
from rope_core.bench.view import case_timing
from rope_core.jobs import queue as jobs
from rope_core.kernels.entry import apply

SMALL = BenchmarkCase("cpu", "float32", 2, 33, 4, 2, 64, 64)


def named(name: str) -> Implementation:
    return next(c for c in contestants.all_implementations() if c.name == name)


def contestant(call: Callable[[RotationInputs, BenchmarkCase], Any]) -> Implementation:
    return Implementation("made", lambda case: None, call)


def right(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
    return apply(inputs.q, inputs.k, inputs.cos, inputs.sin, layout=case.layout)


def one_row_missing(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
    q, k = right(inputs, case)
    inputs.out[0][:, :-1] = q[:, :-1]
    return inputs.out[0], k


WRONG: list[Callable[[RotationInputs, BenchmarkCase], TensorPair]] = [
    lambda given, case: apply(given.q, given.k, given.cos, given.sin, layout="interleaved"),
    lambda given, case: apply(given.q, given.k, given.cos, -given.sin, layout=case.layout),
    lambda given, case: (given.q.clone(), given.k.clone()),
    lambda given, case: apply(given.q, given.k, given.cos.roll(1, 0), given.sin.roll(1, 0), layout=case.layout),
    lambda given, case: (right(given, case)[0][:, :, 1:], right(given, case)[1]),
    one_row_missing,
]


def test_a_wrong_answer_gets_no_time() -> None:
    for result in harness.measure_case(SMALL, [contestant(call) for call in WRONG], rounds=5):
        assert result.state == "wrong" and result.reason and result.data == {}


def test_nobody_compiled_is_timed_uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch.compile gives up after some graphs of one function; then a case has to start afresh, or say so."""

    @torch.compile(fullgraph=True, dynamic=False, backend="eager")
    def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        a, b = x.float().chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1).to(x.dtype)

    def compiled(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        cos, sin = inputs.cos[:, None], inputs.sin[:, None]
        return turned(inputs.q, cos, sin), turned(inputs.k, cos, sin)

    case = replace(SMALL, k_heads=4)
    # The module cannot give back a value that monkeypatch has set.
    with torch._dynamo.config.patch(recompile_limit=1):
        for dtype in ("float32", "bfloat16"):
            (result,) = harness.measure_case(replace(case, dtype=dtype), [contestant(compiled)], rounds=5)
            assert result.state == "ok", result.reason
        monkeypatch.setattr(harness, "renew_compiler", lambda case: None)
        (result,) = harness.measure_case(case, [contestant(compiled)], rounds=5)
        assert result.state == "error" and "RecompileLimit" in result.reason


def test_nobody_always_follows_the_same_one() -> None:
    called: list[int] = []

    def noted(number: int) -> Implementation:
        def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
            called.append(number)
            return right(inputs, case)

        return replace(contestant(call), name=str(number))

    harness.measure_case(SMALL, [noted(number) for number in range(4)], rounds=40)
    # Everybody's samples are many calls long.
    samples = [number for number, following in pairwise([*called, -1]) if number != following][-100:]
    before = {(following, number) for number, following in pairwise(samples)}
    assert len(before) == 4 * 3


def test_an_exception_is_a_result() -> None:
    def broken(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        raise RuntimeError("no such device")

    (result,) = harness.measure_case(SMALL, [contestant(broken)], rounds=5)
    assert result.state == "error" and result.reason == "RuntimeError: no such device"


@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
def test_right_answers_are_timed_beside_the_copy(direction: str) -> None:
    case = replace(SMALL, direction=direction, dtype="bfloat16", rotary_dim=48)
    names = ["numba (raw)", "numba", "eager", "transformers"]
    results = {r.contestant: r for r in harness.measure_case(case, [named(n) for n in names], rounds=5)}
    assert results["transformers"].state == "unavailable" and "whole heads" in results["transformers"].reason
    for name in names[:3]:
        data = results[name].data
        assert results[name].state == "ok"
        assert len(data["seconds"]) == len(data["floor"]) == 5
        assert all(s * data["calls"] > 100 * data["tick"] for s in data["seconds"])
        assert 0 < data["error"] < 0.05
        assert case_timing(results[name], {}).bandwidth == pytest.approx(
            case.min_bytes_moved / sorted(data["seconds"])[2], rel=1e-9
        )
    assert case.min_bytes_moved == (2 if direction == "both" else 1) * (2 * 2 * 33 * 6 * 64 * 2 + 2 * 33 * 24 * 4)


PEERS = ["numba (raw)", "numba (bound)", "numba", "eager", "complex", "transformers"]


@pytest.mark.parametrize("name", [*PEERS, pytest.param("transformers compiled", marks=pytest.mark.long)])
def test_contestants_answer_rightly(name: str) -> None:
    changes: list[dict[str, Any]] = [{"memory": "bhsd"}, {"memory": "bshd", "direction": "both"}]
    changes += [{"memory": "bshd", "inplace": True}] if "transformers" not in name else []
    for changed in changes:
        case = replace(SMALL, **changed)
        if named(name).missing(case):
            assert name == "numba (bound)" and case.direction == "both"
            continue
        error, first = largest_error_and_first_seconds(named(name), case)
        assert 0 < error < 1e-5 and first > 0


def test_a_kernel_that_reads_stale_memory_is_caught() -> None:
    seen: list[Tensor] = []

    def stale(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        if not seen:
            seen.extend(right(inputs, case))
        return seen[0], seen[1]

    with pytest.raises(ValueError, match="q errs by"):
        largest_error_and_first_seconds(contestant(stale), SMALL)


def test_a_kernel_that_is_wrong_only_at_full_size_gets_no_time() -> None:
    def short_of_breath(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        q, k = right(inputs, case)
        if case.seq > 512:
            k[:, -1] = inputs.k[:, -1]
        return q, k

    case = replace(SMALL, seq=600)
    (result,) = harness.measure_case(case, [contestant(short_of_breath)], rounds=5)
    assert result.state == "wrong" and "k errs by" in result.reason and "at full size" in result.reason


def test_memory_is_poisoned_before_every_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    junk: list[Tensor] = []
    full = torch.full

    def spy(*arguments: Any, **options: Any) -> Tensor:
        junk.append(full(*arguments, **options))
        return junk[-1]

    def looks(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        events.append("call")
        return right(inputs, case)

    poison = answers.poison

    def noted(case: BenchmarkCase) -> None:
        events.append("poison")
        poison(case)

    monkeypatch.setattr(answers, "poison", noted)
    largest_error_and_first_seconds(contestant(looks), SMALL)
    assert events == ["poison", "call"] * 3
    monkeypatch.setattr(torch, "full", spy)
    poison(SMALL)
    assert {j.numel() for j in junk} == {2 * 33 * n * 64 * 4 for n in (4, 2)}
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        assert all(bool(torch.isnan(j.view(dtype)).all()) for j in junk)


def test_the_floor_of_forward_and_backward_is_two_copies() -> None:
    for direction, copies in (("forward", 1), ("backward", 1), ("both", 2)):
        case = replace(SMALL, direction=direction)
        sets = [random_inputs(case, 0, False, 0)]
        before = sets[0].out[0]._version
        harness.floor_step(case, sets)(0)
        assert sets[0].out[0]._version - before == copies
        assert torch.equal(sets[0].out[0], sets[0].q) and torch.equal(sets[0].out[1], sets[0].k)


def test_the_backward_answers_are_checked() -> None:
    class Forgetful(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> Any:
            ctx.save_for_backward(cos, sin)
            return apply(q, k, cos, sin, layout="half")

        @staticmethod
        def backward(ctx: Any, *grads: Tensor) -> Any:
            return *apply(grads[0], grads[1], *ctx.saved_tensors, layout="half"), None, None

    def forgets_the_sign(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        done = Forgetful.apply(inputs.q, inputs.k, inputs.cos, inputs.sin)  # type: ignore[no-untyped-call]
        return done[0], done[1]

    assert largest_error_and_first_seconds(contestant(forgets_the_sign), SMALL)[0] < 1e-5
    with pytest.raises(ValueError, match="the gradient of q errs"):
        largest_error_and_first_seconds(contestant(forgets_the_sign), replace(SMALL, direction="both"))


def test_a_case_that_does_not_fit_is_refused_with_the_number() -> None:
    with pytest.raises(ValueError, match=r"case must be small enough for the .* free bytes"):
        harness.measure_case(replace(SMALL, batch=4096, seq=2**20), [contestant(right)], rounds=5)


def test_page_faults_are_counted() -> None:
    case = BenchmarkCase("cpu", "float32", 1, 64, 8, 8, 64, 64)

    def fresh(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        import mmap

        pages = mmap.mmap(-1, 2**24)
        pages[:: mmap.PAGESIZE] = bytes(2**24 // mmap.PAGESIZE)
        return right(inputs, case)

    (result,) = harness.measure_case(case, [contestant(fresh)], rounds=5)
    assert result.data["faults"] >= 8


def test_suites_list_valid_cases() -> None:
    for suite in SUITES.values():
        cases = list(suite())
        assert len({c.key for c in cases}) == len(cases) >= 4
        assert all(BenchmarkCase.from_key(c.key) == c for c in cases)
    gpu = list(SUITES["gpu"]())
    assert {1, 131_072} <= {c.seq for c in gpu} and {64, 96, 128, 256} <= {c.dim for c in gpu}
    assert {c.memory for c in gpu} == {"bshd", "bhsd"} and {c.direction for c in gpu} == {"forward", "backward", "both"}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"dtype": "int8"}, "dtype must be one of float32"),
        ({"k_heads": 3}, "k_heads must be a divisor of 4 query heads"),
        ({"rotary_dim": 66}, "rotary_dim must be an even number of at most 64"),
        ({"seq": 0}, "seq must be an integer in"),
        ({"inplace": True, "direction": "both"}, "inplace must be measured forward only"),
        ({"layout": "neox"}, "layout must be one of"),
    ],
)
def test_bad_cases_are_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(SMALL, **changed)


def test_the_command_line_measures_a_visitor_s_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROPE_LAB_BENCH_CHILD", "1")
    file = tmp_path / "mine.py"
    file.write_text(
        "from rope_core.kernels.entry import apply\n"
        "def good(q, k, cos, sin, *, layout):\n    return apply(q, k, cos, sin, layout=layout, backend='eager')\n"
        "def bad(q, k, cos, sin, *, layout):\n    return q.clone(), k.clone()\n",
        encoding="utf-8",
    )
    shape = ["--seq", "32", "--heads", "2", "--kv-heads", "1", "--dim", "32", "--rounds", "5", "--only", "numba"]
    shape += ["--records", str(tmp_path / "r.sqlite3")]
    assert main(["bench", *shape, "--kernel", f"{file}:good", "--only", "mine.py:good"]) == 0
    text = capsys.readouterr().out
    assert "mine.py:good" in text and "numba" in text and "of the copy's time" in text
    assert main(["bench", *shape, "--kernel", f"{file}:bad", "--only", "mine.py:bad"]) == 1
    assert "wrong: q errs by" in capsys.readouterr().out
    runs = BenchmarkDatabase(tmp_path / "r.sqlite3").runs()
    assert [r.run_status for r in runs] == ["finished", "finished"]
    files = "--records", str(tmp_path / "r.sqlite3")
    assert main(["bench", *files, "--list"]) == 0 and runs[0].id in capsys.readouterr().out
    assert main(["bench", *files, "--compare", runs[0].id, runs[1].id]) == 0
    assert "second/first" in capsys.readouterr().out
    exported = str(tmp_path / "all.json")
    assert main(["bench", *files, "--export", exported]) == 0
    assert main(["bench", "--records", f"{exported}.db", "--import", exported]) == 0
    assert "2 new run(s)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--kernel", "nowhere.py:f"], "kernel must be an existing file.py:function"),
        (["--kernel", "nowhere"], "kernel must be file.py:function"),
        (["--only", "nobody"], "only must be among"),
        (["--rounds", "2"], "rounds must be at least 5"),
        (["--rounds", "2", "--lang", "zh"], "rounds 要求：不小于 5，实际为 2"),
        (["--heads", "3", "--kv-heads", "2"], "k_heads must be a divisor of 3"),
        (["--device", "cuda"], "device must be a GPU that torch can see"),
        (["--show", "zzz"], "run must be the beginning of one recorded run's id"),
        (["--import", "nowhere.json"], "import must be an existing file"),
    ],
)
def test_bad_command_lines_end_with_a_sentence(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if torch.cuda.is_available() and "cuda" in arguments:
        pytest.skip("there is a GPU, so asking for one is no error")
    monkeypatch.setenv("ROPE_LAB_BENCH_CHILD", "1")
    assert main(["bench", *arguments, "--records", str(tmp_path / "r.sqlite3")]) == 2
    assert words in capsys.readouterr().err


def test_a_hosted_app_can_turn_running_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROPE_LAB_BENCH", "off")
    monkeypatch.setenv("ROPE_LAB_BENCH_CHILD", "1")
    records = ["--records", str(tmp_path / "r.sqlite3")]
    assert main(["bench", *records]) == 2 and "ROPE_LAB_BENCH" in capsys.readouterr().err
    assert main(["bench", *records, "--list"]) == 0


def test_a_run_in_the_queue_has_its_own_allocator_setting_reports_and_can_be_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith(("MALLOC_", "ROPE_LAB"))]:
        monkeypatch.delenv(name)
    queue = jobs.JobQueue()
    shape = ["--heads", "2", "--kv-heads", "2", "--dim", "32", "--only", "eager", "--progress"]
    shape += ["--records", str(tmp_path / "r.sqlite3")]
    endless = queue.submit("rope_core.cli.bench", [*shape, "--seq", "8", "--rounds", "1000000"], owner="one")
    end = time.monotonic() + 120
    while queue.status(endless).progress is None and time.monotonic() < end:
        time.sleep(0.05)
    assert queue.status(endless).note.startswith("cpu float32 B1 S8")
    queue.cancel(endless)
    assert queue.wait(endless, 120).state == "cancelled"
    (run,) = BenchmarkDatabase(tmp_path / "r.sqlite3").runs()
    assert run.run_status == "interrupted" and run.environment["allocator"] == "tuned"
    queue.close()
