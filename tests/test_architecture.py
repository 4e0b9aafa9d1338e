"""Who may import whom, pages without arithmetic, schemes spelled in one file.

Each rule is a function from a syntax tree to the lines that break it, so that it is tried on planted faults as well.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping

import pytest

import rope_core
from rope_core import SCHEMES
from tests.support import ROOT
from tests.support.sources import imports, last, nodes, sources, tree
from tools.book.__main__ import project

Rule = Callable[[ast.AST], list[str]]


def never(*forbidden: str) -> Rule:
    """No import of these packages."""

    def rule(node: ast.AST) -> list[str]:
        return [f"{line}: {name}" for line, name in imports(node) if name.split(".")[0] in forbidden]

    return rule


def never_within(module: str) -> Rule:
    """No import of this module or of what is in it."""

    def rule(node: ast.AST) -> list[str]:
        return [f"{line}: {name}" for line, name in imports(node) if f"{name}.".startswith(f"{module}.")]

    return rule


LIBRARIES = {"np", "npt", "numpy", "math", "torch", "go", "plotly", "importlib", "st", "streamlit", "served"}


def page_imports(node: ast.AST) -> list[str]:
    """Return the ui and rope_core's public names, to show what drew a figure; no library by a back door, no frame."""
    return [
        f"{line}: {name}"
        for line, name in imports(node)
        if name.split(".")[0] not in ("ui", "rope_core", "__future__")
        or any(part.startswith("_") or part in LIBRARIES for part in name.removeprefix("__future__").split("."))
    ]


ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)


def is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return is_text(node.left) or is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def arithmetic(node: ast.AST) -> list[str]:
    """No operator + - * / // % ** @ but on text with a literal in sight, augmented ones included; no negated name."""
    return [
        f"{each.lineno}: {ast.unparse(each)}"
        for each in nodes(node)
        if (isinstance(each, ast.AugAssign) and isinstance(each.op, ARITHMETIC))
        or (isinstance(each, ast.BinOp) and isinstance(each.op, ARITHMETIC) and not is_text(each))
        or (
            isinstance(each, ast.UnaryOp)
            and isinstance(each.op, ast.USub)
            and not isinstance(each.operand, ast.Constant)
        )
    ]


# Two schemes have names that are plain words with uses of their own (Plotly's textposition="none", an activation):
# they are refused where a scheme is asked for, all other names everywhere.
PLAIN_WORDS = {"none", "linear"}
ASKING = {"Request", "rescale", "scheme", "slowdown"}


def scheme_names(node: ast.AST) -> list[str]:
    """No string that is a scheme's name; the two plain words only where a scheme is wanted."""
    wanted: list[ast.AST] = []
    for each in nodes(node):
        if isinstance(each, ast.Call):
            if last(each.func) in ASKING:
                wanted += each.args
            wanted += [keyword.value for keyword in each.keywords if keyword.arg == "scheme"]
        elif isinstance(each, ast.Subscript) and last(each.value) == "SCHEMES":
            wanted.append(each.slice)
        elif isinstance(each, ast.AnnAssign) and ast.unparse(each.target) == "scheme" and each.value:
            wanted.append(each.value)
        elif isinstance(each, ast.Compare) and any(
            ast.unparse(s).endswith("scheme") for s in (each.left, *each.comparators)
        ):
            wanted += [each.left, *each.comparators]
    literals = {id(each) for each in wanted if isinstance(each, ast.Constant)}
    return [
        f"{each.lineno}: {each.value!r}"
        for each in nodes(node)
        if isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and each.value in SCHEMES
        and (each.value not in PLAIN_WORDS or id(each) in literals)
    ]


RULES: list[tuple[str, Rule, list[str]]] = [
    (
        "rope_core stands alone but for its door to notebooks",
        never("streamlit", "plotly", "ui", "pages"),
        [path for path in sources("rope_core") if path != "rope_core/notebook/__init__.py"],
    ),
    ("nothing of rope_core loads that door", never_within("rope_core.notebook"), sources("rope_core")),
    ("ui imports no page", never("pages"), sources("ui")),
    ("figures know no Streamlit, no Plotly", never("streamlit", "plotly", "orjson"), sources("ui/figures", "ui/film")),
    ("figures read plain data, whoever made it", never_within("ui.work"), sources("ui/figures", "ui/film")),
    ("fields, values and work know no Streamlit", never("streamlit"), sources("ui/page", "ui/work", "ui/text")),
    ("pages import ui and rope_core", page_imports, sources("pages")),
    ("pages have no arithmetic", arithmetic, sources("pages")),
    (
        "schemes are spelled in one file",
        scheme_names,
        [
            path
            for path in sources("rope_core", "ui", "pages", "app.py")
            if path != "rope_core/schemes.py" and not path.startswith("rope_core/hf")
        ],
    ),
]


