"""The sentence on how a class answered one question."""

from __future__ import annotations

from collections.abc import Sequence

from ui.text.words import PageTexts

LETTERS = "ABCDEFGHIJ"


def vote_sentence(votes: Sequence[int], answer: int | None, t: PageTexts) -> str:
    """Return how many chose what; with ``answer``, the index of the right choice, also how many were right."""
    total = sum(votes)
    if not total:
        return t("tally.nobody") + ("" if answer is None else t("tally.right_alone", letter=LETTERS[answer]))
    each = t("tally.comma").join(f"{letter} {count}" for letter, count in zip(LETTERS, votes, strict=False))
    sentence = t("tally.one" if total == 1 else "tally.many", total=total, each=each)
    if answer is None:
        return sentence
    share = f"{100 * votes[answer] / total:.0f}"
    return sentence + t("tally.right", letter=LETTERS[answer], count=votes[answer], total=total, share=share)
