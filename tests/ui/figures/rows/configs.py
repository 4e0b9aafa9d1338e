"""The config page's figures, those of the models and the ledger."""

import math
from collections import Counter

import numpy as np

import rope_core as rc
from rope_core.checks.engines import engines
from rope_core.checks.extend import extend
from rope_core.checks.schemas import compare as compare_configs
from rope_core.hf import anatomy, survey
from rope_core.ledger import CONDITION, EMPIRICAL, HOLDS, WRONG
from tests.support.figures import Row
from tests.support.films import FilmRow
from ui.figures import axes, ledger, models
from ui.figures.config import compare, parts, whatif
from ui.page.configs import whatif_stops
from ui.text.words import Words

CONFIG, SCOUT, VISION = (rc.model(name).hf_config() for name in ("gpt-oss-20b", "llama-4-scout", "qwen3-vl-32b"))
SCALED = rc.from_hf(CONFIG)
ROWS_OF = survey.rows()
RESULTS = ledger.checked().results


def whatif_moved(t: Words) -> str:
    """Return the same config with another factor and original length, read anew."""
    scaling = dict(CONFIG["rope_scaling"]) | {"factor": 8.0, "original_max_position_embeddings": 8192}
    kinds = Counter(anatomy.regions(rc.from_hf(CONFIG | {"rope_scaling": scaling})))
    counts = {name: kinds[name] for name in whatif.SHOWN}
    assert sum(counts.values()) == 32
    return t("whatif_finding", pairs=32, times="8", trained="8,192", reach="65,536", **counts)


def glance(t: Words) -> str:
    kinds = Counter(anatomy.regions(SCALED))
    slow = (SCALED.unscaled / SCALED.inv_freq).max()
    return t(
        "finding_scaled",
        pairs=SCALED.inv_freq.size,
        longest=parts.amount(float(f"{(2 * math.pi / SCALED.inv_freq).max():.6g}")),
        kept=kinds["kept"],
        blended=kinds["blended"],
        divided=kinds["divided"],
        most=parts.amount(float(f"{slow:.10g}")),
    )


def drift(t: Words) -> str:
    """Return the finding: a scheme that does not follow the length leaves cached keys where they are."""
    assert np.abs(anatomy.key_drift(SCALED.request, 9000, np.array([0, 8999]))).max() == 0
    return t("drift_none", length="9,000", worst="0", position="0", pair=0)


def extensions(t: Words) -> str:
    ways = extend(CONFIG, 500_000)
    listed = t("comma").join(f"{way.title(t.lang)}{t('colon')}{way.unseen}" for way in ways)
    factor = parts.amount(float(f"{ways[0].factor:.6g}"))
    return t("extensions_finding", length="500,000", factor=factor, listed=listed, pairs=ways[0].pairs)


def spans(t: Words) -> str:
    whole = sum(row.longest <= 40_000 for row in ROWS_OF)
    never = sum(row.longest > row.context for row in ROWS_OF)
    return t("spans_finding", length="40,000", whole=whole, count=len(ROWS_OF), never=never)


def rotating(t: Words) -> str:
    """Return the finding by another count: share of layers, then what the other layers are."""
    late = [each for each in survey.shares() if each.year >= 2025]
    none = sum(each.base is None for each in late)
    whole = sum(each.rotating == each.layers for each in late)
    hybrid = sum(each.attention < each.layers and each.base is not None for each in late)
    counts = {"whole": whole, "hybrid": hybrid, "none": none, "nope": len(late) - whole - hybrid - none}
    early = [each for each in survey.shares() if each.year <= 2023]
    assert all(each.rotating == each.layers for each in early)
    return t("rotating_finding", early=len(early), until=2023, since=2025, total=len(late), **counts)


def encodings(t: Words) -> str:
    entries = [(year, kind) for (year, kind), names in survey.encodings_by_year().items() for _ in names]
    late = [kind for year, kind in entries if year >= 2023 and kind]
    years = [year for year, _ in entries]
    counts = {"rotary": sum("RoPE" in kind for kind in late), "of": len(late), "total": len(entries)}
    return t("encodings_finding", first=min(years), last=max(years), since=2023, **counts)