@pytest.mark.parametrize(("rule", "files"), [rule[1:] for rule in RULES], ids=[rule[0] for rule in RULES])
def test_rule(rule: Rule, files: list[str]) -> None:
    assert files
    broken = [f"{path}:{line}" for path in files for line in rule(tree(path))]
    assert not broken, "\n".join(broken)


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def dynamic(node: ast.AST) -> Iterator[str]:
    """Return the constant beginning of a module's name that is put together where it is imported."""
    for each in nodes(node):
        if isinstance(each, ast.Call) and last(each.func) == "import_module":
            first = each.args[0].values[0] if isinstance(each.args[0], ast.JoinedStr) else None
            if isinstance(first, ast.Constant):
                yield str(first.value)


def graph(files: Mapping[str, ast.AST]) -> dict[str, set[str]]:
    """Which of these modules imports which: at the top, in a function, for types only, or by a name put together.

    A package that a module's name passes through is not counted, a name that a package's own __init__ gives is. A
    module that loads others of its own package by name, as a table of backends does, knows none of them.
    """
    result: dict[str, set[str]] = {}
    for name, node in files.items():
        wanted = [(target, target.rpartition(".")[0]) for _, target in imports(node)]
        known = {next((each for each in pair if each in files), "") for pair in wanted}
        starts = [start for start in dynamic(node) if not name.startswith(start)]
        known |= {each for start in starts for each in files if each.startswith(start)}
        result[name] = known - {"", name}
    return result


def circle(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, the shortest there is; [] where imports go down only."""
    circles = []
    for start in edges:
        paths = [[start]]
        seen = {start}
        while paths:
            path = paths.pop(0)
            for name in sorted(edges[path[-1]]):
                if name == start:
                    circles.append([*path, start])
                    paths = []
                    break
                if name not in seen:
                    seen.add(name)
                    paths.append([*path, name])
    return min(circles, key=len, default=[])


def test_imports_go_down_only() -> None:
    files = {module_of(path): tree(path) for path in sources("rope_core", "ui", "pages", "app.py")}
    assert len(files) > 150
    assert circle(graph(files)) == []


def folder_of(name: str) -> str:
    """Return a module's folder: a room of rope_core or ui, else its own tree."""
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] in ("rope_core", "ui") else parts[0]


def test_folders_import_down_only() -> None:
    trees = ("rope_core", "ui", "app.py", "deploy", "benchmarks", "tools")
    folders: dict[str, set[str]] = {}
    for name, known in graph({module_of(path): tree(path) for path in sources(*trees)}).items():
        folders.setdefault(folder_of(name), set()).update(map(folder_of, known))
    assert len(folders) > 30
    assert circle({folder: known - {folder} for folder, known in folders.items()}) == []


@pytest.mark.parametrize(
    "sources_of",
    [
        {"a": "import b", "b": "import c", "c": "def f():\n    from a import x"},
        {"a": "from b import x", "b": "if TYPE_CHECKING:\n    from a import y"},
        {"a.b": "from a import c", "a.c": "from a.b import name"},
        {"a": "importlib.import_module(f'b.{name}')", "b.c": "import a"},
    ],
)
def test_a_planted_circle_is_found(sources_of: dict[str, str]) -> None:
    edges = graph({name: ast.parse(text) for name, text in sources_of.items()})
    assert set(circle(edges)) == set(sources_of)
    first = next(iter(sources_of))
    assert circle(edges | {first: set()}) == []


