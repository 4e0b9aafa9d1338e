"""The app's films and figures in a notebook, for a model of one's own.

    from rope_core.notebook import film
    film("clock", "path/to/config.json")

Pictures and words are the app's, packages ``ui`` and ``pages`` of the repository, which the wheel does not have: they
would be a third of it. So this works where the repository is at hand: ``pip install -e ".[notebook]"``. It is the one
place where rope_core names the app, and nothing else of rope_core loads it.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if (ROOT / "ui/notebook").is_dir() and str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))
try:
    from ui.notebook import figure, film, names
except ModuleNotFoundError as missing:
    raise ImportError(
        f'rope_core.notebook must have a clone and the extra: pip install -e ".[notebook]" in it ({missing})'
    ) from missing

__all__ = ["figure", "film", "names"]
