"""The command `rope` as a test runs it."""

import pytest

from rope_core.__main__ import main


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Return a command's exit code and what it wrote, in which no traceback is."""
    capsys.readouterr()
    try:
        code = main([str(each) for each in arguments])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err
