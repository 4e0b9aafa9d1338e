"""The picture of the pieces is drawn anew, and shows every one of them."""

import inspect

from tools import gallery
from ui.film import composite_marks


def test_the_picture_of_the_pieces_is_up_to_date_and_whole() -> None:
    assert gallery.FILE.read_text("utf-8") == gallery.picture(), "run python -m tools.gallery"
    functions = inspect.getmembers(composite_marks, inspect.isfunction)
    pieces = {name for name, each in functions if each.__module__ == composite_marks.__name__ and name[0] != "_"}
    assert pieces - {"offset", "mark_angle_from_clock", "x_hidden_past_stop"} <= set(gallery.examples())
