"""What the page of schemes compares: the reader's text, shipped schemes and models, and the setting that they share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import parse_qsl

from rope_core.comparisons import pasted, samples
from rope_core.comparisons.columns import ComparisonColumn, of_config, of_scheme
from rope_core.comparisons.compare import compare_column
from rope_core.comparisons.examples import EXAMPLES
from rope_core.comparisons.rows import ComparedColumn, ComparisonSetting, checks, target_length
from rope_core.comparisons.scheme_variants import likeable_schemes
from rope_core.comparisons.source import function_name, public_names
from rope_core.extension.extend import extend
from rope_core.hf.catalogue import released_model as catalogued
from rope_core.programs.commands import launch_commands
from rope_core.rope import MAX_LEN, Rope
from rope_core.schemes import KINDS, SCHEMES, UNSCALED
from ui.figures import catalogue as models
from ui.figures.schemes import sweep
from ui.figures.schemes.checks import KEYS
from ui.figures.schemes.pairs import SchemeComparison
from ui.page import fields
from ui.page.fields import FACTOR, SEQ_LEN
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.store import PageValues
from ui.text.words import PageTexts

MINE = Field("mine", "text", next(iter(EXAMPLES)), high=pasted.LETTERS)
OTHERS = ("", *SCHEMES, *models.model_ids())
BESIDE = tuple(
    Field(f"beside_{k}", "choice", name, choices=OTHERS) for k, name in enumerate((UNSCALED, KINDS[0], KINDS[-1]), 1)
)
REFERENCE = Field("reference", "choice", "3", choices=("1", "2", "3"))
TRAINED_TO = Field("trained_to", "int", None, 1, fields.MAX_LEN, optional=True)
FINE_TUNED = Field("fine_tuned", "bool", False)
CHECK = Field("check", "int", None, 0, len(KEYS) - 1, optional=True)
"""The check that is looked at; without a value the first that does not hold, else that of the least margin."""
ALLOWED = {
    key: Field(f"allow_{key}", "float", row["threshold"], 0.0, 1e6, low_open=True)
    for key, row in checks().items()
    if "threshold" in row
}
LIKE = Field("like", "choice", "", choices=("", *likeable_schemes()))
"""The scheme that the reader's is held to."""
FIELDS = (MINE, *BESIDE, REFERENCE, LIKE, TRAINED_TO, FINE_TUNED, CHECK, *ALLOWED.values())


@dataclass(frozen=True)
class RefusedColumns:
    """Columns that have no answer here: the reader's own, and others by their names."""

    mine: str = ""
    others: Mapping[str, Exception] | None = None


def comparison_choice_name(choice: str, t: PageTexts) -> str:
    """Return how a reader knows what may be beside."""
    return t("nothing") if not choice else t(f"scheme.{choice}") if choice in SCHEMES else models.model_name(choice)


def comparison_setting(store: PageValues) -> ComparisonSetting:
    """Return what columns are compared at; raises ValueError where the values do not go together."""
    pasted.unpack(store.get(MINE))
    rope, factor = store.rope(), store.get(FACTOR)
    length = target_length(rope, factor, store.get(SEQ_LEN))
    thresholds = {key: store.get(field) for key, field in ALLOWED.items()}
    tuned, like, model = store.get(FINE_TUNED) or None, store.get(LIKE), store.get(fields.MODEL)
    name = "" if model == fields.CUSTOM else model
    return ComparisonSetting(rope, factor, length, store.get(TRAINED_TO), tuned, thresholds, like, name)


def sweep_lengths(setting: ComparisonSetting) -> tuple[int, ...]:
    """Return the target lengths of the sweep."""
    return sweep.doubled_target_lengths(setting.rope.train_len, MAX_LEN)


@lru_cache(maxsize=64)
def scheme_calls(rope: Rope, factor: float, length: int, text: str) -> list[samples.SchemeCall]:
    """Return what a function of the reader's is called with."""
    setting = ComparisonSetting(rope, factor, length)
    return samples.calls_of(setting, sweep.FACTORS, sweep_lengths(setting), pasted.shown(text))


def own_name(text: str, t: PageTexts) -> str:
    """Return what the reader's column is called: as its function is, where it is one."""
    return function_name(pasted.shown(text)) or t("mine")


def count_of_functions(text: str) -> int:
    """Return how many functions a text has of which one is compared; 0 where there is no other."""
    count = len(public_names(text)) if pasted.kind_of(text) == "code" else 0
    return count if count > 1 else 0


