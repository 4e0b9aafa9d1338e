"""The language switch: what it takes from the widget."""

from types import SimpleNamespace

import pytest

from ui.present import language


@pytest.mark.parametrize(("reported", "wanted"), [("zh", "zh"), (None, "en"), ("de", "en")])
def test_a_switch_that_reports_no_language_changes_none(
    reported: object, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the run that Reset cuts short: the page then has a language still."""
    state = {"lang": "en", "w.lang": reported}
    monkeypatch.setattr(language, "st", SimpleNamespace(session_state=state))
    language._speak()
    assert state["lang"] == wanted and language.current_language() == wanted
