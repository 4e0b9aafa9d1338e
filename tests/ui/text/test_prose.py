"""Numbers that the prose states are computed again, and both languages state them."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

import rope_core as rc
from rope_core.lab import cards, copying, plan, records, view
from rope_core.lab.estimates import paired_perplexity_ratio
from rope_core.languages import LANGUAGES
from rope_core.rope import Rope
from rope_core.theory import attention, interpolation, softmax
from ui.figures import catalogue as models
from ui.text.words import PageTexts, exponent_text


def bases() -> list[str]:
    """Return the gap above the smallest whole base that serves 4,096 tokens, and how far two models' bases serve."""

    def serves(base: int, context: int) -> bool:
        return attention.first_negative_score_distance(128, float(base), context) is None

    assert all(serves(base, 4096) for base in (26_953, 26_963, 26_973, 28_629))
    assert not any(serves(base, 4096) for base in (26_952, 26_974, *range(27_000, 28_629, 50), 28_628))
    assert serves(500_000, 8192)
    return [
        f"{number:,}"
        for number in (26_953, 26_973, 28_629, attention.first_negative_score_distance(128, 1_000_000.0, 32_768))
    ]


def tuned_against_the_window() -> list[str]:
    """Return what fine-tuned YaRN and the window read the same documents with, which these cannot tell apart."""
    cells = view.cells_at_length(view.read_cells(records.shipped_record("finetuned").results), 2048)
    tuned, window = (
        next(cell for cell in cells if (cell.weights, cell.line) == key)
        for key in (("rope-0-yarn", "yarn"), ("rope-0", "window"))
    )
    assert not view.last_quarter_ratio(tuned, window).excludes(1.0)
    return [f"{cell.last.value:.2f}" for cell in (tuned, window)] + ["2,048"]


def clipped() -> list[str]:
    """Return between what CoPE, hard clipping and p-RoPE lie over the unscaled line, and over the window."""
    cells = {
        (each.weights, each.line): each
        for each in view.cells_at_length(view.read_cells(records.shipped_record("after").results), 2048)
    }
    matches = []
    for beside, digits in (("none", 2), ("window", 1)):
        over = [
            np.exp(np.mean(cell.nats - cells[model, beside].nats))
            for (model, key), cell in cells.items()
            if key in ("cope", "hard_clip", "p_rope")
        ]
        assert len(over) == 9
        matches += [f"{end(over):.{digits}f}" for end in (min, max)]
    return [*matches, "2,048"]


def copied() -> list[str]:
    """Return what the model tuned under YaRN reads the second copy with, over two windows, at two distances past it."""
    rows = records.shipped_record("recall").results + records.shipped_record("recall-window").results
    nats = {(each["weights"], each["line"], each["distance"]): np.array(each["nats"]) for each in rows}
    perplexity = {key: float(np.exp(each.mean())) for key, each in nats.items()}
    first, tuned, near, plain = "rope-0-copy", "rope-0-copy-yarn", "rope-0-copy-near", "rope-0"
    assert all(value >= perplexity[first, "window", key[2]] for key, value in perplexity.items() if key[0] == first)
    far = (384, 768, 1536)
    over, over_plain = (
        {d: paired_perplexity_ratio(nats[tuned, "yarn", d], nats[other, "window", d]) for d in (96, 192, *far)}
        for other in (near, plain)
    )
    assert all(over[d].low > 1 for d in (96, 192)) and all(over[d].value < 1 for d in far)
    assert not over_plain[384].excludes(1.0) and all(over_plain[d].low > 1 for d in far[1:])
    card, other = cards.get_weights_card(tuned), cards.get_weights_card(near)
    assert (card.stopped, card.recipe.rate, card.recipe.start) == (other.stopped, other.recipe.rate, other.recipe.start)
    assert card.recipe.batch * card.recipe.length == other.recipe.batch * other.recipe.length
    return [
        *(f"{over[d].value:.2f}" for d in (384, 1536)),
        f"{over_plain[1536].value:.2f}",
        f"{perplexity[plain, 'window', 1536]:.2f}",
        "384",
        "1,536",
        str(card.stopped),
        f"{card.recipe.window:,}",
        str(copying.SPAN),
        str(plan.AFTER),
    ]


def dynamic_factor() -> list[str]:
    """NTK's factor under dynamic NTK, at factor 4 and four times the trained length."""
    rope = Rope(128, 10_000.0, 4096)
    dynamic = rc.spectrum(rc.Request(rope, "dynamic", {"factor": 4.0}, 4 * 4096)).slowdown
    np.testing.assert_allclose(dynamic, rc.spectrum(rc.Request(rope, "ntk", {"factor": 13.0})).slowdown, rtol=1e-12)
    return ["13"]


