"""The header that has browsers read the player early, as a server sends it."""

import re
from urllib.request import urlopen


def test_a_page_names_the_players_files_and_they_are_there(app: str) -> None:
    with urlopen(f"{app}/clock") as page:
        files = re.findall(r"<\./(\S+?)>; rel=modulepreload", page.headers["Link"])
    assert {"streamlit.js", "film.js"} <= {file.rpartition("/")[2] for file in files}
    assert any(file.startswith("static/js/BidiComponent.") for file in files)
    for file in files:
        with urlopen(f"{app}/{file}") as answer:
            assert "javascript" in answer.headers["Content-Type"] and "Link" not in answer.headers, file
