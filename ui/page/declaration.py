"""What each page file declares, and how far a visitor is on the path of pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from ui.page.frame import PageFrame
from ui.page.menu import PATH, SECTIONS
from ui.page.state import Field
from ui.page.store import PageValues
from ui.page.tasks import Task, done_task_count
from ui.work.session import SessionState


@dataclass(frozen=True)
class PageDeclaration:
    """What a page file declares at module level.

    Attributes:
        name: of the file, of the page's texts, and the URL path.
        fields: the values that its controls set (FIELDS), the shared ones included, and those of its tasks.
        tasks: what it asks of its reader (TASKS); () where the file names none.
        fits: raises ValueError where a store's values do not go together; None where the file names no rule.
        body: draws the page on a frame.
        claim_in_film: whether the first film states the page's claim, so that the frame does not write it above.
    """

    name: str
    fields: tuple[Field, ...]
    tasks: tuple[Task, ...]
    fits: Callable[[PageValues], object] | None
    body: Callable[[PageFrame], None]
    claim_in_film: bool

    def page_values(self, session: SessionState) -> PageValues:
        """Return the page's values in a session."""
        return PageValues(self.name, self.fields, session, self.fits)


def page_declaration(page: str) -> PageDeclaration:
    """Return what the page ``page`` declares; raise KeyError where there is no such page."""
    module = import_module(f"pages.{SECTIONS[page]}.{page}")
    tasks = getattr(module, "TASKS", ())
    fields = (*module.FIELDS, *(field for task in tasks for field in task.fields))
    fits, claim_in_film = getattr(module, "fits", None), getattr(module, "CLAIM_IN_FILM", False)
    return PageDeclaration(page, fields, tasks, fits, module.body, claim_in_film)


@dataclass(frozen=True)
class PathProgress:
    """How far a visitor is on the path.

    Attributes:
        number, total: the page's place on the path, from 1, and how many pages there are.
        here, here_of: tasks that were done on this page, and how many it has.
        done, of: the same over the whole path.
        following: the next page; None on the last.
    """

    number: int
    total: int
    here: int
    here_of: int
    done: int
    of: int
    following: str | None


def path_progress(page: str, session: SessionState) -> PathProgress | None:
    """Return how far a visitor is, None for a page that is not on the path."""
    path = [name for name in PATH if name in SECTIONS]
    if page not in path:
        return None
    counts = {}
    for name in path:
        declared = page_declaration(name)
        store = declared.page_values(session)
        counts[name] = done_task_count(declared.tasks, store, session), len(declared.tasks)
    at = path.index(page)
    finished, of = (sum(count) for count in zip(*counts.values(), strict=True))
    return PathProgress(at + 1, len(path), *counts[page], finished, of, next(iter(path[at + 1 :]), None))