def reader_column(
    text: str, setting: ComparisonSetting, answers: samples.FunctionAnswers | None, t: PageTexts
) -> ComparedColumn:
    """Return the reader's column; one that is a config brings its own geometry. Raises ValueError."""
    if pasted.kind_of(text) != "code":
        column = pasted.of_text(own_name(text, t), text)
    elif answers is None:
        raise ValueError(t("not_run"))
    else:
        column = samples.of_answers(own_name(text, t), answers)
    if column.rope is not None:
        setting = replace(setting, rope=column.rope, factor=column.factor or 1.0, length=column.length or 1)
    return compare_column(column, setting)


def comparison_and_refusals(
    store: PageValues, text: str, answers: samples.FunctionAnswers | None, t: PageTexts
) -> tuple[SchemeComparison | None, RefusedColumns]:
    """Return the columns beside each other, and those that have no answer here."""
    setting, given, names, python = comparison_setting(store), [], [], []
    refused = RefusedColumns()
    try:
        given.append(reader_column(text, setting, answers, t))
    except (ValueError, KeyError) as error:
        refused = RefusedColumns(str(error))
    else:
        setting = given[0].setting
        names.append(own_name(text, t))
        python.append(_python(text))
    reference, others = 0, {}
    for k, field in enumerate(BESIDE, 1):
        choice = store.get(field)
        if not choice:
            continue
        try:
            given.append(_beside(choice, setting))
        except ValueError as error:
            others[choice] = error
            continue
        names.append(comparison_choice_name(choice, t))
        python.append(repr(choice))
        reference = len(names) - 1 if store.get(REFERENCE) == str(k) else reference
    refused = replace(refused, others=others)
    if not given:
        return None, refused
    before = "" if refused.mine else _before(text)
    check = store.get(CHECK)
    key = first_shown_check(given[0]) if check is None else KEYS[check]
    return SchemeComparison(tuple(given), tuple(names), reference, key, tuple(python), before), refused


def first_shown_check(mine: ComparedColumn) -> str:
    """Return the key of the check to look at first: one that does not hold, at pairs if any, else the least margin."""
    at_pairs = [row for row in mine.broken if row.marked_pairs]
    rows = [*at_pairs, *mine.broken, mine.least_with_pair or mine.least]
    return rows[0].key


def _beside(choice: str, setting: ComparisonSetting) -> ComparedColumn:
    """Return a scheme, or a model's scheme with its parameters, at the setting's geometry."""
    if choice in SCHEMES:
        return compare_column(of_scheme(choice), setting)
    column: ComparisonColumn = of_config(choice, catalogued(choice).hf_config())
    # What a model was released with it was trained on with.
    return compare_column(replace(column, rope=None, length=None, factor=None), replace(setting, fine_tuned=True))


def _python(text: str) -> str:
    """Return the reader's column as Python hands it to rc.compare."""
    kinds = {"example": f"examples.{text}", "config": "config", "numbers": "inv_freq", "code": '"mine.py"'}
    return kinds[pasted.kind_of(text)]


def _before(text: str) -> str:
    """Return the Python lines that the reader's column needs."""
    return {
        "example": "from rope_core.comparisons import examples",
        "config": f"import json\nconfig = json.loads({text!r})",
        "numbers": f"from rope_core.comparisons.pasted import of_text\ninv_freq = of_text('mine', {text!r})",
        "code": f"from pathlib import Path\nPath('mine.py').write_text({text!r})",
    }[pasted.kind_of(text)]


@dataclass(frozen=True)
class ConfigBlock:
    """A scheme of the comparison as a config: its title, the fields to write, and the commands of programs."""

    title: str
    json: str
    commands: str


def scheme_config_blocks(store: PageValues, lang: str) -> list[ConfigBlock]:
    """Return the config blocks that give the chosen model those of the schemes beside that configs know."""
    model = store.get(fields.MODEL)
    setting = comparison_setting(store)
    if model == fields.CUSTOM:
        return []
    try:
        ways = extend(catalogued(model).hf_config(), setting.length)
    except ValueError:
        return []
    wanted = {store.get(field) for field in BESIDE}
    return [
        ConfigBlock(
            way.title(lang),
            json.dumps(way.block, indent=2),
            "\n".join(each.line for each in launch_commands(way, lang=lang) if each.line),
        )
        for way in ways
        if way.rope.scheme in wanted
    ]


def schemes_page_address(page: PageFrame, name: str) -> str:
    """Return the address of the page of schemes with the values of a label, as a link has them."""
    return page.href("schemes", **dict(parse_qsl(page.t(f"values.{name}"))))
