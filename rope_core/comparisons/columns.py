"""What may be compared: shipped schemes, configs and models, frequencies, and functions of one's own, run apart."""

from __future__ import annotations

import contextlib
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.checks.check import check
from rope_core.comparisons import driver
from rope_core.comparisons.source import (
    function_name,
    imported_modules,
    module_name,
    named_or_last_function,
    needed_text,
    public_names,
    takes_config,
)
from rope_core.errors import ArgumentError, argument_error
from rope_core.findings import Finding
from rope_core.hf.catalogue import ReleasedModel, released_models
from rope_core.hf.resolve import resolve, ropes_of
from rope_core.hf.ropes import HfRope
from rope_core.programs.engines import EngineResult, engines
from rope_core.rope import Array, Rope
from rope_core.schemes import SCHEMES, UNSCALED
from rope_core.spectrum import Request, spectrum
from rope_core.verification.arrays import list_safetensors_entries, read_arrays

FrequenciesAndFactor = tuple[Array, float]
ARGUMENTS = ("dim", "base", "train_len", "factor", "seq_len")
SECONDS = 20.0
NUMBERS = (".csv", ".safetensors", ".npy")
STEPS = ("llama3_no_blend", "ramp_is_a_step")
"""Notes of the config check on a ramp of no width: meant in a released model, a slip in another config."""


@dataclass(frozen=True, eq=False)
class ComparisonColumn:
    """One thing to compare.

    Attributes:
        name: what it is called.
        at: (rope, factor, length) -> frequencies (pairs,) rad/token and the attention factor.
        stated: the scheme of its config with the parameters in force; "" and {} where there is none.
        rope: its own geometry; None where it takes the setting's.
        length: its own target, tokens; None likewise.
        factor: its own factor; None likewise.
        trained: tokens that its training covered, where its config leaves them out and its card states them.
        expected: factor -> the attention factors that a source gives, with the sources' names; None asks for none.
        breaks: keys of the checks that it is known not to hold, by design.
        takes: which of ARGUMENTS it reads; None for numbers.
        programs: what the programs that run it compute; None where there is no config.
        findings: errors and warnings of the config check; None likewise.
        known: keys of findings that the released model has as well, which turns alike.
        released: that model's id, trained with its scheme; "" where there is none.
        source: where it is from, or "".
        alike: the shipped scheme whose frequencies a function has, or is to have; "" for none.
        code: the text of a function, or "".
        file: where that function is; None where it is in no file.
        function: its name there, or "".
        at_max: of a function of a config: ``at`` with max_position_embeddings besides, tokens; None of any other.
        config_fields: fields of rope_parameters that its config is given, and "reach": max_position_embeddings over
            factor times the trained length, 0 where it is the trained length.
    """

    name: str
    at: Callable[[Rope, float, int], FrequenciesAndFactor]
    stated: tuple[str, Mapping[str, Any]] = ("", MappingProxyType({}))
    rope: Rope | None = None
    length: int | None = None
    factor: float | None = None
    trained: int | None = None
    expected: Callable[[Rope, float], Mapping[str, float]] | None = None
    breaks: frozenset[str] = frozenset()
    takes: tuple[str, ...] | None = None
    programs: tuple[EngineResult, ...] | None = None
    findings: tuple[Finding, ...] | None = None
    known: frozenset[str] = frozenset()
    released: str = ""
    source: str = ""
    alike: str = ""
    code: str = field(default="", repr=False)
    file: Path | None = None
    function: str = ""
    at_max: Callable[[Rope, float, int, int], FrequenciesAndFactor] | None = None
    config_fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_numbers(self) -> bool:
        """Whether it is frequencies alone, which follow nothing and have no attention factor."""
        return self.takes is None and not self.source


@dataclass(frozen=True)
class UnreadableColumn:
    """What cannot be read or run: what it is called, and why."""

    name: str
    error: ValueError


def of_scheme(name: str) -> ComparisonColumn:
    """Return a shipped scheme as a column; ValueError on an unknown name."""
    chosen = SCHEMES[name]
    takes_factor = any(param.name == "factor" for param in chosen.params)

    def at(rope: Rope, factor: float, length: int) -> FrequenciesAndFactor:
        params = {"factor": factor} if takes_factor else {}
        answer = spectrum(Request(rope, name, params, length))
        return answer.inv_freq, answer.attention_factor

    def expected(rope: Rope, factor: float) -> Mapping[str, float]:
        return {chosen.source: at(rope, factor, rope.train_len + 1)[1]}

    takes = ARGUMENTS if chosen.follows_length else ARGUMENTS[:4]
    return ComparisonColumn(name, at, expected=expected, breaks=chosen.breaks, takes=takes, source=chosen.source)


