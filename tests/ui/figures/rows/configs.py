"""The config page's figures, those of the models and the ledger."""

import math
from collections import Counter

import rope_core as rc
from rope_core.checks.engines import engines
from rope_core.checks.extend import extend
from rope_core.checks.schemas import compare as compare_configs
from rope_core.hf import anatomy, survey
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


BOTH = (SCALED, rc.from_hf(SCOUT, rc.layer_types(SCOUT)[0] if rc.layer_types(SCOUT) else None), ("a", "b"))
ROWS = [
    Row("config", parts.glance, (SCALED, "wavelength", "")),
    Row("config", parts.ramp, (SCALED, "")),
    Row("config", parts.drift, (SCALED, 9000, "")),
    Row("config", compare.engines, (engines(CONFIG), SCALED, "")),
    Row("config", compare.overlay, (*BOTH, compare_configs(CONFIG, SCOUT))),
    Row("config", compare.extensions, (extend(CONFIG, 500_000), SCALED, 500_000, "")),
    Row("models", models.spans, (ROWS_OF, 40_000, "llama-2-7b")),
    Row("models", models.rotating, (), rotating),
    Row("ledger", ledger.overview, (RESULTS,)),
    Row("ledger", ledger.residuals, (RESULTS, 1e-10)),
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
