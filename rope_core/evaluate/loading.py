"""A model from a folder, the hub or the lab, as transformers runs it: safetensors only, no code but the library's."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from rope_core.errors import argument_error
from rope_core.evaluate.texts import TextTokenizer
from rope_core.evaluate.variants import rope_variant_at_load, scalable_layer_types
from rope_core.hf.hub import download_model, is_model_id
from rope_core.hf.read import read_config
from rope_core.lab import cards
from rope_core.lab import weights as lab
from rope_core.lab.export import llama_config, llama_tensors
from rope_core.lab.train import CHECKPOINT
from rope_core.verification.arrays import FLOATS, SafetensorsEntry, list_safetensors_entries

PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
# What reads a quantisation, by quant_method: transformers 5.24, quantizers/quantizer_*.py, validate_environment.
_QUANTISERS = {
    "aqlm": "aqlm", "auto-round": "auto-round", "awq": "gptqmodel", "bitsandbytes": "bitsandbytes",
    "compressed-tensors": "compressed-tensors", "eetq": "kernels", "fbgemm_fp8": "fbgemm-gpu", "fp_quant": "fp_quant",
    "gptq": "gptqmodel", "higgs": "flute-kernel", "hqq": "hqq", "mxfp4": "kernels", "quanto": "optimum-quanto",
    "quark": "amd-quark", "sinq": "sinq", "spqr": "spqr_quant", "torchao": "torchao", "vptq": "vptq",
}  # fmt: skip
SPREAD = "spread"
"""In place of a device: all CUDA devices and the memory, layer by layer, as accelerate places them."""
DTYPES = ("auto", "float32", "bfloat16", "float16", "float64")


@dataclass(frozen=True, eq=False)
class ModelSource:
    """Where a model comes from, before anything of its size is read.

    Attributes:
        name: what to call it.
        config: its config.json, a dict.
        folder: of its files; None for a model of the lab, which ``state`` holds.
        numbers: how many numbers its weights have.
        stored: torch's name of their type.
        fingerprint: what tells these weights from others, see ``fingerprint``.
        state: the weights of a model of the lab.
    """

    name: str
    config: dict[str, Any]
    folder: Path | None
    numbers: int
    stored: str
    fingerprint: str
    state: Mapping[str, torch.Tensor] | None = None


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model of transformers on its device, or a reader of another program, with what turns text into its tokens."""

    source: ModelSource
    model: Any
    coder: TextTokenizer


def resolve_model_source(model: str) -> ModelSource:
    """Return where a model comes from: a folder, a hub id, shipped weights, or a folder of ``rope lab train``.

    Raises:
        ConfigError: on a config that cannot be read, or an id that cannot be fetched.
        ValueError: on a folder without safetensors, pickle files alone, code of its own, or no rotation.
    """
    if model in cards.weights_cards() or (Path(model) / CHECKPOINT).is_file():
        return _of_lab(model)
    path = Path(model)
    if not path.is_dir():
        if not is_model_id(model):
            raise argument_error("model", "eval_model", model, names=cards.weights_cards())
        path = download_model(model)
    files = safetensors_files(path)
    config = read_config(path)
    _refuse(config, path)
    at = rope_variant_at_load(config)
    scalable_layer_types(at.ropes)
    entries = [entry for file in files for entry in list_safetensors_entries(file, "model")]
    return ModelSource(model, config, path, *_measured(entries), fingerprint(files))


def safetensors_files(path: Path) -> list[Path]:
    """Return the safetensors files of a folder; raises ValueError where there is none."""
    files = sorted(path.glob("*.safetensors"))
    if not files:
        pickled = [file.name for pattern in PICKLES for file in sorted(path.glob(pattern))]
        if pickled:
            raise argument_error("model", "eval_pickled", pickled[0])
        raise argument_error("model", "eval_stored", str(path))
    return files


def _refuse(config: Mapping[str, Any], path: Path) -> None:
    """Refuse code of the checkpoint's own, and types that transformers does not know."""
    from transformers import CONFIG_MAPPING, __version__

    kind = config.get("model_type")
    if kind in CONFIG_MAPPING:
        return
    own = sorted(file.name for file in path.glob("*.py"))
    if config.get("auto_map") or own:
        raise argument_error("model", "eval_code", kind, file=own[0] if own else "auto_map")
    raise argument_error("model_type", "eval_class", kind, version=__version__)


def _of_lab(name: str) -> ModelSource:
    """Return a rotary model of the lab as a Llama of bytes, as ``rope lab export`` writes it."""
    model, recipe = lab.load_model_and_recipe(name)
    if model.shape.encoding != "rope":
        raise argument_error("model", "rotary_weights", name)
    state = llama_tensors(model)
    digest = hashlib.sha256(b"".join(value.numpy().tobytes() for value in state.values())).hexdigest()
    config = json.loads(json.dumps(llama_config(model.shape, recipe.request)))
    return ModelSource(name, config, None, sum(map(torch.numel, state.values())), "float32", digest, state)


