"""The report: one file, nothing from elsewhere, nothing of the config as markup, the same numbers as JSON."""

import json
import math
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import rope_core as rc
from rope_core.programs.engines import engines
from rope_core.report.html import report_html, report_json

HTML = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tr", "td", "th", "code", "b", "br"}
SVG = {"svg", "line", "text", "polyline"}
ALLOWED = HTML | SVG | {"a", "span", "figure", "figcaption", "pre"}
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x1b[2J\ud800&amp;"


class Tags(HTMLParser):
    """Every tag and attribute of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "br") and not self.get_starttag_text().endswith("/>"):  # type: ignore[union-attr]
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes nothing")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def parsed(page: str) -> Tags:
    built = Tags()
    built.feed(page)
    assert not built.open
    return built


def evil() -> dict[str, Any]:
    """Return a config that holds markup wherever a name can be."""
    return {
        "model_type": "llama",
        "head_dim": 64,
        EVIL: EVIL,
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 4.0,
            "original_max_position_embeddings": 4096,
            EVIL: [EVIL],
            "type": EVIL,
        },
    }


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_released_config_makes_a_page_that_loads_nothing(lang: str) -> None:
    for model in rc.models()[::7]:
        page = report_html(model.hf_config(), lang=lang, name=model.name)
        built = parsed(page)
        assert set(built.tags) <= ALLOWED, model.id
        links = [value or "" for name, value in built.attributes if name in ("href", "src", "srcset", "data", "action")]
        assert all(link.startswith("https://") for link in links)
        assert "src" not in dict(built.attributes) and "url(" not in page and "@import" not in page
        assert len(page) < 200_000 and f'lang="{"zh-CN" if lang == "zh" else "en"}"' in page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_of_the_config_is_markup(lang: str) -> None:
    for config in (evil(), {**evil(), "model_type": EVIL}, {"model_type": "llama", "rope_theta": EVIL, "head_dim": 64}):
        page = report_html(config, lang=lang, name=EVIL)
        built = parsed(page)
        assert set(built.tags) <= ALLOWED
        assert not [name for name, _ in built.attributes if name.startswith("on")]
        assert "alert(1)" in "".join(built.words) and "\x1b" not in page
        page.encode("utf-8")


def test_the_page_carries_the_numbers() -> None:
    config = rc.model("gpt-oss-20b").hf_config()
    page = report_html(config)
    words = " ".join(parsed(page).words)
    for number in ("1.35", "8.09, 17.4", "76.3 %", "150000"):
        assert number in words, number
    rope = rc.from_hf(config)
    curves = re.findall('points="(.*?)"', page)
    heights = [np.array([float(point.split(",")[1]) for point in curve.split()]) for curve in curves]
    # Equal ratios of wavelength are equal heights: the axis is logarithmic.
    logs = [np.log10(2 * math.pi / each) for each in (rope.unscaled, rope.inv_freq)]
    slope = np.ptp(heights[0]) / np.ptp(logs[0])
    for height, log in zip(heights, logs, strict=False):
        np.testing.assert_allclose(height - heights[0][0], slope * (logs[0][0] - log), atol=0.2)
    assert len(heights) == 3 and set(heights[2]) == {heights[2][0]}


def test_layer_types_each_have_their_part() -> None:
    page = report_html(rc.model("gemma-3-4b").hf_config(), lang="zh")
    assert page.count("<svg") == 2 and "full_attention" in page and "sliding_attention" in page
    assert "无法构建" not in page


def test_json_says_the_same() -> None:
    config = rc.model("deepseek-v3").hf_config()
    built = json.loads(report_json(config, seq_len=4096, lang="zh"))
    assert built["config"] == json.loads(json.dumps(config))
    assert [each["key"] for each in built["findings"]] == [each.key for each in rc.check(config, seq_len=4096)]
    layer = built["layers"][0]
    np.testing.assert_array_equal(layer["inv_freq"], rc.from_hf(config, seq_len=4096).inv_freq)
    assert layer["logit_scale"] == pytest.approx(1.87385, abs=5e-6)
    assert [each["name"] for each in built["engines"]] == [each.name for each in engines(config)]


def test_json_has_no_number_that_json_lacks() -> None:
    built = json.loads(
        report_json({"model_type": "llama", "head_dim": 64, "partial_rotary_factor": 0.5, "x": math.nan})
    )
    assert "inf" in [each["difference"] for each in built["engines"]] and built["config"]["x"] == "nan"
    with pytest.raises(rc.ConfigError):
        report_json([1])
    with pytest.raises(ValueError, match="lang must be one of"):
        report_html({}, lang="fr")
