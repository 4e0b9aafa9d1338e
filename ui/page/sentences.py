"""Notes and refusals as sentences in the page's language, with nothing foreign that markup could act on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rope_core import errors
from ui.text.escape import escaped_markdown
from ui.text.words import PageTexts, number_text
from ui.work.session import IncompatibleValues


def refusal_sentence(error: Exception, t: PageTexts) -> str:
    """Return why values are refused, in the language of ``t``."""
    return (
        t(error.key, **error.given) if isinstance(error, IncompatibleValues) else errors.error_sentence(error, t.lang)
    )


def escaped_label(key: str, given: Mapping[str, Any], t: PageTexts) -> str:
    """Return the label ``key`` with its slots filled.

    A ``rule`` is a text key whose slots are ``low`` and ``high``, a ``field`` gives a ``label`` as well, and an
    ``error`` the ``detail``; everything else is foreign text.
    """
    bounds = {name: number_text(given[name]) for name in ("low", "high") if name in given}
    words = {
        name: escaped_markdown(value, 300) for name, value in given.items() if name not in ("rule", "error", *bounds)
    }
    words |= bounds
    if "rule" in given:
        words["rule"] = t(given["rule"], **bounds)
    if "field" in given:
        name = f"field.{given['field']}"
        words["label"] = t(name) if t.has_label(name) else words["field"]
    if "error" in given:
        words["detail"] = escaped_markdown(refusal_sentence(given["error"], t), 400)
    return t(key, **words)