def interpolation_excess() -> list[str]:
    """By how much a score can exceed the printed interpolation bound, and where the sum is below d."""
    rope = Rope(128, 10_000.0)
    worst = float(np.sum(1 - np.cos(rope.theta / 2)))
    excess = worst / interpolation.printed_bound(rope) - 1
    assert (
        interpolation.interpolation_bounds(rope, 4096).least_sum
        >= 1
        > interpolation.interpolation_bounds(rope, 131_072).least_sum
    )
    return [f"{100 * excess:.0f} %", "4,096"]


def kept_weight() -> list[str]:
    """Return the weight on the target key under Qwen's factor, at L keys and at 64 L."""
    lengths = [4096, 262_144]
    meant = softmax.expected_entropy_and_weight(lengths, softmax.log_length_scale(lengths, 4096), 4.0)[1]
    return [f"{100 * value:.2f} %" for value in meant] + [f"{n:,}" for n in lengths]


def one_radian() -> list[str]:
    """How many models of the catalogue turn their first pair one radian a token."""
    fastest = {}
    for name in models.model_ids():
        single = models.model_rope_setting(name)
        request = rc.Request(single.rope, single.scheme, single.params, single.max_len)
        fastest[models.model_name(name)] = float(rc.spectrum(request).inv_freq.max())
    others = sorted(name for name, theta in fastest.items() if abs(theta - 1) > 1e-9)
    assert len(others) == 2 and all(name.startswith(("Phi-3.5 mini", "Phi-3 vision")) for name in others)
    return [str(len(fastest)), str(len(fastest) - 2), "Phi-3.5 mini", "Phi-3 vision"]


def rounded_angles() -> list[str]:
    """Return what a float64 frequency and product err by below 2**31, and half a step of a 64-bit phase there, rad."""
    rope, last = Rope(128, 10_000.0), range(2**31 - 400, 2**31)
    with mpmath.workdps(40):
        exact = [mpmath.mpf(10_000) ** (mpmath.mpf(-2 * pair) / 128) for pair in range(64)]
        pairs = list(zip(rope.theta.tolist(), exact, strict=True))
        float64 = max(float(abs(mpmath.mpf(mine * at) - true * at)) for mine, true in pairs for at in last)
    fixed = 2.0**31 * 2.0**-65 * 2 * np.pi
    return [exponent_text(f"{value:.1e}") for value in (float64, fixed)]


def farthest_wavelengths() -> list[str]:
    """Return the ratio of two models' slowest wavelengths, both labelled 4,096 tokens."""
    slowest = {}
    for name in models.model_ids():
        single = models.model_rope_setting(name)
        if single.max_len == 4096:
            theta = rc.spectrum(rc.Request(single.rope, single.scheme, single.params, single.max_len)).inv_freq
            slowest[models.model_name(name)] = 2 * np.pi / theta[theta > 0].min()
    low, high = min(slowest, key=slowest.__getitem__), max(slowest, key=slowest.__getitem__)
    assert low.startswith("StableLM 3B") and high == "Yi 6B"
    return ["StableLM 3B", high, f"{slowest[high] / slowest[low]:.0f}"]


def in_their_first_turn() -> list[str]:
    """Return how many pairs have not passed their first turn at three distances, for two bases."""
    counts = {
        base: [int(np.sum(distance * Rope(128, base).theta <= 2 * np.pi)) for distance in (1000, 10_000, 100_000)]
        for base in (1e6, 1e4)
    }
    assert counts[1e4][2] == 0
    return [str(count) for count in (*counts[1e6], *counts[1e4][:2])]


STATED: dict[tuple[str, str], Callable[[], list[str]]] = {
    ("frequencies", "base"): bases,
    ("clock", "questions"): dynamic_factor,
    ("clock", "late"): in_their_first_turn,
    ("extrapolation", "after_how"): clipped,
    ("extrapolation", "finetune"): tuned_against_the_window,
    ("extrapolation", "recall"): copied,
    ("attention", "theorem"): interpolation_excess,
    ("attention", "weight"): kept_weight,
    ("precision", "real"): one_radian,
    ("precision", "ways"): rounded_angles,
    ("models", "why"): farthest_wavelengths,
}


@pytest.mark.parametrize(("page", "section"), STATED, ids=[f"{page}-{section}" for page, section in STATED])
def test_the_prose_states_what_is_computed(page: str, section: str) -> None:
    numbers = STATED[page, section]()
    for lang in LANGUAGES:
        body = PageTexts(lang, page).section_title_and_text(section)[1]
        assert [number for number in numbers if number not in body] == [], lang
