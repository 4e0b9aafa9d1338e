"""The extrapolation page's film."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rope_core.lab import records
from tests.support.films import FilmRow, to_draw
from ui.figures.extrapolation import lead, letters, longer
from ui.text.words import Words
from ui.work import extrapolated

AT = 1500
FOUND = extrapolated.seen_shipped("sweep"), extrapolated.seen_shipped("bytes")
assert FOUND[0] and FOUND[1]
COPIES = records.shipped("recall").results
TEXT = letters.read(FOUND[0], FOUND[1])


def chances(t: Words) -> str:
    """Bytes 1500 of the shipped record, from their losses."""
    percent = [100 * float(np.exp(-each["nats"][AT - 1])) for each in records.shipped("bytes").results]
    plain, best = (f"{each:.0f}" if each >= 9.5 else f"{each:.2g}" for each in percent)
    return t("letters_finding", at="1,500", plain=plain, best=best, name="YaRN")


def value(result: Mapping[str, Any]) -> float:
    """Return perplexity about a byte: means over 32 bytes and more, a straight line between two in the logarithm."""
    middle, logs = np.array(result["curve"]["position"]), np.log(result["curve"]["value"])
    bins = round(32 / (2 * middle[0])) or 1
    middle, logs = (each.reshape(-1, bins).mean(axis=1) for each in (middle, logs))
    k = int(np.searchsorted(middle, AT))
    share = (AT - middle[k - 1]) / (middle[k] - middle[k - 1])
    return float(np.exp(logs[k - 1] + share * (logs[k] - logs[k - 1])))


def hesitates(t: Words) -> str:
    """Return the finding between two of the record's means over 64 bytes, from its losses."""
    written_text = {}
    for each in records.shipped("sweep").results:
        if each["length"] == 2048 and each["line"] in lead.beat_of(t):
            written_text[each["line"]] = value(each)
    copied = {each["distance"]: np.mean(each["nats"]) for each in COPIES if each["line"] == "window"}
    seen, forgotten = (f"{np.exp(copied[distance]):.3g}" for distance in (96, 1536))
    cost = {"near": "96", "far": "1,536", "seen": seen, "forgotten": forgotten}
    return t("hesitates_finding_3", at="1,500", **{line: f"{each:.3g}" for line, each in written_text.items()}, **cost)


FILMS = [
    FilmRow(
        "extrapolation",
        lead.hesitates,
        (TEXT.curves, 256, letters.places(AT, TEXT.letters), lead.price(COPIES)),
        {"byte": AT, "beat": 3},
        hesitates,
    ),
    FilmRow(
        "extrapolation",
        letters.letters,
        (TEXT.letters, TEXT.path, TEXT.chances, letters.places(AT, TEXT.letters)),
        {"byte": AT},
        chances,
    ),
    FilmRow("extrapolation", longer.longer, (FOUND[0], "yarn"), {}, to_draw),
]
