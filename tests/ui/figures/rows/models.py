"""The models page's film, its counts from the catalogue's own rows."""

from rope_core.hf.survey import rows
from tests.support.figures import Row
from tests.support.films import FilmRow
from ui.figures import models
from ui.text.words import Words


def dozen(t: Words) -> str:
    """Return the finding at 60,000 tokens; no slowest pair completes a turn in its model's own context."""
    shown = [row for row in rows() if row.model.id in models.DOZEN]
    assert len(shown) == 12 and all(row.longest > row.context for row in shown)
    whole = sum(row.longest <= 60_000 for row in shown)
    return t("dozen_finding", length="60,000", whole=whole, count=12, own=0)


ROWS: list[Row] = []
FILMS = [FilmRow("models", models.dozen, ((4096, 60_000),), {"context": 60_000, "beat": 2}, dozen)]