def overview(t: Words) -> str:
    total = Counter(result.status for result in RESULTS)
    kinds = {"wrong": WRONG, "condition": CONDITION, "empirical": EMPIRICAL, "holds": HOLDS}
    return t("overview_finding", total=len(RESULTS), **{key: total[status] for key, status in kinds.items()})


def residuals(t: Words) -> str:
    decided = [result for result in RESULTS if result.residual is not None]
    values = np.array([float(result.residual or 0) for result in decided])
    return t(
        "residuals_finding",
        threshold="1e-10",
        passed=int((values <= 1e-10).sum()),
        decided=len(decided),
        stated=sum(result.status == HOLDS for result in decided),
        between=int(((values > 1e-9) & (values < 1e-2)).sum()),
    )


PAIRS = {"x": "axis.pair"}
BOTH = (SCALED, rc.from_hf(SCOUT, rc.layer_types(SCOUT)[0] if rc.layer_types(SCOUT) else None), ("a", "b"))
ROWS = [
    Row("config", parts.glance, (SCALED, "wavelength", ""), PAIRS | {"y": "quantity_axis.wavelength"}, glance),
    Row("config", parts.ramp, (SCALED, ""), PAIRS | {"y": "share_axis"}),
    Row("config", parts.drift, (SCALED, 9000, ""), {"x": "key_axis", "y": "drift_axis"}, drift),
    Row("config", parts.layers, (BOTH[1], 48, ""), {"x": "layer_axis"}),
    Row("config", parts.sections, (rc.from_hf(VISION), ""), PAIRS),
    Row("config", compare.engines, (engines(CONFIG), SCALED, ""), PAIRS | {"y": "ratio_axis"}),
    Row(
        "config",
        compare.overlay,
        (*BOTH, compare_configs(CONFIG, SCOUT)),
        PAIRS | {"y": "quantity_axis.wavelength"},
    ),
    Row(
        "config",
        compare.extensions,
        (extend(CONFIG, 500_000), SCALED, 500_000, ""),
        PAIRS | {"y": "axis.slowdown"},
        extensions,
    ),
    Row("models", models.spans, (ROWS_OF, 40_000, "llama-2-7b"), {"y": "axis.wavelength"}, spans),
    Row("models", models.rotating, (), {"x3": "year", "x4": "year"}, rotating),
    Row("models", models.encodings, (), {"x": "year"}, encodings),
    Row("ledger", ledger.overview, (RESULTS,), {"x": "entries_axis"}, overview),
    Row("ledger", ledger.residuals, (RESULTS, 1e-10), {"x": "residual_axis"}, residuals),
]
STOPS = whatif_stops(SCALED.request, None, None)


def score_maps(t: Words) -> str:
    """Score the ringed patch from row 5, column 2, by sums over pairs written out."""
    words: dict[str, str] = {}
    for name, result in axes.ways().items():
        pairs = result.tolist()

        def score(dy: float, dx: float, pairs: list[list[float]] = pairs) -> float:
            return sum(math.cos(dy * y + dx * x) for y, x in pairs) / len(pairs)

        steps = [6 + 7 * k / 199 for k in range(200)]
        words[name] = f"{score(3 - 5, 10 - 2):.2f}"
        words[f"row_{name}"] = f"{min(score(0, s) for s in steps):.2f}"
        words[f"slant_{name}"] = f"{min(score(s / math.sqrt(2), s / math.sqrt(2)) for s in steps):.2f}"
    return t("maps_finding", last=13, **words)


FILMS = [
    FilmRow("models", axes.maps, (), {"patch_x": 2, "patch_y": 5}, score_maps),
    FilmRow("config", whatif.moved, (SCALED.request, *STOPS), {"times": 8, "trained": 8192}, whatif_moved),
]
