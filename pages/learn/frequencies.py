"""Which pairs are fast, what the base does to them, and what the three open questions of the sources come to."""

from rope_core.rope import Rope
from rope_core.theory import encodings, frequency_demo
from ui.figures.frequencies import digits as numerals
from ui.figures.frequencies import spans
from ui.figures.frequencies import tables as figures
from ui.page.fields import BASE, DIM, GEOMETRY, TRAIN_LEN, last_pair, stops
from ui.page.frame import Frame
from ui.page.state import Field

VIEW = Field("view", "choice", "cos", choices=("angle", "cos", "sin"))
SPAN = Field("span", "int", 256, 16, 16_777_216, steps=(64, 128, 256, 512, 2048, 8192, 32_768, 131_072, 1_048_576))
ERROR = Field("error", "float", 0.1, 0.001, 3.0, steps=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0))
PAIR = Field("pair", "int", 4, 0, 511)
WINDOW = Field("window", "int", 128, 8, 1024, steps=(16, 32, 64, 128, 256, 512, 1024))
WIDTH = Field("width", "int", 8, 2, 16, step=2, even=True)
POSITION = Field("position", "int", 2718, 0, 1_000_000)

FIELDS = (VIEW, SPAN, ERROR, PAIR, WINDOW, WIDTH, POSITION, *GEOMETRY)


def spectrum(page: Frame) -> None:
    """The table that attention multiplies by and the wavelengths, over the base."""
    page.bar()
    bases = stops(BASE, page.get(BASE), 1e3, 1e7)
    contexts = stops(TRAIN_LEN, page.get(TRAIN_LEN), 256, 1_048_576)
    film = figures.heat(page.get(DIM), bases, contexts, page.get(VIEW), page.get(SPAN), page.t)
    page.show(film, figures.heat, frequency_demo.table, frequency_demo.incomplete)
    left, right = page.columns(1, 1)
    with left:
        page.controls.segments(VIEW)
    with right:
        page.controls.slider(SPAN)


def rulers(page: Frame) -> None:
    """What a pair measures, and whether it cycles."""
    page.prose("meaning")
    page.controls.slider(ERROR)
    rope = page.store.rope()
    page.show(spans.rulers(rope, page.get(ERROR), page.t), spans.rulers, frequency_demo.rulers)
    page.show(spans.repeats(rope, page.t), spans.repeats, frequency_demo.similarity)


def wave(page: Frame) -> None:
    """One pair over the position."""
    page.prose("variation")
    rope = page.store.rope()
    page.controls.beside(last_pair(PAIR, rope), WINDOW)
    page.show(spans.wave(rope, page.get(PAIR), page.get(WINDOW), page.t), spans.wave, Rope)


def digits(page: Frame) -> None:
    """The position as a number in base beta."""
    page.prose("digits")
    page.controls.slider(WIDTH)
    film = numerals.digits(page.get(WIDTH), page.get(BASE), numerals.positions(page.get(POSITION)), page.t)
    page.show(film, numerals.digits, encodings.beta_digits, encodings.digit_phases)


def body(page: Frame) -> None:
    """The page, part by part."""
    page.live(spectrum)
    page.prose("why")
    page.prose("base")
    page.show(spans.base_choice(page.store.rope(), page.t), spans.base_choice, frequency_demo.spans)
    page.live(rulers)
    page.live(wave)
    page.live(digits)