def of_config(name: str, config: object) -> ComparisonColumn:
    """Return a config as a column: the layer type with the longest reach that turns.

    Raises ConfigError on what cannot be read.
    """
    chosen = _turning_rope(config)
    if chosen is None:
        raise argument_error("config", "one with layers that rotate", name)
    length = max(chosen.max_len or 0, chosen.train_len)
    stated = chosen.params.get("factor")
    factor = max(length / chosen.train_len, float(stated) if isinstance(stated, int | float) else 1.0)

    def at(rope: Rope, other: float, length: int) -> FrequenciesAndFactor:
        params = chosen.params
        if isinstance(stated, int | float) and other != factor:
            params = {**params, "factor": stated * other / factor}
        answer = spectrum(Request(rope, chosen.scheme, params, length))
        return answer.inv_freq, answer.attention_factor

    def expected(rope: Rope, factor: float) -> Mapping[str, float]:
        # A factor that the config states is measured against the one that the scheme gives by itself.
        params = {key: value for key, value in chosen.params.items() if key != "attention_factor"}
        given = spectrum(
            Request(rope, chosen.scheme, params | ({"factor": factor} if "factor" in params else {}), length)
        )
        return {SCHEMES[chosen.scheme].source: given.attention_factor}

    released, findings = _released_alike(config, chosen), _faults(config)
    return ComparisonColumn(
        name,
        at,
        (chosen.scheme, {key: value for key, value in chosen.params.items() if value is not None}),
        chosen.request.rope,
        length,
        factor,
        next((int(str(each.values["card"])) for each in findings if each.key == "recipe_differs"), None),
        expected,
        SCHEMES[chosen.scheme].breaks,
        programs=tuple(each for each in engines(config, chosen.layer_type) if each.difference is not None),
        findings=findings,
        known=frozenset(each.key for each in _faults(released.hf_config())) if released else frozenset(),
        released=released.id if released else "",
        source=SCHEMES[chosen.scheme].source,
    )


def _turning_rope(config: object) -> HfRope | None:
    """Return the layer type that is looked at: one that is scaled, where there is one; None where none rotates."""
    ropes = [rope for rope in ropes_of(config).values() if not rope.nope]
    return max(ropes, key=lambda rope: rope.scheme != UNSCALED, default=None)


def _faults(config: object) -> tuple[Finding, ...]:
    """Return the findings that count, errors first: they say more exactly what to change."""
    each = (each for each in check(config) if each.severity != "note" or each.key in STEPS)
    return tuple(sorted(each, key=lambda finding: finding.severity != "error"))


def _released_alike(config: object, rope: HfRope) -> ReleasedModel | None:
    """Return a model of the catalogue of the same type that turns alike, trained and longest length included."""
    kind = resolve(config).raw.get("model_type")
    for model in released_models():
        given = model.hf_config()
        other = _turning_rope(given) if given.get("model_type") == kind else None
        if other is not None and _alike(rope) == _alike(other) and np.array_equal(rope.inv_freq, other.inv_freq):
            return model
    return None


def _alike(rope: HfRope) -> tuple[object, ...]:
    return rope.scheme, rope.train_len, rope.max_len, rope.attention_factor


def of_numbers(name: str, inv_freq: object) -> ComparisonColumn:
    """Return frequencies, (pairs,) rad/token, as a column of numbers that follow nothing, without attention factor."""
    values = np.asarray(inv_freq, dtype=np.float64).reshape(-1)
    if not values.size or not np.issubdtype(np.asarray(inv_freq).dtype, np.number):
        raise argument_error("inv_freq", "a non-empty vector of numbers", inv_freq)

    def at(rope: Rope, factor: float, length: int) -> FrequenciesAndFactor:
        if values.size != rope.pairs:
            raise argument_error("inv_freq", f"of {rope.pairs} pairs, as the model has", values.size)
        return values, 1.0

    return ComparisonColumn(name, at)


