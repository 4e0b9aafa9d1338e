"""The header that has browsers read the player early, as a server sends it."""

import re

from tests.support.nginx import ask


def test_a_page_names_the_players_files_and_they_are_there(app: str) -> None:
    files = re.findall(r"<\./(\S+?)>; rel=modulepreload", ask(app, "/clock").headers["Link"])
    assert {"streamlit.js", "film.js"} <= {file.rpartition("/")[2] for file in files}
    assert any(file.startswith("static/js/BidiComponent.") for file in files)
    for file in files:
        answer = ask(app, f"/{file}")
        assert "javascript" in answer.headers["Content-Type"] and "Link" not in answer.headers, file
    assert "Link" not in ask(app, "/room/hall").headers