def _measured(entries: list[SafetensorsEntry]) -> tuple[int, str]:
    """Return how many numbers tensors hold, and of which type most are."""
    by_type = Counter[str]()
    for entry in entries:
        by_type[entry.dtype] += entry.size
    most = max(by_type, key=lambda kind: by_type[kind], default="F32")
    if most not in FLOATS:
        raise argument_error("model", "eval_quantised", most)
    return by_type.total(), FLOATS[most]


def fingerprint(files: list[Path]) -> str:
    """Return a SHA-256 of each file's size, and of 65 blocks of 64 KiB spread over it, its beginning among them.

    A whole hash of a large model takes minutes; another training changes every block.
    """
    digest = hashlib.sha256()
    for file in files:
        size = file.stat().st_size
        digest.update(f"{file.name} {size}".encode())
        with file.open("rb") as opened:
            for block in _blocks(size):
                opened.seek(block)
                digest.update(opened.read(2**16))
    return digest.hexdigest()


def _blocks(size: int) -> Iterator[int]:
    step = max(2**16, size // 64)
    yield from range(0, size, step)


def load_model(source: ModelSource, device: str, dtype: str) -> LoadedModel:
    """Return the model on a device, ready to read, with its tokenizer.

    Args:
        source: as ``resolve_model_source`` gave it.
        device: "cpu", "cuda", "cuda:1", ..., or SPREAD.
        dtype: in DTYPES; "auto" is the type that the weights are stored in.

    Raises ValueError where the class is no causal model, or weights are missing.
    """
    from transformers import AutoConfig, AutoModelForCausalLM, LlamaForCausalLM
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    kind = getattr(torch, source.stored if dtype == "auto" else dtype)
    if source.state is not None:
        fields = {name: value for name, value in source.config.items() if name != "torch_dtype"}
        model = LlamaForCausalLM(AutoConfig.for_model(**fields))
        model.load_state_dict(source.state, strict=False)
        model.tie_weights()
        return LoadedModel(
            source,
            model.to("cpu" if device == SPREAD else device, kind).requires_grad_(False).eval(),
            TextTokenizer(list, unit="byte"),
        )
    assert source.folder is not None
    if device == SPREAD and not _is_installed("accelerate"):
        raise argument_error("--device-map", "eval_package", "auto", packages=["accelerate"])
    try:
        model, loading = AutoModelForCausalLM.from_pretrained(
            source.folder,
            dtype=kind,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
            **({"device_map": "auto"} if device == SPREAD else {}),
        )
    except ImportError as error:
        raise argument_error("model", "eval_package", source.name, packages=_packages(error, source.config)) from error
    except Exception as error:  # transformers computes with a config's values as they are, and tells nothing of them
        raise argument_error("model", "eval_causal", f"{source.name}: {_first_line(error)}") from error
    missing = sorted(loading["missing_keys"]) + sorted(str(key) for key in loading["mismatched_keys"])
    if missing:
        raise argument_error("model", "eval_missing", missing[0], count=len(missing))
    placed = model if device == SPREAD else model.to(device)
    return LoadedModel(source, placed.requires_grad_(False).eval(), tokenizer_of(source.folder, source.name))


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _packages(error: ImportError, config: Mapping[str, Any]) -> list[str]:
    """Return the packages that a model's quantisation and an ImportError ask for and this machine has not."""
    quantised = config.get("quantization_config")
    method = quantised.get("quant_method") if isinstance(quantised, Mapping) else None
    own = _QUANTISERS.get(str(method), "")
    named = re.search(r"pip3? install (?:-\S+ )*['\"`]?([\w.-]+)", str(error))
    missing = [error.name or (named[1] if named else _first_line(error))]
    return [*dict.fromkeys([own, *missing] if own and not _is_installed(own) else missing)]


def _is_installed(distribution: str) -> bool:
    """Return whether a distribution is installed."""
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def tokenizer_of(folder: Path, name: str) -> TextTokenizer:
    """Return a folder's tokenizer; raises ValueError where there is none that transformers can read."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:
        raise argument_error("model", "eval_tokenizer", f"{name}: {_first_line(error)}") from error

    def encode(text: bytes) -> list[int]:
        ids: list[int] = tokenizer(text.decode("utf-8", "replace"), add_special_tokens=False, verbose=False)[
            "input_ids"
        ]
        return ids

    letter = b"a"
    plain, begun = encode(letter), list(tokenizer(letter.decode())["input_ids"])
    at = next((i for i in range(len(begun)) if begun[i : i + len(plain)] == plain), 0)
    return TextTokenizer(encode, tuple(begun[:at]))
