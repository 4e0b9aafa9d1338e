"""The class's answers to one question, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from unicodedata import east_asian_width

from ui.figures.drawing import Drawing
from ui.figures.plot import bar_trace, plotly_axis, plotly_figure, text_annotation
from ui.film.colours import BLUE, GREEN, GREY
from ui.text.escape import escaped_figure_text
from ui.text.words import PageTexts

LETTERS = "ABCDEFGHIJ"
LINE = 84
ROW, LINE_HEIGHT = 62, 26
LABEL = {"xanchor": "left", "yanchor": "bottom", "align": "left", "font": {"size": 19}}


def _lines(text: str) -> list[str]:
    """Return the text in lines of at most LINE Latin letters' width; a Han character is as wide as two of them."""
    width = sum(1 + (east_asian_width(letter) in "WF") for letter in text)
    return wrap(text, LINE * len(text) // max(width, 1) or 1)


def vote_count_chart(votes: Sequence[int], choices: Sequence[str], answer: int | None, t: PageTexts) -> Drawing:
    """One bar per choice, the choice written above it; ``answer`` is the right one once it is out, else None."""
    texts = ["<br>".join(map(escaped_figure_text, _lines(text))) for text in choices]
    rows = [ROW + LINE_HEIGHT * (text.count("<br>") + 1) for text in texts]
    height = sum(rows)
    feet = [height - sum(rows[: k + 1]) + ROW / 2 for k in range(len(rows))]
    looks = [BLUE if answer is None else GREEN if k == answer else GREY for k in range(len(votes))]
    marks = ["" if k != answer else " ✓" for k in range(len(votes))]
    figure = plotly_figure(
        [
            bar_trace(
                list(votes),
                feet,
                looks,
                width=ROW * 0.5,
                orientation="h",
                text=[f"{count}{mark}" for count, mark in zip(votes, marks, strict=True)],
                textposition="outside",
                textfont={"size": 22},
                hoverinfo="skip",
                cliponaxis=False,
            )
        ],
        height=height + 16,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        annotations=[
            text_annotation(f"<b>{letter}</b>  {text}", 0, foot + ROW * 0.28, **LABEL)
            for letter, text, foot in zip(LETTERS, texts, feet, strict=False)
        ],
        xaxis=plotly_axis(visible=False, range=[0, 1.12 * max(*votes, 1)], fixedrange=True),
        yaxis=plotly_axis(visible=False, range=[0, height], fixedrange=True),
    )
    return Drawing(
        "tally",
        figure,
        vote_sentence(votes, answer, t),
        lambda: {"choice": list(choices), "votes": list(votes)},
        f"votes = {list(votes)!r}\nprint([vote / max(sum(votes), 1) for vote in votes])",
    )


def vote_sentence(votes: Sequence[int], answer: int | None, t: PageTexts) -> str:
    """Return the sentence under the bars: how many chose what, and how many were right."""
    total = sum(votes)
    if not total:
        return t("tally.nobody") + ("" if answer is None else t("tally.right_alone", letter=LETTERS[answer]))
    each = t("tally.comma").join(f"{letter} {count}" for letter, count in zip(LETTERS, votes, strict=False))
    sentence = t("tally.one" if total == 1 else "tally.many", total=total, each=each)
    if answer is None:
        return sentence
    share = f"{100 * votes[answer] / total:.0f}"
    return sentence + t("tally.right", letter=LETTERS[answer], count=votes[answer], total=total, share=share)
