"""What keyboards and screen readers need beyond Streamlit: the script that patches names, roles, keys and language."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from rope_core.languages import LANGUAGES, words
from ui.film.colours import LINE, TEXT_COLOURS
from ui.text.words import page_labels

# Of a box's text, four bytes each at most, so that they fit into a message; a longer text is pasted as a file.
MOST_LETTERS = 60_000


def _rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"


LETTERS, MARKS = "text", ":is(path, line, text)"


def _themed(part: str, where: str, colour: str, light: str, dark: str) -> str:
    """Return a rule for what Plotly draws in the colour, another one on each theme, by ``fill`` or by ``stroke``."""
    return (
        f'.js-plotly-plot {where}[style*="{part}: {_rgb(colour)}"] {{{part}: light-dark({light}, {dark}) !important}}'
    )


DRAWN = "\n".join(
    [_themed("fill", LETTERS, colour, *pair) for colour, pair in TEXT_COLOURS.items()]
    + [_themed(part, MARKS, LINE, "black", "white") for part in ("fill", "stroke")]
)
STYLE = f"""<style>
/* A menu section that folds is out of the keyboard's reach, and the menu is short: it stays open. */
[data-testid="stNavSectionHeader"] {{pointer-events: none}}
[data-testid="stNavSectionHeader"] [data-testid="stIconMaterial"] {{visibility: hidden}}
/* Without their font, icons would be English words that lie over the labels. */
html:not(.rope-lab-icons) :is([data-testid="stIconMaterial"], [style*="Material Symbols"])
  {{visibility: hidden; max-width: 1.25em; overflow: hidden}}
/* Streamlit fades captions below a contrast of 4.5. */
[data-testid="stCaptionContainer"] {{color: light-dark(#55575f, #b9bcc6) !important; opacity: 1 !important}}
:is(g:not(.film-handle, .film-sketch), a, pre, table, span, div)[tabindex="0"]:focus-visible, .modebar-btn:focus-visible
  {{outline: 3px solid light-dark(#0b5c9e, #6cb8f0); outline-offset: 2px}}
/* Streamlit writes white on either theme's primary colour. */
[data-testid^="stBaseButton-primary"]:not(:disabled) {{color: light-dark(white, black) !important}}
.js-plotly-plot .modebar:focus-within {{opacity: 1 !important}}
.js-plotly-plot .modebar-btn {{min-width: 24px; min-height: 24px}}
.rope-lab-svg {{font: 600 12px sans-serif !important; padding: 4px; cursor: pointer; color: inherit}}
{DRAWN}</style>"""


@lru_cache(maxsize=len(LANGUAGES))
def accessibility_script(lang: str) -> str:
    """Return the script with a language's words: Streamlit's English names, or this script's in any language."""
    own = {key: name for key, name in page_labels(lang, "labels").items() if key.startswith("browser.")}
    accessible = {page_labels(each, "labels")[key]: name for each in LANGUAGES for key, name in own.items()}
    given = {
        "locale": words(lang, "language")["locale"],
        "names": accessible,
        "tongues": {name: words(each, "language")["locale"] for each, name in LANGUAGES.items()},
        "svg": own["browser.svg"],
        "letters": MOST_LETTERS,
    }
    words_here = json.dumps(given, ensure_ascii=False).replace("</", r"<\/")
    source = (Path(__file__).parent / "access.js").read_text("utf-8").replace("WORDS", words_here, 1)
    return f"<script>{source}</script>"