def test_figures_and_pages_reach_no_streamlit_through_another_module() -> None:
    # A package's own __init__ runs before its modules, so it belongs to what a figure reaches.
    files = {module_of(path): path for path in sources("ui", "pages")}
    reached, todo = set(), [name for name in files if name.startswith(("ui.figures", "pages"))]
    while todo:
        name = todo.pop()
        if name in reached or name not in files:
            continue
        reached.add(name)
        todo.append(name.rpartition(".")[0])
        for _, imported in imports(tree(files[name])):
            todo += [imported, imported.rpartition(".")[0]]
    broken = [f"{files[name]}:{line}" for name in sorted(reached) for line in never("streamlit")(tree(files[name]))]
    assert not broken, "\n".join(broken)


ROOMS = re.findall(r"^    (\w+) +", str(rope_core.__doc__), re.MULTILINE)


def room_of(name: str) -> str:
    """Return a module's room; "" for the modules of the idea at the root, which all rooms may import."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else ""


def upward(room: str) -> Rule:
    """No import of a room below one's own in the package's docstring; the root's modules import no room."""
    allowed = {"", *ROOMS[: ROOMS.index(room) + 1]} if room else {""}

    def rule(node: ast.AST) -> list[str]:
        return [
            f"{line}: {name}"
            for line, name in imports(node)
            if name.split(".")[0] == "rope_core" and room_of(name) not in allowed
        ]

    return rule


def test_rooms_import_down_only() -> None:
    assert set(ROOMS) == {path.name for path in (ROOT / "rope_core").iterdir() if (path / "__init__.py").exists()}
    top = ("rope_core/__init__.py", "rope_core/__main__.py")
    files = [path for path in sources("rope_core") if path not in top]
    broken = [f"{path}:{line}" for path in files for line in upward(room_of(module_of(path)))(tree(path))]
    assert not broken, "\n".join(broken)


PLANTED: list[tuple[Rule, str]] = [
    (upward("hf"), "from rope_core.checks.case import LayerContext"),
    (upward("programs"), "from rope_core.checks.check import check"),
    (upward("verification"), "from rope_core.extension.extend import extend"),
    (upward("theory"), "def f():\n    import rope_core.lab.model"),
    (upward(""), "from rope_core.hf import read"),
    (never("streamlit"), "def f():\n    from streamlit.runtime import get_instance"),
    (never_within("rope_core.notebook"), "def f():\n    import rope_core.notebook"),
    (never("ui"), "import importlib\nimportlib.import_module('ui.text')"),
    (page_imports, "from ui.served.content import st"),
    (page_imports, "from math import pi"),
    (page_imports, "from rope_core.theory.clock import _dial"),
    (page_imports, "from rope_core import np"),
    (arithmetic, "x = [a / b for a in c]"),
    (arithmetic, "x = -a"),
    (arithmetic, "x += 1"),
    (arithmetic, "x = f'{a - b}'"),
    (scheme_names, "x = {'ntk': 1}"),
    (scheme_names, "Request(rope, 'linear')"),
    (scheme_names, "rc.Request(rope, scheme='none')"),
    (scheme_names, "SCHEMES['linear']"),
    (scheme_names, "if request.scheme == 'none': pass"),
    (scheme_names, "class A:\n    scheme: str = 'none'"),
]


@pytest.mark.parametrize(("rule", "source"), PLANTED)
def test_a_planted_fault_is_found(rule: Rule, source: str) -> None:
    assert rule(ast.parse(source))


CLEAN: list[tuple[Rule, str]] = [
    (upward("checks"), "from rope_core.hf import read\nfrom rope_core import rotation"),
    (page_imports, "from ui.page.frame import PageFrame\nfrom rope_core import Rope\nimport rope_core"),
    (arithmetic, "x = 'a' + b + 'c'\ny = f'{b}' + b\nz = a | b\nw = -1"),
    (scheme_names, "figure.update(textposition='none', shape='linear')\nx = 'no yarn here'"),
]


@pytest.mark.parametrize(("rule", "source"), CLEAN)
def test_what_is_allowed_passes(rule: Rule, source: str) -> None:
    assert not rule(ast.parse(source))


def test_the_book_packs_what_its_pages_import() -> None:
    """Of ui and pages, from the book's own door on; what a page offers on a server alone it reaches by a name."""
    edges = graph({module_of(path): tree(path) for path in sources("ui", "pages")})
    packed = {module_of(name) for name in project()}
    reached, todo = set(), [name for name in edges if name.startswith(("pages", "ui.book"))]
    while todo:
        reached.add(name := todo.pop())
        todo += edges[name] - reached
    assert len(reached) > 100
    assert reached - packed == set()
