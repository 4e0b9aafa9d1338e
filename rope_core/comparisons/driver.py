"""Call somebody's function as it wants to be called. This text runs apart, beside numpy alone, after SOURCE, NAME and MORE.

A function takes (dim, base, train_len, factor), with seq_len or length where it follows the length, or as those of
transformers' modeling_rope_utils (config, device, seq_len, layer_type). Its torch is a small substitute.
"""

# ruff: noqa
# mypy: ignore-errors
import importlib.abc
import importlib.util
import inspect
import math
import sys
import types
import typing

import numpy as np


class Tensor(np.ndarray):
    def to(self, *given, dtype=None, **more):
        kinds = [each for each in (*given, dtype) if isinstance(each, type) and issubclass(each, np.generic)]
        return _cast(self, kinds[0]).view(Tensor) if kinds else self

    def float(self):
        return self.astype(np.float32)

    def double(self):
        return self.astype(np.float64)

    def half(self):
        return self.astype(np.float16)

    def bfloat16(self):
        return self.to(bfloat16)

    def numpy(self):
        return np.asarray(self)

    def __truediv__(self, other):
        return np.true_divide(
            _single(np.asarray(self)), np.asarray(other) if isinstance(other, Tensor) else other
        ).view(Tensor)

    detach = cpu = contiguous = clone = lambda self: self


class bfloat16(np.generic):
    """A type of which numpy has none: its numbers are kept in float32."""


