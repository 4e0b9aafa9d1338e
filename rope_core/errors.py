"""Errors with structure: the argument, the rule that its value breaks, the value.

``argument_error("dim", "at_least", 7, low=8)`` builds an error with ``.argument``, ``.rule`` and ``.value``;
``str(error)`` is the English sentence ``dim must be at least 8, got 7`` and ``error.sentence("zh")`` the Chinese one,
made where it is shown. A rule is a key of rope_core/text/<lang>/errors.toml, with its slots as keywords; what no
visitor of the app can meet may be English text instead of a key.

Two classes: ``ArgumentError`` for a bad argument and ``ConfigError`` for a config, both a ValueError. A ConfigError may
also be a whole sentence: ``ConfigError.from_key("hub_login", repository="org/name")``, or free English text
``ConfigError("the tape is full")``. A caller that shows one catches ValueError and shows
``error_sentence(error, lang)``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Self

from rope_core.languages import words


@dataclass(frozen=True)
class RuleText:
    """A key of errors.toml with the values of its slots, or free English text.

    >>> str(RuleText("int_range", {"low": 1, "high": 8})), RuleText("int_range", {"low": 1, "high": 8}).text("zh")
    ('an integer in [1, 8]', '[1, 8] 内的整数')
    """

    key: str
    slots: Mapping[str, object] = field(default_factory=dict)

    def text(self, lang: str = "en") -> str:
        """Return the rule in a language; free text stays as it is. Raises ValueError on a language that is none."""
        texts = words(lang, "errors")
        text: str | None = texts["rule"].get(self.key, texts["sentence"].get(self.key))
        if text is None:
            if self.slots:
                raise KeyError(self.key)
            return self.key
        return text.format_map({name: _slot(value, lang) for name, value in self.slots.items()})

    def __str__(self) -> str:
        return self.text()


def _slot(value: object, lang: str) -> object:
    if isinstance(value, RuleText):
        return value.text(lang)
    items: str = words(lang, "language")["items"]
    return items.join(map(str, value)) if isinstance(value, list | tuple | dict) else value


class ArgumentError(ValueError):
    """A value that breaks a rule; ``argument`` alone is a whole sentence in English.

    Attributes:
        argument: the argument's name; "" where the rule is a whole sentence.
        rule: the Rule, None for free text.
        value: what was given.
    """

    def __init__(
        self, argument: str, rule: RuleText | str | None = None, value: object = None, /, **slots: object
    ) -> None:
        self.argument, self.value = argument, value
        self.rule = RuleText(rule, slots) if isinstance(rule, str) else rule
        super().__init__(argument, self.rule, value)

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, lang: str = "en") -> str:
        """Return the error in a language: argument, rule, value. Raises ValueError on a language that is none.

        >>> argument_error("base", "finite_above", 0.5, low=1).sentence("zh")
        'base 要求：大于 1 的有限数，实际为 0.5'
        """
        if self.rule is None:
            return self.argument
        rule = self.rule.text(lang)
        frame: str = words(lang, "language")["error"] if self.argument else "{rule}"
        return frame.format(argument=self.argument, rule=rule, value=shortened_repr(self.value))


class ConfigError(ArgumentError):
    """A model config that cannot be read.

    Attributes:
        path: the config's field, dotted, where ``argument`` is a quantity derived from it; else "".
    """

    path = ""

    @classmethod
    def from_key(cls, key: str, /, **slots: object) -> Self:
        """Build the error whose sentence is an entry of errors.toml."""
        return cls("", key, **slots)

    @classmethod
    def for_field(cls, path: str, error: ArgumentError) -> Self:
        """Build the config's error from one on a quantity that the field ``path`` decides.

        >>> str(ConfigError.for_field("rope_scaling", argument_error("dim", "at_least", 2, low=4)))
        'rope_scaling: dim must be at least 4, got 2'
        """
        error_at = cls(error.argument, error.rule, error.value)
        error_at.path = path
        return error_at

    def sentence(self, lang: str = "en") -> str:
        """Return the error in a language, after the field that it concerns."""
        return f"{self.path}: {super().sentence(lang)}" if self.path else super().sentence(lang)


def error_sentence(error: Exception, lang: str) -> str:
    """Return any error in a language; one without structure keeps its own text.

    >>> error_sentence(ValueError("too late"), "zh")
    'too late'
    """
    return error.sentence(lang) if isinstance(error, ArgumentError) else str(error)


def shortened_repr(value: object, limit: int = 80) -> str:
    """Return ``repr(value)`` in one line cut to ``limit`` characters, so that no message drowns in its value."""
    text = " ".join(repr(value).split()) if hasattr(value, "shape") else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def argument_error(argument: str, rule: RuleText | str, value: object, /, **slots: object) -> ArgumentError:
    """Build the error for a bad argument.

    Args:
        argument: its name.
        rule: a key of errors.toml, or English text that completes "<argument> must be".
        value: what was given.
        slots: the values of the rule's slots.

    >>> print(argument_error("dim", "an even integer >= 2", 7))
    dim must be an even integer >= 2, got 7
    >>> print(argument_error("head", "int_range", 9, low=0, high=7))
    head must be an integer in [0, 7], got 9
    """
    return ArgumentError(argument, rule, value, **slots)


def checked_finite(argument: str, value: object, rule: RuleText | str = "finite_number", /, **slots: object) -> float:
    """Return ``value`` as float, or raise ValueError when it is no finite real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise argument_error(argument, rule, value, **slots)
    try:
        number = float(value)
    except OverflowError:
        raise argument_error(argument, rule, value, **slots) from None
    if not math.isfinite(number):
        raise argument_error(argument, rule, value, **slots)
    return number


def checked_int(argument: str, value: object, minimum: int, maximum: int) -> int:
    """Return ``value`` as int, or raise ValueError when it is no integer in [low, high]."""
    rule = RuleText("int_range", {"low": minimum, "high": maximum})
    if isinstance(value, bool):
        raise argument_error(argument, rule, value)
    if isinstance(value, Integral):
        number = int(value)
    else:
        given = checked_finite(argument, value, rule)
        if not given.is_integer():
            raise argument_error(argument, rule, value)
        number = int(given)
    if not minimum <= number <= maximum:
        raise argument_error(argument, rule, value)
    return number
