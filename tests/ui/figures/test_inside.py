"""The figures of the page inside, their findings from the reading itself."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core.lab import inside
from rope_core.lab.inside import TracePositions
from tests.support.figures import Row
from tests.support.films import FilmRow, texts_at
from ui.figures.inside import change, reading
from ui.film.scene import NumberTrack
from ui.text.words import PageTexts

NAME, TEXT = "rope-0", b"import numpy as np"
SET = TracePositions("yarn", 4.0, 5, 30, 9)


def signed(value: float) -> str:
    return "0.0" if abs(value) < 0.05 else f"{value:.1f}".replace("-", "−")


def looks(t: PageTexts) -> str:
    result = inside.trace_forward(inside.load_numpy_weights(NAME), TEXT, SET)
    row = result.attention[2, 3, 12]
    most = int(row.argmax())
    content, whole = (shares[most].sum() for shares in result.pair_score_shares(2, 3, 12))
    slots = {"share": f"{100 * row[most]:.0f}", "content": signed(content), "position": signed(whole - content)}
    return t(
        "looks_finding",
        query=reading.byte_letter(TEXT[12]),
        seen=reading.byte_letter(TEXT[most]),
        back=12 - most,
        **slots,
    )


def pairs(t: PageTexts) -> str:
    content, whole = inside.trace_forward(inside.load_numpy_weights(NAME), TEXT, SET).pair_score_shares(1, 0, 10)
    moved = whole[7] - content[7]
    pair = max(range(16), key=lambda i: abs(moved[i]))
    wave = 2 * np.pi * 10_000 ** (pair / 16)
    slots = {"pair": pair, "part": signed(moved[pair]), "all": signed(moved.sum())}
    return t(
        "pairs_finding", query=chr(TEXT[10]), seen=chr(TEXT[7]), back=3, wave=f"{float(f'{wave:.2g}'):,g}", **slots
    )


def breaking(t: PageTexts) -> str:
    model = inside.load_numpy_weights(NAME)
    before = inside.trace_forward(model, TEXT)
    after = inside.trace_forward(model, TEXT, TracePositions("yarn", 4.0, 5, 30, 9, (13, 14, 15)))
    moved = np.abs(before.attention - after.attention).astype(float).sum(-1).mean(-1) / 2
    layer, head = np.unravel_index(moved.argmax(), moved.shape)
    best = before.next_byte_probabilities().argmax()
    return t(
        "breaking_finding.slow",
        count=3,
        layer=layer + 1,
        head=head + 1,
        share=percent(moved.max()),
        byte=reading.byte_letter(int(best)),
        before=percent(before.next_byte_probabilities()[best]),
        after=percent(after.next_byte_probabilities()[best]),
    )


def percent(share: float) -> str:
    if 0 < share < 0.001 or 0.999 < share < 1:
        return "<0.1" if share < 0.5 else ">99.9"
    return f"{100 * share:.0f}" if 0.1 <= share <= 0.9 else f"{100 * share:.1f}"


def sizes(t: PageTexts) -> str:
    result = inside.trace_forward(inside.load_numpy_weights(NAME), TEXT, SET)
    norms = np.linalg.norm(result.k.astype(float), axis=1).reshape(24, 2, 16)
    relative = norms.max(axis=1) / norms.mean(axis=(1, 2))[:, None]
    held = [int(row.argmax()) for row in relative]
    top = max(range(16), key=held.count)
    wave = 2 * np.pi * 10_000 ** (top / 16)
    return t(
        "sizes_finding",
        heads=held.count(top),
        all=24,
        wave=f"{float(f'{wave:.2g}'):,g}",
        turns=f"{256 / wave:.1f}",
        most=f"{relative.max():.1f}",
    )


@given(count=st.integers(0, 16))
@settings(max_examples=5, deadline=None)
def test_the_first_picture_draws_what_the_weights_give_with_pairs_left_unturned(count: int) -> None:
    t, text = PageTexts("en", "inside"), b"the cat sat on the mat"
    scene, at = change.stopped_pairs_film(NAME, TEXT, SET, "fast", t).scene, {"still": count, "query": 0}
    panels = [panel for panel in scene.panels if panel.last_beat == 1 and panel.screen == "wide"]
    _, *phone = (panel for panel in scene.panels if panel.last_beat == 1 and panel.screen == "narrow")
    sets: tuple[range, ...] = (range(0), range(count), range(16 - count, 16))
    for still, turned, looks, short in zip(sets, panels[::2], panels[1::2], (panels[1], *phone), strict=True):
        weights = (
            inside.trace_forward(inside.load_numpy_weights(NAME), text, TracePositions(still=tuple(still)))
            .attention[3, 3]
            .astype(float)
        )
        (hands,) = (mark for mark in turned.marks if mark["kind"] == "vector")
        assert np.flatnonzero(hands["length"].numbers_at(at) == 0).tolist() == list(still)
        np.testing.assert_allclose(np.pi / 2 - hands["angle"], 10_000.0 ** (-np.arange(16) / 16))
        mean = np.mean([weights[k, k - 1] for k in range(1, 22)])
        for panel in (looks, short):
            (bars,) = (mark["y1"] for mark in panel.marks if isinstance(mark.get("y1"), NumberTrack))
            np.testing.assert_allclose(bars.numbers_at(at), weights[9, :10])
            written = texts_at(panel.marks, at)
            assert f"{percent(weights[9, 8])} %" in written and t("mean_back", share=percent(mean)) in written
        if short is not looks:
            turning = [mark["colour_index"] for mark in short.marks if mark.get("corner_px") == 2]
            assert [np.flatnonzero(each.numbers_at(at) == 0).tolist() for each in turning] == [list(still)]
        finding_text = scene.finding_at(at | {"beat": 1}).replace("\N{NO-BREAK SPACE}", " ")
        for share in () if count and not still else (weights[9, 8],) if count else (weights[9, 8], mean):
            assert f"{percent(share)} %" in finding_text


ROWS = [Row("inside", reading.pair_size_chart, (NAME, TEXT, SET), sizes)]
FILMS = [
    FilmRow("inside", reading.head_attention_film, (NAME, TEXT, SET, 3, 4), {"query": 12}, looks),
    FilmRow("inside", reading.pair_score_share_film, (NAME, TEXT, SET, 2, 1, 10), {"key": 7}, pairs),
    FilmRow(
        "inside", change.stopped_pairs_film, (NAME, TEXT, SET, "slow"), {"query": 5, "still": 3, "beat": 3}, breaking
    ),
]