def program(code: str, function: str = "", more: Mapping[str, Any] | None = None, file: Path | None = None) -> str:
    """Return a function's text with what calls it: ``arguments()`` and ``frequencies(...)`` of driver.py.

    ``file``: where the text is from; what it imports beside it goes along.
    """
    beside = ({}, "") if file is None else (imported_modules(file), module_name(file))
    name = function or function_name(code)
    needed = needed_text(code, name) if file is not None and name else ""
    given = {"SOURCE": code, "NEEDED": needed, "NAME": name, "MORE": dict(more or {}), "BESIDE": beside}
    # Lines that errors name are the function's: what calls it is another file's.
    text = f"compile({inspect.getsource(driver)!r}, 'driver.py', 'exec', dont_inherit=True)"
    return f"globals().update({given!r})\nexec({text}, globals())"


@contextlib.contextmanager
def of_code(
    name: str, code: str, function: str = "", more: Mapping[str, Any] | None = None, file: Path | None = None
) -> Iterator[ComparisonColumn]:
    """Yield a function of somebody's as a column, while the process that runs it lives.

    Args:
        name: what the column is called.
        code: Python text; the last function of a known signature counts, unless ``function`` names one.
        more: fields of rope_parameters for a function that takes a config, as modeling_rope_utils of transformers do.
        file: where the text is from, whose neighbours it may import.

    Raises ValueError on code that is no Python, raises, or answers something else; the message is one sentence.
    """
    from rope_core.grade.process import isolated_functions
    from rope_core.grade.result import check_python_syntax

    check_python_syntax(code, name)
    with isolated_functions(program(code, function, more, file), SECONDS) as call:
        flags = np.asarray(call("arguments")).reshape(-1)

        def at(rope: Rope, factor: float, length: int, max_len: int = 0) -> FrequenciesAndFactor:
            given = rope.dim, float(rope.base), rope.train_len, float(factor), int(length), int(max_len)
            return as_answer(call("frequencies", *given), rope)

        takes = tuple(each for each, is_taken in zip(ARGUMENTS, flags, strict=True) if is_taken)
        yield of_function(name, at, takes, code, function, more)


def of_function(
    name: str,
    at: Callable[[Rope, float, int, int], FrequenciesAndFactor],
    takes: tuple[str, ...],
    code: str,
    function: str = "",
    more: Mapping[str, Any] | None = None,
) -> ComparisonColumn:
    """Return a function that runs apart as a column; ``at`` takes max_position_embeddings besides, 0 as usual."""
    at_max = at if takes_config(code, function) else None
    fields = dict(more or {}) if at_max else {}
    own = function or function_name(code)
    return ComparisonColumn(
        name, partial(_as_usual, at), takes=takes, code=code, function=own, at_max=at_max, config_fields=fields
    )


def _as_usual(at: Callable[..., FrequenciesAndFactor], rope: Rope, factor: float, length: int) -> FrequenciesAndFactor:
    return at(rope, factor, length, 0)


def of_callable(name: str, function: Callable[..., Any]) -> ComparisonColumn:
    """Return the caller's own function of (dim, base, train_len, factor[, seq_len]), run in this process."""
    names = tuple(inspect.signature(function).parameters)
    unknown = [each for each in names if each not in (*ARGUMENTS, "length")]
    if unknown:
        raise argument_error(name, "a function of (dim, base, train_len, factor) and perhaps seq_len", names)

    def at(rope: Rope, factor: float, length: int) -> FrequenciesAndFactor:
        values = (rope.dim, rope.base, rope.train_len, factor, length)
        given = {**dict(zip(ARGUMENTS, values, strict=True)), "length": length}
        try:
            answer = function(**{each: given[each] for each in names})
        except Exception as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error
        return as_answer(answer if isinstance(answer, tuple) else (answer, 1.0), rope)

    takes = tuple(each for each in ARGUMENTS if each in names or (each == "seq_len" and "length" in names))
    code, file, own = "", None, getattr(function, "__qualname__", "")
    with contextlib.suppress(OSError, TypeError):
        code, file = textwrap.dedent(inspect.getsource(function)), Path(inspect.getfile(function))
    if not own.isidentifier():
        file, own = None, ""
    return ComparisonColumn(name, at, takes=takes, code=code, file=file, function=own)


def as_answer(answer: Any, rope: Rope) -> FrequenciesAndFactor:
    """Return frequencies and attention factor of what a function gave; ValueError on anything else."""
    if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[1], int | float):
        raise argument_error("the function's answer", "inv_freq or (inv_freq, attention_factor)", answer)
    values = np.asarray(answer[0])
    if values.dtype.kind == "c":
        raise argument_error("inv_freq", "real", "a negative number to a power")
    if values.shape != (rope.pairs,) or values.dtype.kind not in "fiu":
        raise InvFreqShapeError("inv_freq", f"numbers of shape ({rope.pairs},)", values.shape)
    return values.astype(np.float64), float(answer[1])


