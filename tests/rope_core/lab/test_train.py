"""Training: resumes exactly, learns, refuses what it cannot do."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch

from rope_core.lab import passkey
from rope_core.lab.recipe import TrainingRecipe
from rope_core.lab.shape import ModelShape
from rope_core.lab.train import (
    CHECKPOINT,
    TrainingProgress,
    TrainingRun,
    checkpoint_header,
    one_step,
    start_run,
    train_model,
    training_batch,
)

TINY = ModelShape(layers=1, width=16, heads=2, hidden=16, context=16)


pytestmark = pytest.mark.usefixtures("small_models")


def sample(size: int = 4000, seed: int = 0) -> npt.NDArray[np.uint8]:
    """Text in which the next byte can be known: a short line over and over, with a drawn digit."""
    rng = np.random.default_rng(seed)
    line = b"the wheel turns by %d;"
    return np.frombuffer(b"".join(line % rng.integers(0, 10) for _ in range(size // 20)), dtype=np.uint8)


def same(a: TrainingRun, b: TrainingRun) -> bool:
    """Whether two runs hold the same weights to the last bit, and the same losses."""
    pairs = zip(a.model.parameters(), b.model.parameters(), strict=True)
    return a.losses == b.losses and all(torch.equal(x, y) for x, y in pairs)


def test_it_learns(tmp_path: Path) -> None:
    run = train_model(TrainingRecipe(TINY, steps=80, warmup=5, rate=1e-2), tmp_path, text=sample())
    assert run.losses[0] > 5.0
    assert np.mean(run.losses[-5:]) < 1.5


def test_a_run_that_was_cut_short_goes_on_exactly(tmp_path: Path) -> None:
    recipe, text = TrainingRecipe(TINY, seed=2, steps=12, warmup=3), sample()
    whole = train_model(recipe, tmp_path / "whole", text=text, checkpoint_every=5)

    class Cut(Exception):
        pass

    def cut(p: TrainingProgress) -> None:
        if p.step == 8:
            raise Cut

    with pytest.raises(Cut):
        train_model(recipe, tmp_path / "cut", text=text, checkpoint_every=5, on_progress=cut)
    shown: list[int] = []
    again = train_model(
        recipe, tmp_path / "cut", text=text, checkpoint_every=5, on_progress=lambda p: shown.append(p.step)
    )
    assert shown == list(range(6, 13))
    assert same(whole, again)


CHILD = """
import sys, torch
torch.set_num_threads(1)
from pathlib import Path
from rope_core.lab.recipe import TrainingRecipe
from rope_core.lab.train import train_model
from tests.rope_core.lab.test_train import TINY, sample
told = lambda p: print(p.step, flush=True)
recipe, folder = TrainingRecipe(TINY, steps=60, warmup=3), Path(sys.argv[1])
train_model(recipe, folder, text=sample(), checkpoint_every=1, on_progress=told)
"""


def test_a_run_that_is_stopped_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    recipe, text = TrainingRecipe(TINY, steps=9, warmup=3), sample()
    whole = train_model(recipe, tmp_path / "whole", text=text)
    assert train_model(recipe, tmp_path / "cut", text=text, stop_at_step=4).losses == whole.losses[:4]
    assert train_model(recipe, tmp_path / "cut", text=text).losses == whole.losses
    with pytest.raises(ValueError, match="stop must be an integer in"):
        train_model(recipe, tmp_path / "never", text=text, stop_at_step=10)


@pytest.mark.long
def test_kill_9_at_any_moment_loses_nothing(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path / "killed")], stdout=subprocess.PIPE)
    assert child.stdout is not None
    while int(child.stdout.readline()) < 20:
        pass
    time.sleep(0.003)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    recipe = TrainingRecipe(TINY, steps=60, warmup=3)
    shown: list[int] = []
    again = train_model(recipe, tmp_path / "killed", text=sample(), on_progress=lambda p: shown.append(p.step))
    assert 20 <= shown[0] < 60
    whole = train_model(recipe, tmp_path / "whole", text=sample())
    assert [path.name for path in (tmp_path / "killed").iterdir() if not path.name.startswith(".")] == [CHECKPOINT]
    assert np.allclose(again.losses, whole.losses, rtol=1e-5)


def test_steps_depend_on_seed_and_number_alone() -> None:
    text = sample()
    a, b = training_batch(text, TrainingRecipe(TINY, seed=1), 7), training_batch(text, TrainingRecipe(TINY, seed=1), 7)
    assert torch.equal(a, b)
    assert a.shape == (16, 17)
    assert not torch.equal(a, training_batch(text, TrainingRecipe(TINY, seed=1), 8))
    assert not torch.equal(a, training_batch(text, TrainingRecipe(TINY, seed=2), 7))
    joined = text.tobytes()
    assert all(bytes(row.tolist()) in joined for row in a)


def test_the_rate_rises_and_falls_in_straight_lines() -> None:
    recipe = TrainingRecipe(TINY, steps=100, warmup=10, rate=1.0)
    rates = [recipe.learning_rate(step) for step in range(100)]
    assert np.allclose(rates[:10], np.arange(1, 11) / 10)
    assert np.allclose(rates[10:95], (100 - np.arange(10, 95)) / 90)
    assert min(rates[10:]) == rates[-1] == 0.05


def test_a_loss_that_is_no_number_ends_the_run_and_keeps_what_was(tmp_path: Path) -> None:
    recipe, text = TrainingRecipe(TINY, steps=10, warmup=0), sample()
    run = start_run(recipe)
    one_step(run, text)
    before = [w.detach().clone() for w in run.model.parameters()]
    run.model.embedding.weight.data[:] = float("nan")
    with pytest.raises(FloatingPointError, match="the loss became nan at step 2"):
        one_step(run, text)
    assert all(torch.equal(x, y) for x, y in zip(before[1:], list(run.model.parameters())[1:], strict=True))


def test_another_recipe_s_folder_and_a_damaged_checkpoint_are_refused(tmp_path: Path) -> None:
    train_model(TrainingRecipe(TINY, steps=2, warmup=1), tmp_path, text=sample(), corpus_hash="abc")
    path = tmp_path / CHECKPOINT
    assert checkpoint_header(path).corpus == "abc"
    with pytest.raises(ValueError, match=r"empty or of the same recipe, got .a checkpoint with other steps"):
        train_model(TrainingRecipe(TINY, steps=3, warmup=1), tmp_path, text=sample())
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ValueError, match="folder must be one with a readable checkpoint, or none"):
        train_model(TrainingRecipe(TINY, steps=2, warmup=1), tmp_path, text=sample())


def test_a_fine_tune_starts_from_the_given_weights_under_its_scheme(tmp_path: Path) -> None:
    base = train_model(TrainingRecipe(TINY, steps=30, warmup=2, rate=1e-2), tmp_path / "a", text=sample())
    tuned = TrainingRecipe(TINY, steps=3, warmup=1, start="a", window=64, scheme="linear", params={"factor": 4.0})
    assert tuned.request.seq_len == 64
    run = start_run(tuned, base.model)
    plain = start_run(TrainingRecipe(TINY, steps=3, warmup=1, start="a", window=64), base.model)
    assert abs(one_step(run, sample()) - one_step(plain, sample())) > 1e-5
    assert not torch.equal(run.model.embedding.weight, base.model.embedding.weight)
    with pytest.raises(ValueError, match="start must be the model of 'a', got None"):
        start_run(tuned)
    with pytest.raises(ValueError, match="start must be a model of shape"):
        start_run(TrainingRecipe(ModelShape(), start="a"), base.model)


def test_the_passkey_s_answer_counts_as_much_as_the_rest() -> None:
    shape = ModelShape(layers=1, width=16, heads=2, hidden=16, context=128)
    recipe = TrainingRecipe(shape, task="passkey", batch=2)
    rows = training_batch(sample(), recipe, 0)
    assert rows.shape == (2, 129)
    assert all(bytes(row.tolist())[-passkey.DIGITS :].isdigit() for row in rows)
    run = start_run(recipe)
    from rope_core.lab.train import loss_of

    with torch.no_grad():
        each = torch.nn.functional.cross_entropy(
            run.model(rows[:, :-1]).transpose(1, 2), rows[:, 1:], reduction="none"
        ).double()
        assert float(loss_of(run, rows, "float32")) == pytest.approx(float(each.mean() + each[:, -5:].mean()), rel=1e-5)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"steps": 0}, "steps must be"),
        ({"rate": float("nan")}, "rate must be"),
        ({"warmup": 2000}, "warmup must be"),
        ({"task": "chess"}, "task must be one of text, passkey, copy, got 'chess'"),
        ({"window": 1}, "window must be"),
        ({"scheme": "linear", "shape": ModelShape(encoding="nope")}, "scheme must be none for a model without rotary"),
        ({"scheme": "linear", "params": {"factor": 0.5}}, "factor must be"),
    ],
)
def test_bad_recipes_are_refused(given: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        TrainingRecipe(**given)  # type: ignore[arg-type]


def test_text_shorter_than_a_window_is_refused() -> None:
    with pytest.raises(ValueError, match="text must be at least 17 bytes for windows of 16, got 5"):
        training_batch(np.zeros(5, dtype=np.uint8), TrainingRecipe(TINY), 0)


def test_a_recipe_survives_json() -> None:
    recipe = TrainingRecipe(TINY, seed=3, scheme="yarn", params={"factor": 2.0})
    assert TrainingRecipe.from_json(recipe.as_json()) == recipe
