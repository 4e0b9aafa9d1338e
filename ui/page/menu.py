"""Which pages there are, by section, in the order of the menu."""

from pathlib import Path

PAGES = Path(__file__).resolve().parents[2] / "pages"
ORDER = {
    "learn": ("home", "rotation", "layouts", "frequencies", "clock", "attention", "encodings", "block", "precision"),
    "lab": ("lrpe", "extrapolation"),
    "engineer": ("config", "benchmark"),
    "reference": ("models", "ledger"),
}
FILES = {path.stem: path for path in PAGES.glob("*/*.py")}
"""The files of the pages that are installed, by name."""
