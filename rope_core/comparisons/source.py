"""What the text of somebody's function says: its name, lines that a fault may come from, its imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ARGUMENTS = {"dim", "base", "train_len", "factor", "seq_len", "length"}
"""What a function of a width may be called with."""
USUAL = {0, 1, 2, 0.1, 0.5}
"""Literals that formulas of schemes have whatever the model is."""


@dataclass(frozen=True)
class SourceLine:
    """A line of code: ``number`` from 1, ``text`` without indentation, ``words`` in question, their ``values``."""

    number: int
    text: str
    words: str
    values: tuple[float, ...] = ()


def scheme_functions(code: str) -> list[ast.FunctionDef]:
    """Return the functions of a width and other arguments of schemes, or of a config and a device, in their order.

    [] where the text is no Python.

    >>> [each.name for each in scheme_functions("def g(dim, low): ...\\ndef f(dim, base): ...")]
    ['f']
    """
    return [each for each in _functions(code) if _is_scheme(each)]


def _is_scheme(function: ast.FunctionDef) -> bool:
    names = [arg.arg for arg in function.args.args]
    if names[:1] == ["config"]:
        return names[1:2] in ([], ["device"])
    return names[:1] == ["dim"] and ARGUMENTS.issuperset(names[: len(names) - len(function.args.defaults)])


def public_names(code: str) -> list[str]:
    """Return the names of the functions of a width or a config that are no helpers; all where every one is a helper.

    >>> public_names("def _f(dim): ...\\ndef g(dim): ...\\ndef h(config): ...")
    ['g', 'h']
    """
    names = [each.name for each in scheme_functions(code)] or [
        each.name for each in _functions(code) if [arg.arg for arg in each.args.args][:1] in (["dim"], ["config"])
    ]
    return [name for name in names if not name.startswith("_")] or names


def _functions(code: str) -> list[ast.FunctionDef]:
    try:
        return [each for each in ast.parse(code).body if isinstance(each, ast.FunctionDef)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def named_or_last_function(code: str, name: str = "") -> ast.FunctionDef | None:
    """Return the function that driver.py runs: the one named, else the last that `public_names` has; None without one.

    >>> chosen = named_or_last_function("def g(x): ...\\ndef f(dim, base): ...")
    >>> chosen and chosen.name
    'f'
    """
    wanted = [name] if name else public_names(code)[-1:]
    return next((each for each in reversed(_functions(code)) if each.name in wanted), None)


def function_name(code: str) -> str:
    """Return the name of the function that is run; "" where the text has none."""
    chosen = named_or_last_function(code)
    return chosen.name if chosen else ""


def takes_config(code: str, name: str = "") -> bool:
    """Return whether the function that is run takes a config, as those of transformers do."""
    chosen = named_or_last_function(code, name)
    return chosen is not None and [arg.arg for arg in chosen.args.args][:1] == ["config"]


def _line(code: str, nodes: Iterable[ast.expr], words: str) -> SourceLine | None:
    number = min((each.lineno for each in nodes), default=0)
    return SourceLine(number, code.splitlines()[number - 1].strip(), words) if number else None


def _literals(code: str, name: str) -> list[tuple[ast.Constant, float]]:
    """Return the numbers in the function that is run, but for USUAL ones, with their nodes."""
    chosen = named_or_last_function(code, name)
    return [
        (node, float(ast.literal_eval(node)))
        for each in (chosen.body if chosen else ())
        for node in ast.walk(each)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in USUAL
    ]


def literal_values(code: str, name: str = "") -> list[float]:
    """Return the numbers of the function that is run, each once, but for USUAL ones.

    >>> literal_values("def f(dim, base):\\n    return g(2 * dim, 1e4, 1e4)")
    [10000.0]
    """
    return [*dict.fromkeys(value for _, value in _literals(code, name))]


def literal_line(code: str, values: Iterable[float], name: str = "") -> SourceLine | None:
    """Return the line where a literal is in the place of an argument without effect, its literals as words.

    A literal equal to one of ``values``, what the arguments are here, counts before others; USUAL ones never do.

    >>> literal_line("def f(dim, base):\\n    low, high = 20, 46", (4096.0,))
    SourceLine(number=2, text='low, high = 20, 46', words='20, 46', values=(20.0, 46.0))
    """
    numbers, known = _literals(code, name), {*values}
    wanted = [each for each in numbers if each[1] in known] or numbers
    first = min((node.lineno for node, _ in wanted), default=0)
    here = [each for each in wanted if each[0].lineno == first]
    line = _line(code, [node for node, _ in here], ", ".join(f"{value:g}" for _, value in here))
    return replace(line, values=tuple(value for _, value in here)) if line else None


def one_sided_line(code: str, name: str = "") -> SourceLine | None:
    """Return the line that bounds on one side only what the function bounds nowhere on the other.

    >>> one_sided_line("def f(dim):\\n    g = dim / 9\\n    return np.minimum(g, 1)")
    SourceLine(number=3, text='return np.minimum(g, 1)', words='np.minimum', values=())
    """
    chosen = named_or_last_function(code, name)
    calls = [node for node in ast.walk(chosen) if isinstance(node, ast.Call)] if chosen else []
    named = [(node, ast.unparse(node.func)) for node in calls]
    last = {words.rpartition(".")[2] for _, words in named}
    if last & {"clip", "clamp", "where"} or {"minimum", "maximum"} <= last:
        return None
    node, words = next(((n, w) for n, w in named if w.rpartition(".")[2] in ("minimum", "maximum")), (None, ""))
    return _line(code, [node], words) if node else None


SOFTMAX = re.compile(r"softmax|mscale_all_dim", re.IGNORECASE)
"""What says that the softmax scale takes the temperature, as DeepSeek's code does."""
MAX_POSITION = re.compile(r"(?<!original_)max_position_embeddings")


