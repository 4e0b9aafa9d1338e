"""Every rotary module of the installed transformers beside the config classes it is built from: the sweep's oracle."""

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import transformers

from tests.support import hf_live as hf_live  # turns transformers' warnings off

POSITIONS = (1, 2, 7, 300)
ROTARY = re.compile(r"Rotary|RoPE|Rope")
NOT_ROTARY = re.compile(r"PreTrained|Attention")
OF_IMAGES = re.compile(r"Vision|DINO|Dino|Sam3|Sapiens|LoFTR|MLCD|Pixtral|Eomt")


@dataclass(frozen=True)
class Subject:
    """A rotary module's class and a config class that its model builds it from."""

    module: type[Any]
    config: type[Any]

    @property
    def label(self) -> str:
        """Folder, module and config class in one name."""
        return f"{self.module.__module__.split('.')[2]}.{self.module.__name__}({self.config.__name__})"

    @property
    def axial(self) -> bool:
        """Whether the positions are rows and columns of an image."""
        return bool(OF_IMAGES.search(self.module.__name__))


def _modelling_files() -> Iterator[tuple[str, str]]:
    """Import path and text of each modelling file with a rotary module."""
    root = Path(transformers.__file__).parent / "models"
    for path in sorted(root.glob("*/modeling_*.py")):
        text = path.read_text()
        if re.search(r"^class \w*(Rotary|RoPE|Rope)\w*\(", text, re.MULTILINE):
            yield f"transformers.models.{path.parent.name}.{path.stem}", text


def _configs_of(file: ModuleType) -> list[type[Any]]:
    """Return the config classes that are defined beside a modelling file."""
    folder = Path(file.__file__ or "").parent
    classes = []
    for path in sorted(folder.glob("configuration_*.py")):
        beside = importlib.import_module(f"{file.__name__.rpartition('.')[0]}.{path.stem}")
        classes += [
            value
            for value in vars(beside).values()
            if inspect.isclass(value) and value.__module__ == beside.__name__ and hasattr(value, "model_type")
        ]
    return classes


def _annotated(module: type[Any]) -> set[str]:
    """Names in the annotation of the module's config argument."""
    parameters = inspect.signature(module.__init__).parameters
    return {
        word
        for name, parameter in parameters.items()
        if "config" in name
        for word in re.findall(r"\w+Config\b", str(parameter.annotation))
    }


@cache
def subjects() -> tuple[Subject, ...]:
    """Every pair of a rotary module of the wheel and a config class whose model could build it.

    A config class belongs to a module that names it in its signature; one that no module names, and that has rope
    parameters, belongs to every text module of its file.
    """
    written = []
    for name, _ in _modelling_files():
        file = importlib.import_module(name)
        modules = [
            value
            for key, value in vars(file).items()
            if inspect.isclass(value) and value.__module__ == name and ROTARY.search(key) and not NOT_ROTARY.search(key)
            if key not in hf_live.SINE_TABLES
        ]
        configs = _configs_of(file)
        named = {module: _annotated(module) for module in modules}
        for module in modules:
            mine = [config for config in configs if config.__name__ in named[module]]
            if not mine or not OF_IMAGES.search(module.__name__):
                claimed = set().union(*named.values())
                mine += [config for config in configs if config.__name__ not in claimed and _turns(config)]
            written += [Subject(module, config) for config in mine]
    return tuple(written)


def _turns(config: type[Any]) -> bool:
    """Whether a config class has rope parameters of text positions, or a base of its own."""
    try:
        written = config()
    except Exception:
        return False
    rope = getattr(written, "rope_parameters", None)
    own = hasattr(written, "rotary_embedding_base")
    return own or bool(rope and rope.get("rope_type") != "axial")


def built(subject: Subject, config: Any) -> Any:
    """Return the module built from a config object, or None where the class refuses it."""
    try:
        return subject.module(config)
    except Exception:
        return None


def buffers(module: Any, layer_type: str | None) -> npt.NDArray[np.float64]:
    """inv_freq that the module holds for a layer type, rad/token."""
    own = getattr(module, f"{layer_type}_inv_freq", None)
    held = getattr(module, "inv_freq", None) if own is None else own
    if held is None:
        held = next(value for key, value in module.named_buffers() if key.endswith("inv_freq"))
    return np.asarray(held.to(torch.float64).flatten().numpy())


def tables(module: Any, layer_type: str | None) -> Any:
    """Return what the module's forward returns at POSITIONS: (cos, sin), or complex numbers."""
    names = inspect.signature(module.forward).parameters
    x = torch.zeros(1, len(POSITIONS), 4)
    where = torch.tensor([POSITIONS])
    if "position_ids" not in names:
        # Speech conformers: (2, positions, 1, 1, width) for the whole input.
        return module.forward(torch.zeros(1, POSITIONS[-1] + 1, 4))[:, list(POSITIONS)]
    last = (layer_type,) if "layer_type" in names else ()
    try:
        return module.forward(x, where, *last)
    except (RuntimeError, IndexError, ValueError):
        return module.forward(x, where[None].expand(3, 1, -1), *last)


@cache
def rotations(file: str) -> tuple[Callable[..., Any], ...]:
    """Functions by which a modelling file's text classes turn q and k, indexers left out; interleaving ones first."""
    module = importlib.import_module(file)
    used: dict[str, None] = {}
    of_text = False
    for line in Path(module.__file__ or "").read_text().splitlines():
        if opened := re.match(r"(class|def) (\w+)", line):
            of_text = opened[1] == "class" and not re.search(f"{OF_IMAGES.pattern}|Indexer", opened[2])
        if of_text and (call := re.search(r"\b(apply_\w*(?:rot|rope)\w*)\(", line)) and "vision" not in call[1]:
            used[call[1]] = None
    return tuple(getattr(module, name) for name in sorted(used, key=lambda name: "interleave" not in name))


def turned(subject: Subject, config: Any, module: Any, layer_type: str | None, x: Any) -> Any:
    """``x`` (1, heads, len(POSITIONS), width) turned by the attention's own function at POSITIONS.

    Raises whatever the function raises where the width does not fit.
    """
    table = tables(module, layer_type)
    functions = rotations(subject.module.__module__)
    if not getattr(config, "rope_interleave", True):
        functions = functions[::-1]
    if not functions:
        return _by_halves(table, x)
    rotate = functions[0]
    names = inspect.signature(rotate).parameters
    if "freqs_cis" in names:  # one of the two takes heads before positions
        try:
            return rotate(x, x, table)[0]
        except (RuntimeError, AssertionError):
            return rotate(x.transpose(1, 2), x.transpose(1, 2), table)[0].transpose(1, 2)
    if "q" in names and "k" in names:
        return rotate(x, x, *table)[0]
    return rotate(x, *table)


def _by_halves(table: Any, x: Any) -> Any:
    """Turn by rotate_half, as speech conformers do in a method of their attention."""
    cos, sin = (part.reshape(len(POSITIONS), -1) for part in table)
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin
