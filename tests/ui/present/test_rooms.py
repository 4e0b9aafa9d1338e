"""The names of rooms: one spelling each."""

from ui.present.rooms import normalized_room_name


def test_one_spelling_of_a_room() -> None:
    assert normalized_room_name("ＰＨＹＳＩＫ－Ａ") == normalized_room_name("physik-a")
    assert normalized_room_name("\u00e9") == normalized_room_name("e\u0301")
