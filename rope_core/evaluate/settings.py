"""What a model is measured on, checked, and what the model turns by for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from rope_core.errors import argument_error, checked_finite, checked_int, error_sentence
from rope_core.evaluate.loading import ModelSource
from rope_core.evaluate.variants import (
    KEYS,
    LADDER,
    OWN,
    WINDOW,
    RopeVariant,
    config_reached_length,
    config_trained_length,
    rope_variant,
)
from rope_core.languages import LANGUAGES
from rope_core.rope import MAX_LEN
from rope_core.schemes import UNSCALED

TASKS = ("perplexity", "passkey", "copy")


@dataclass(frozen=True)
class EvaluationSettings:
    """What a model is measured on, beside its text.

    Args:
        lengths: tokens in a window; none means the trained length, twice and four times it.
        schemes: keys of lines; none means the ladder's, and the config's own where it has a scaling.
        factor: of every line; None means each length over the trained one.
        trained: the length that schemes start from and that the sliding window has; None means the config's.
        tasks: names in TASKS.
        documents: windows to read at most.
        trials: examples of a task in each cell.
        seed: of the tasks' numbers and stretches.
        batch: windows that are read together.
        chunk: tokens that are read at once.

    Raises ValueError on values that make no such work.
    """

    lengths: tuple[int, ...] = ()
    schemes: tuple[str, ...] = ()
    factor: float | None = None
    trained: int | None = None
    tasks: tuple[str, ...] = TASKS
    documents: int = 8
    trials: int = 8
    seed: int = 0
    batch: int = 1
    chunk: int = 1024

    def __post_init__(self) -> None:
        for length in self.lengths:
            checked_int("--lengths", length, 16, MAX_LEN)
        for key in self.schemes:
            if key not in KEYS:
                raise argument_error("--schemes", "one_of", key, names=KEYS)
        for task in self.tasks:
            if task not in TASKS:
                raise argument_error("--tasks", "one_of", task, names=TASKS)
        if self.factor is not None and not 1.0 <= checked_finite("--factor", self.factor) <= 4096.0:
            raise argument_error("--factor", "number_range", self.factor, low=1, high=4096)
        if self.trained is not None:
            checked_int("--trained", self.trained, 16, MAX_LEN)
        for name, value, most in (("documents", self.documents, 4096), ("trials", self.trials, 10_000)):
            checked_int(f"--{name}", value, 1, most)
        checked_int("--batch", self.batch, 1, 4096)
        checked_int("--chunk", self.chunk, 1, MAX_LEN)
        checked_int("--seed", self.seed, 0, 2**31 - 1)

    def with_model_defaults(self, source: ModelSource) -> EvaluationSettings:
        """Return the same ask with a model's own lengths and lines where none are given."""
        trained = config_trained_length(source.config, self.trained)
        lengths = self.lengths or tuple(trained * times for times in (1, 2, 4))
        scaled = (
            rope_variant(source.config, OWN, max(lengths)).cache_key_bytes()
            != rope_variant(source.config, UNSCALED, max(lengths)).cache_key_bytes()
        )
        schemes = self.schemes or tuple(key for key in LADDER if key != OWN or scaled)
        return EvaluationSettings(
            **{**asdict(self), "lengths": tuple(sorted(set(lengths))), "schemes": tuple(dict.fromkeys(schemes))}
        )


def rope_variants(
    source: ModelSource, settings: EvaluationSettings
) -> tuple[dict[tuple[str, int], RopeVariant], dict[str, dict[str, str]]]:
    """Return what a model turns by in every cell, and why it cannot take a line, by line.

    Raises ValueError where it can take none.
    """
    turnings: dict[tuple[str, int], RopeVariant] = {}
    refused: dict[str, dict[str, str]] = {}
    for key in settings.schemes:
        try:
            for length in settings.lengths:
                # The sliding window never holds more than the length that the model reaches.
                at = min(length, config_reached_length(source.config, settings.trained)) if key == WINDOW else length
                turnings[key, length] = rope_variant(source.config, key, at, settings.factor, settings.trained)
        except ValueError as error:
            refused[key] = {lang: error_sentence(error, lang) for lang in LANGUAGES}
            if len(refused) == len(settings.schemes):
                raise
    return turnings, refused
