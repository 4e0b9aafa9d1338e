"""Numbers that papers print on their schemes, beside what the formulas here give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rope_core.comparisons.curves import first_unfinished
from rope_core.rope import Array, Rope
from rope_core.schemes import KINDS, SCHEMES, UNSCALED
from rope_core.spectrum import Request, spectrum

LLAMA2, LLAMA3, PHI3 = Rope(128, 10_000.0, 4096), Rope(128, 500_000.0, 8192), Rope(96, 10_000.0, 2048)
YARN, LONGROPE2, COPE = "arXiv:2309.00071", "arXiv:2502.20082", "arXiv:2602.05258"


@dataclass(frozen=True)
class PaperCurve:
    """What a paper draws by pair, from its formula at its setting: slow-downs, or what is left of a frequency.

    Attributes:
        key: the name of the paper's scheme.
        rope: the model's geometry.
        factor: what schemes are given.
        by_scheme: name of a scheme -> (pairs,), its slow-downs, or for CoPE 1 over these.
        turning: the first pair at which the paper's curve is not where it begins.
        settled: the first pair from which it is where it ends.
    """

    key: str
    rope: Rope
    factor: float
    by_scheme: Mapping[str, Array]
    turning: int
    settled: int


def _scheme_of(paper: str) -> str:
    """Return the scheme whose first source is a paper."""
    return next(name for name, scheme in SCHEMES.items() if paper in scheme.source)


def paper_curves() -> tuple[PaperCurve, ...]:
    """Return a curve each of YaRN (its code's ramp, over indices), LongRoPE2 (figure 2 b) and CoPE (its soft clip).

    >>> [(each.key, each.turning, each.settled) for each in paper_curves()]
    [('yarn', 21, 46), ('longrope2', 1, 31), ('cope', 45, 63)]
    """
    curves = []
    for paper, rope, factor, names in (
        (YARN, LLAMA2, 16.0, KINDS),
        (LONGROPE2, PHI3, 64.0, (*KINDS, _scheme_of(LONGROPE2))),
        (COPE, LLAMA3, 1.0, (UNSCALED, _scheme_of(COPE))),
    ):
        takes = [any(param.name == "factor" for param in SCHEMES[name].params) for name in names]
        spectra = [
            spectrum(Request(rope, n, {"factor": factor} if f else {})) for n, f in zip(names, takes, strict=True)
        ]
        values = {n: 1.0 / s.slowdown if paper == COPE else s.slowdown for n, s in zip(names, spectra, strict=True)}
        own = values[names[-1]]
        turning = int(np.argmax(~np.isclose(own, own[0])))
        settled = int(np.argmax(np.isclose(own, own[-1], atol=1e-9)))
        curves.append(PaperCurve(names[-1], rope, factor, values, turning, settled))
    return tuple(curves)


@dataclass(frozen=True)
class PrintedNumber:
    """A number of a paper: its ``key``, the ``source`` with its place, as it is ``printed``, and as it is ``here``."""

    key: str
    source: str
    printed: float
    here: float

    @property
    def off(self) -> float:
        """By which share the number here differs from the printed one."""
        return self.here / self.printed - 1.0


def printed_numbers() -> tuple[PrintedNumber, ...]:
    """Return the numbers on the spectrum of pairs that could be read in YaRN's and LongRoPE2's texts.

    >>> [round(each.off, 3) for each in printed_numbers()]
    [0.011, 0.05, 0.0, 0.0, 0.003, 0.0]
    """
    doubled = spectrum(Request(LLAMA2, KINDS[1], {"factor": 2.0})).inv_freq
    raised = Rope(128, 1e6, 4096)
    return (
        PrintedNumber("base", f"{YARN}, table 1", 20_000.0, float(doubled[1] ** (-LLAMA2.dim / 2))),
        PrintedNumber("scale", f"{YARN}, section 4.2", 88.6, float(LLAMA2.theta[-1] / raised.theta[-1])),
        PrintedNumber("critical_phi", f"{LONGROPE2}, section 2.2", 31.0, first_unfinished(PHI3.theta, PHI3.train_len)),
        PrintedNumber(
            "critical_llama", f"{LONGROPE2}, section 1", 35.0, first_unfinished(LLAMA3.theta, LLAMA3.train_len)
        ),
        PrintedNumber("period_8", f"{LONGROPE2}, section 3.1", 24.0, float(PHI3.wavelength[7])),
        PrintedNumber("period_48", f"{LONGROPE2}, section 2.1", 51_861.0, float(np.max(PHI3.wavelength))),
    )
