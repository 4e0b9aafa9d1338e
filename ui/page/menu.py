"""Which pages there are, by section, in the order of the menu, and what each is for."""

from pathlib import Path

from ui.text.words import page_labels

PAGES = Path(__file__).resolve().parents[2] / "pages"
PATH = (
    "home",
    "encodings",
    "rotation",
    "layouts",
    "frequencies",
    "clock",
    "attention",
    "extrapolation",
    "block",
    "positions",
    "precision",
    "lrpe",
)
"""The story, from why a model needs positions to what follows from RoPE; a page may build on earlier ones."""
ORDER = {
    "learn": PATH,
    "lab": ("schemes", "inside"),
    "engineer": ("config", "benchmark"),
    "reference": ("models", "ledger", "glossary"),
}
SECTIONS = {path.stem: path.parent.name for path in PAGES.glob("*/*.py")}
"""The section of each page that is installed, by the page's name."""


def menu_summaries(lang: str) -> dict[str, str]:
    """Return what a page is for, one line by its name, in the menu's order; a page without such a line is left out."""
    lines = {name: page_labels(lang, name).get("menu.summary", "") for names in ORDER.values() for name in names}
    return {name: line for name, line in lines.items() if line}