def _cast(x, kind):
    if kind is not bfloat16:
        return x.astype(kind)
    bits = np.asarray(x, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def _single(x):
    return x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype.kind in "iub" else x


def _tensor(function):
    def call(*given, device=None, dtype=None, dim=None, **more):
        more = more if dim is None else {**more, "axis": dim}
        answer = np.asarray(function(*given, **more))
        if dtype is not None:
            answer = _cast(answer, dtype)
        elif answer.dtype == np.float64 and not any(isinstance(x, np.ndarray) and x.dtype == np.float64 for x in given):
            answer = answer.astype(np.float32)
        return answer.view(Tensor)

    return call


class Torch(types.ModuleType):
    pi, inf, Tensor = math.pi, math.inf, Tensor
    float = float32 = np.float32
    double = float64 = np.float64
    half = float16 = np.float16
    bfloat16 = bfloat16
    int = int32 = np.int32
    long = int64 = np.int64
    device = str

    def __getattr__(self, name):
        names = {"tensor": "asarray", "as_tensor": "asarray", "clamp": "clip", "cat": "concatenate", "pow": "power"}
        if name.startswith("__"):
            raise AttributeError(name)
        if not callable(getattr(np, names.get(name, name), None)):
            raise AttributeError(f"torch.{name} is not in what stands in for torch here")
        return _tensor(getattr(np, names.get(name, name)))


class Parameters(dict):
    def __missing__(self, key):
        raise KeyError(f"{key} is not in the config that is given here: compare at a model that states it")


class Config:
    def __init__(self, dim, base, train_len, factor, more, max_len=0):
        self.head_dim = self.hidden_size = dim
        self.num_attention_heads = 1
        more = dict(more)
        # As configs state it: the length that the factor reaches; 0 is the trained one, as a dynamic scheme has it.
        reach = more.pop("reach", 1)
        self.max_position_embeddings = max_len or round(train_len * (factor * reach or 1))
        self.original_max_position_embeddings = train_len
        self.rope_theta = base
        self.rope_parameters = Parameters(rope_theta=base, factor=factor, original_max_position_embeddings=train_len)
        self.rope_parameters.update(low_freq_factor=1.0, high_freq_factor=4.0)
        self.rope_parameters.update(more)
        self.rope_scaling = self.rope_parameters

    def standardize_rope_params(self):
        pass

    @property
    def per_layer_config(self):
        raise ValueError("layers are alike")


class Beside(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import the texts of files beside the function's, or in its package; a package around it is empty."""

    def __init__(self, texts, name):
        self.texts, packages = texts, [*texts, name]
        self.packages = {each.rpartition(".")[0] for each in packages if "." in each}

    def find_spec(self, name, path=None, target=None):
        if name in self.texts or name in self.packages:
            return importlib.util.spec_from_loader(name, self, is_package=name in self.packages)

    def exec_module(self, module):
        name = module.__name__
        exec(compile(self.texts.get(name, ""), name + ".py", "exec", dont_inherit=True), module.__dict__)


torch = Torch("torch")
_own = {"np": np, "numpy": np, "math": math, "torch": torch, "Optional": typing.Optional, "__name__": "student"}
if "SOURCE" in globals():
    sys.modules["torch"] = torch
    sys.meta_path.append(Beside(*BESIDE))
    _own["__package__"] = BESIDE[1].rpartition(".")[0]
_before = set(_own)
if "SOURCE" in globals():
    try:
        exec(compile(SOURCE, "mine.py", "exec", dont_inherit=True), _own)
    except ImportError:
        # A module of a package that is not here: what the function itself needs may be.
        if not NEEDED:
            raise
        exec(compile(NEEDED, "mine.py", "exec", dont_inherit=True), _own)


def _chosen():
    """The function named, else the last public one whose first argument is a width or a config."""
    if NAME:
        return _own[NAME]
    written = {name: each for name, each in _own.items() if name not in _before and inspect.isfunction(each)}
    written = {name: each for name, each in written.items() if each.__code__.co_filename == "mine.py"}
    fits = [n for n, f in written.items() if list(inspect.signature(f).parameters)[:1] in (["dim"], ["config"])]
    if fits:
        return _own[([name for name in fits if not name.startswith("_")] or fits)[-1]]
    raise ValueError("no function of (dim, base, train_len, factor) or of (config, device, seq_len)")


def arguments():
    """Return whether the function takes dim, base, train_len, factor, and a length."""
    takes = set(inspect.signature(_chosen()).parameters)
    if "config" in takes:
        takes |= {"dim", "base", "train_len", "factor"}
    return np.asarray(
        [bool(takes & each) for each in ({"dim"}, {"base"}, {"train_len"}, {"factor"}, {"seq_len", "length"})]
    )


def all_frequencies(dims, bases, train_lens, factors, seq_lens, max_lens):
    """Return the answers to several calls at once: (calls, most pairs), 0 past each one's, and the factors (calls,).

    Raises where one of them is no answer: each call is then to be made by itself.
    """
    calls = zip(dims, bases, train_lens, factors, seq_lens, max_lens)
    answers = [frequencies(int(d), float(b), int(n), float(s), int(m), int(k)) for d, b, n, s, m, k in calls]
    if any(f.shape != (d // 2,) or f.dtype.kind not in "fiu" for d, (f, _) in zip(dims, answers)):
        raise ValueError("an answer is not inv_freq")
    most = max(dims) // 2
    return np.stack([np.pad(f.astype(np.float64), (0, most - f.size)) for f, _ in answers]), np.asarray(
        [a for _, a in answers]
    )


def frequencies(dim, base, train_len, factor, seq_len, max_len=0):
    """Return what the function answers, (pairs,), and its attention factor, 1 where it gives none.

    ``max_len``: max_position_embeddings of a config; 0 for the length that the factor reaches.
    """
    answer = call_scheme(_chosen(), dim, base, train_len, factor, seq_len, MORE, max_len)
    if not isinstance(answer, tuple):
        answer = (answer, 1.0)
    if np.iscomplexobj(answer[0]):
        raise ValueError("inv_freq must be real, got a negative number to a power")
    return np.asarray(answer[0]), float(answer[1])


def call_scheme(function, dim, base, train_len, factor, seq_len, more, max_len=0):
    """Return what a function answers that takes these by name, or a config, device and seq_len as in transformers."""
    given = {"dim": dim, "base": base, "train_len": train_len, "factor": factor, "seq_len": seq_len, "length": seq_len}
    takes = inspect.signature(function).parameters
    if next(iter(takes)) == "config":
        return function(Config(dim, base, train_len, factor, more, max_len), None, seq_len)
    unknown = [n for n, p in takes.items() if n not in given and p.default is p.empty and p.kind < 2]
    if unknown:
        raise ValueError("an argument has no meaning here: " + unknown[0])
    return function(**{name: given[name] for name in takes if name in given})
