"""A film in a notebook: of one's own model, to the digits of its config, its values observed and refused."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import rope_core as rc
from rope_core.theory.extension import first_pair_under_fifth_turn
from tests.support import ROOT
from tests.support.films import numbers, unpacked
from ui.figures.drawing import Film
from ui.film.scene import Scene
from ui.notebook.drawn import draw_page_until
from ui.text.words import PageTexts

YARN = {"rope_type": "yarn", "rope_theta": 5e5, "factor": 16.0, "original_max_position_embeddings": 8192}
HEADS = {"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32, "max_position_embeddings": 131_072}
CONFIG = HEADS | {"rope_parameters": YARN}


def first(page: str, config: Any, **values: Any) -> Film:
    """Return the film that leads a page."""
    (film,) = draw_page_until(page, config, "en", None, values, "film").shown.values()
    assert isinstance(film, Film)
    return film


def hand(config: Any) -> float:
    """Return how many times slower YARN's slow hand on the clock turns in a text 16 times as long as training's."""
    name, head, held = unpacked(first("clock", config).packed(PageTexts("en", "clock")).data)
    assert name == "clock.hands"
    stops = {control["name"]: control["stops"] for control in head["controls"]}
    yarn = PageTexts("en", "labels")("scheme.yarn")
    panel = next(panel for panel in head["panels"] if panel["title"] == yarn)
    bars = next(shape for shape in panel["marks"] if shape["kind"] == "rect")
    return float(
        numbers(bars["x1"], held, {"factor": stops["factor"].index(16.0)})[
            first_pair_under_fifth_turn(rc.Rope(64, 5e5, 8192))
        ]
    )


def test_the_hands_are_the_config_s_however_it_is_given(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    live, _ = ROPE_INIT_FUNCTIONS["yarn"](transformers.LlamaConfig(**CONFIG), "cpu")
    rope = rc.Rope(64, 5e5, 8192)
    expected = (rope.theta / live.double().numpy())[first_pair_under_fifth_turn(rope)]
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), "utf-8")
    for given in (CONFIG, tmp_path, str(tmp_path / "config.json"), rc.from_hf(CONFIG)):
        assert hand(given) == pytest.approx(expected, rel=1e-5)


def test_a_model_s_own_vectors_are_drawn() -> None:
    searched = next(
        each.hf_config()
        for each in rc.models()
        if not rc.layer_types(each.config) and rc.from_hf(each.config).scheme == "longrope"
    )
    rope = rc.from_hf(searched)
    reader = draw_page_until("clock", searched, "en", None, {}, "film")
    np.testing.assert_array_equal(rc.spectrum(reader.store.request()).inv_freq, rope.inv_freq)


@pytest.mark.parametrize(
    ("page", "config", "values", "text"),
    [
        ("clok", None, {}, "page must be one of"),
        ("clock", None, {"factr": 2.0}, "values must be among"),
        ("clock", None, {"factor": 1e9}, "factor must be between 1 and"),
        ("clock", None, {"factor": "much"}, "factor must be a finite number, got 'much'"),
        ("clock", CONFIG, {"model": "llama-2-7b"}, "model must be left out"),
        ("models", CONFIG, {}, "config must be None on the page models"),
        ("clock", "/nowhere/config.json", {}, "config must be a file, or a folder that holds config.json"),
        ("config", rc.from_hf(CONFIG), {}, "config must be a dict or a path"),
    ],
)
def test_what_is_no_argument_is_a_sentence(page: str, config: Any, values: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        draw_page_until(page, config, "en", None, values, "film")


def test_learned_frequencies_are_refused() -> None:
    rope = rc.from_hf(CONFIG)
    with pytest.raises(ValueError, match="config must be a rotation whose frequencies its scheme gives"):
        draw_page_until("clock", rope.with_offsets(np.full(rope.inv_freq.size, 0.1)), "en", None, {}, "film")


def test_the_widget_has_the_scene_the_player_and_values_that_are_observed() -> None:
    traitlets = pytest.importorskip("traitlets")
    pytest.importorskip("anywidget")
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    from rope_core.notebook import figure, film, names

    own, packed = film("clock", CONFIG, factor=4.0), first("clock", CONFIG, factor=4.0).packed(PageTexts("en", "clock"))
    assert own.values == {"factor": 4.0, "distance": 2.0, "hand": 0.0, "beat": 1}
    assert unpacked(own._scene) == unpacked(packed.data)
    seen: list[Any] = []
    own.observe(lambda change: seen.append(change["new"]), "values")
    own.values = {"factor": 7.9}
    assert seen == [{"factor": 8.0, "distance": 2.0, "hand": 0.0, "beat": 1}] and own.values == seen[0]
    scene: Scene = packed.scene
    assert own.finding == scene.finding_at(own.values) and len(own.table()["pair"]) == 32
    shown, _ = own._repr_mimebundle_()
    assert ElementTree.fromstring(shown["image/svg+xml"]).tag.endswith("svg") and shown["text/plain"] == own.finding
    assert own.recipe.splitlines()[0] == "distance, hand, factor = 2, 0, 8"
    InteractiveShell.instance()
    with capture_output() as out:
        own._repr_mimebundle_()
    InteractiveShell.clear_instance()
    # An export writes the picture, which a widget that runs hides.
    (still,) = out.outputs
    assert own.finding in still.data["text/html"] and own._still in still.data["text/html"]
    for bad in ({"factr": 2.0}, {"factor": "much"}, {"factor": float("nan")}, {"factor": True}):
        with pytest.raises(traitlets.TraitError, match="values must"):
            own.values = bad
    assert own.values == seen[0]
    files = json.loads(re.search(r"const FILES = (.*);\n", own._esm)[1])  # type: ignore[index]
    assert {name for text in files.values() for name in re.findall(r'"\./(\w+\.js)"', text)} <= set(files)
    assert files["player.js"] == (ROOT / "ui/film/assets/player.js").read_text("utf-8")
    drawn = film("frequencies", CONFIG, name="unfinished")
    assert drawn._gap is None
    sketch = drawn._film.scene.sketch
    assert sketch
    drawn.values = {sketch.name: ".".join(["0"] * len(sketch.columns))}
    assert drawn._gap and drawn.finding == drawn._gap
    assert names("rotation")["backward"] == "figure" and names("rotation")["circle"] == "film"
    assert figure("rotation", "backward", CONFIG).data


def test_a_figure_is_displayed_as_what_an_export_shows_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from rope_core.notebook import figure

    shown: list[tuple[Any, str]] = []
    monkeypatch.setattr("plotly.io.show", lambda drawn, renderer: shown.append((drawn, renderer)))
    drawn = figure("rotation", "backward", CONFIG)
    drawn._ipython_display_()
    # An export has no widget's state: HTML stands beside what JupyterLab draws.
    assert shown == [(drawn, "plotly_mimetype+notebook")]


ALONE = """
import re, sys
from importlib.metadata import packages_distributions
lock = {"rope-core", *(re.split("[= ]", line)[0] for line in open(sys.argv[1]) if re.match("[a-z]", line))}
for module, sources in packages_distributions().items():
    if module not in sys.modules and not {re.sub("[-_.]+", "-", source).lower() for source in sources} & lock:
        sys.modules[module] = None
from rope_core.notebook import figure, film, names
print(film("clock", {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2}).finding != "")
figure("rotation", "backward")
"""


def test_a_notebook_needs_only_what_its_lock_holds() -> None:
    """Every installed package that requirements-notebook.lock lacks is absent."""
    ended = subprocess.run(
        [sys.executable, "-c", ALONE, ROOT / "requirements-notebook.lock"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.stdout.strip(), ended.returncode) == ("True", 0), ended.stderr[-600:]