class InvFreqShapeError(ArgumentError):
    """An answer that is no array of one number for each pair; its shape is ``value``."""


Opening = tuple[str, Callable[[], contextlib.AbstractContextManager[ComparisonColumn]]]
"""What a column is called, and what opens it; ValueError where it cannot be read."""


def column_openings(given: object, more: Mapping[str, Any]) -> Iterator[Opening]:
    """Yield the columns of a Column, a scheme's or model's name, a path, a config, numbers or a function.

    A file of Python is a column for each of its public functions, to whose config ``more`` goes.
    """
    now = contextlib.nullcontext[ComparisonColumn]
    if isinstance(given, ComparisonColumn):
        yield given.name, lambda: now(given)
    elif isinstance(given, str | Path):
        yield from _named(str(given), more)
    elif isinstance(given, Mapping) or hasattr(given, "to_dict"):
        yield "config", lambda: now(of_config("config", given))
    elif callable(given):
        name = getattr(given, "__name__", "function")
        yield name, lambda: now(of_callable(name, given))
    else:
        yield "inv_freq", lambda: now(of_numbers("inv_freq", given))


def _named(name: str, more: Mapping[str, Any]) -> Iterator[Opening]:
    """Yield the columns of the name of a scheme, a model of the catalogue, or a file, FILE.py:FUNCTION among them."""
    now = contextlib.nullcontext[ComparisonColumn]
    ids = {model.id: model for model in released_models()}
    path, _, only = name.partition(".py:")
    file = Path(path + ".py" if only else name)
    short = file.name if file.name != "config.json" else f"{file.resolve().parent.name}/{file.name}"
    if name in SCHEMES:
        yield name, lambda: now(of_scheme(name))
    elif name in ids:
        yield name, lambda: now(of_config(name, ids[name].hf_config()))
    elif file.suffix == ".py" and file.is_file():
        code = file.read_text(encoding="utf-8-sig", errors="replace")
        for function in [only] if only else public_names(code) or [""]:
            title = f"{file.name}:{function}" if function else file.name
            yield title, partial(_of_file, title, file, code, function, more)
    elif file.is_file() and (file.suffix in NUMBERS or (file.suffix == ".json" and file.read_bytes()[:1] == b"[")):
        yield name, lambda: now(of_numbers(file.stem, numbers_of(file)))
    elif file.exists():
        yield name, lambda: now(of_config(short, file))
    else:
        yield name, partial(_no_column, name, nearest_names(name, [*SCHEMES, *ids]))


def _no_column(name: str, names: list[str]) -> contextlib.AbstractContextManager[ComparisonColumn]:
    raise argument_error("column", "column_near", name, names=names)


@contextlib.contextmanager
def _of_file(name: str, file: Path, code: str, function: str, more: Mapping[str, Any]) -> Iterator[ComparisonColumn]:
    if function and named_or_last_function(code, function) is None and public_names(code):
        raise argument_error("function", "one_of", function, names=public_names(code))
    with of_code(name, code, function, more, file) as column:
        yield replace(column, file=file)


def nearest_names(name: str, known: Iterable[str]) -> list[str]:
    """Return the three known names most like a mistaken one, those that begin with it first.

    >>> nearest_names("Mistral-7B", ["mistral-4", "mistral-7b-v0.1", "yarn"])
    ['mistral-7b-v0.1', 'mistral-4']
    """
    each = list(known)
    given = name.rpartition("/")[2].lower()
    longer = [other for other in each if given and other.startswith(given)]
    return [*dict.fromkeys([*longer, *get_close_matches(given, each, 3, 0.5)])][:3] or each[:3]


def numbers_of(file: Path) -> npt.NDArray[Any]:
    """Return the frequencies of a file .csv, .safetensors, .npy or .json; ValueError on what holds none."""
    if file.suffix == ".csv":
        return np.loadtxt(file, delimiter=",", max_rows=2**16).reshape(-1)
    if file.suffix == ".safetensors":
        buffers = list_safetensors_entries(file, "column", lambda key: key.endswith("inv_freq"))
        if not buffers:
            raise argument_error("column", "a file with a buffer inv_freq", str(file))
        return buffers[0].read()
    return np.asarray(read_arrays(str(file), ["inv_freq"], "inv_freq")["inv_freq"])