def line_of(code: str, wanted: re.Pattern[str], name: str = "") -> SourceLine | None:
    """Return the first line that matches a pattern, of the function that is run where ``name`` is one's.

    >>> line_of("def f(dim):\\n    return g, 1.0  # the softmax takes it", SOFTMAX)
    SourceLine(number=2, text='return g, 1.0  # the softmax takes it', words='softmax', values=())
    """
    chosen = named_or_last_function(code, name) if name else None
    first, last = (chosen.lineno, chosen.end_lineno) if chosen else (1, None)
    for number, line in enumerate(code.splitlines()[first - 1 : last], first):
        if match := wanted.search(line):
            return SourceLine(number, line.strip(), match.group())
    return None


MODULES, MODULE_BYTES = 64, 2_000_000
"""The most files, and bytes of them, that go along with a function for its imports."""


def needed_text(code: str, name: str) -> str:
    """Return a text with the lines alone that a function needs, each at its number: for one whose package is not here.

    An import under a condition is taken without it.

    >>> needed_text("import x\\nif x.y:\\n    import torch\\ndef f(dim):\\n    return torch.g(dim)", "f")
    '\\n\\nimport torch\\ndef f(dim):\\n    return torch.g(dim)'
    """
    lines, bound = code.splitlines(), dict[str, list[ast.stmt]]()
    waiting = [*ast.parse(code).body]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.If | ast.Try):
            waiting += [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.Import | ast.ImportFrom)]
        for each in _bound_names(node):
            bound.setdefault(each, []).append(node)
    kept, names = list[ast.stmt](), [name]
    while names:
        for node in bound.pop(names.pop(), ()):
            kept.append(node)
            names += [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    shown = [""] * len(lines)
    for node in kept:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        own = lines[first - 1 : node.end_lineno]
        shown[first - 1 : node.end_lineno] = [own[0][node.col_offset :], *own[1:]]
    return "\n".join(shown)


def _bound_names(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a module binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(each.asname or each.name).partition(".")[0] for each in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]


def package_root(file: Path) -> Path:
    """Return the folder that a file's imports start from: above the packages that it is in."""
    folder = file.resolve().parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def module_name(file: Path) -> str:
    """Return a file's name as Python imports it from `package_root`."""
    return ".".join(file.resolve().relative_to(package_root(file)).with_suffix("").parts)


def imported_modules(file: Path) -> dict[str, str]:
    """Return the text of each file beside a file, or in its package, that it imports, and that those import, by name.

    A package's own __init__ goes along only where something is imported from it. At most MODULES files.
    """
    roots, texts = [package_root(file), file.resolve().parent], dict[str, str]()
    waiting = [(file, module_name(file))]
    while waiting:
        path, name = waiting.pop()
        for names in _imports(path.read_text(encoding="utf-8-sig", errors="replace"), name):
            places = [(each, place) for each in names if (place := _place(each, roots))]
            if not places or places[0][0] in texts or places[0][1].resolve() == file.resolve():
                continue
            wanted, place = places[0]
            text = place.read_text(encoding="utf-8-sig", errors="replace")
            if len(texts) < MODULES and len(text) + sum(map(len, texts.values())) < MODULE_BYTES:
                texts[wanted] = text
                waiting.append((place, f"{wanted}.__init__" if place.name == "__init__.py" else wanted))
    return texts


def _place(module: str, roots: Iterable[Path]) -> Path | None:
    """Return the file of a module; None where it is not below the roots."""
    path = module.replace(".", "/")
    tried = (root / f"{path}{end}" for root in roots for end in (".py", "/__init__.py"))
    return next((each for each in tried if module and each.is_file()), None)


def _imports(code: str, name: str) -> Iterator[tuple[str, ...]]:
    """Yield what a text imports, its own name being ``name``: each as a module, else as a name of one."""
    try:
        nodes = [*ast.walk(ast.parse(code))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name,) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = name.split(".")[: -node.level] if node.level else []
            base = ".".join([*package, *filter(None, [node.module])])
            yield from ((f"{base}.{alias.name}".lstrip("."), base) for alias in node.names)
