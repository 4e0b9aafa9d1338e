"""A model as vLLM reads it: the log-probabilities of a prompt's own tokens, one engine for each set of frequencies.

vLLM gives no way to its rotary modules, so a variant is the config that says it, as overrides of the model's own, and
what vLLM makes of that is known from ``rope_core.programs`` alone. API: vLLM 0.33, vllm/entrypoints/llm.py and
vllm/logprobs.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from rope_core.errors import RuleText, argument_error
from rope_core.evaluate.harness import vllm_transformers_difference_text
from rope_core.evaluate.loading import LoadedModel, ModelSource, tokenizer_of
from rope_core.evaluate.variants import RopeVariant
from rope_core.hf.schemas import to_v5
from rope_core.rope import Array

ENGINE = "vllm"


class VllmReader:
    """A model's folder with the vLLM engine that reads it, which is made anew for another config.

    Args:
        source: of the model.
        dtype: torch's name, or "auto".
        longest: tokens in the longest window.
        cards: CUDA devices that share the model.

    Raises ValueError where vLLM is not installed, or the model has no folder.
    """

    reloads = True
    class_name = "vLLM"

    def __init__(self, source: ModelSource, dtype: str, longest: int, cards: int = 1) -> None:
        if source.folder is None:
            raise argument_error("--engine", "eval_engine_folder", ENGINE)
        try:
            self.package: Any = import_module(ENGINE)
        except ImportError as error:
            raise argument_error("--engine", "eval_package", ENGINE, packages=[ENGINE]) from error
        self.source, self.longest, self.cards = source, longest, cards
        self.dtype = source.stored if dtype == "auto" else dtype
        self.device = f"{ENGINE} {self.package.__version__}"
        self.engine: Any = None
        self.config: dict[str, Any] | None = None

    def write_variant(self, variant: RopeVariant) -> None:
        """Have an engine of this config be there; the one before is let go first, for its memory."""
        if variant.config == self.config:
            return
        self.engine = None
        # An override replaces a field whole, in the fields of transformers 5 as vLLM holds them.
        own, new = to_v5(self.source.config), to_v5(variant.config)
        changed = {key: value for key, value in new.items() if own.get(key) != value}
        self.engine = self.package.LLM(
            model=str(self.source.folder),
            dtype=self.dtype,
            hf_overrides=changed,
            # A window and the one token that vLLM adds to every prompt.
            max_model_len=self.longest + 2,
            tensor_parallel_size=self.cards,
            trust_remote_code=False,
            seed=0,
        )
        self.config = variant.config

    def verified_keys(self, variant: RopeVariant) -> tuple[str, ...]:
        """Return nothing. Raises ValueError where vLLM turns otherwise by this config than transformers does."""
        gap = vllm_transformers_difference_text(variant.config, self.longest)
        if gap:
            raise argument_error("--schemes", RuleText("eval_vllm", {}), gap)
        return ()

    def token_losses(self, tokens: Array) -> Array:
        """Return the loss of every token but the first: nats, float64 (n, length)."""
        return -np.array([[each.logprob for each in row] for row in self._given(tokens)], dtype=np.float64)

    def likeliest_token_mask(self, tokens: Array, last_count: int) -> Array:
        """Return which of the last tokens are the likeliest ones: 1 or 0, (n, last_count)."""
        return np.array([[float(each.rank == 1) for each in row[-last_count:]] for row in self._given(tokens)])

    def _given(self, tokens: Array) -> list[Sequence[Any]]:
        """Return what vLLM says of each token but the first: log-probability and rank."""
        rows = tokens.tolist()
        sampling = self.package.SamplingParams(max_tokens=1, temperature=0.0, prompt_logprobs=0, detokenize=False)
        answers = self.engine.generate([{"prompt_token_ids": row} for row in rows], sampling, use_tqdm=False)
        return [
            [given[token] for given, token in zip(answer.prompt_logprobs[1:], row[1:], strict=True)]
            for answer, row in zip(answers, rows, strict=True)
        ]


def load_vllm(source: ModelSource, dtype: str, longest: int, cards: int) -> LoadedModel:
    """Return a model that vLLM is to read, with its tokenizer; no weights are read yet.

    Args:
        source, dtype, longest, cards: as for ``VllmReader``.
    """
    reader = VllmReader(source, dtype, longest, cards)
    assert source.folder is not None
    return LoadedModel(source, reader, tokenizer_of(source.folder, source.name))
