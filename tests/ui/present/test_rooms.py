"""The names of rooms: one spelling each."""

from ui.present.rooms import room_name


def test_one_spelling_of_a_room() -> None:
    assert room_name("ＰＨＹＳＩＫ－Ａ") == room_name("physik-a")
    assert room_name("\u00e9") == room_name("e\u0301")
