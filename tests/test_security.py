"""The threat list's promises that need no browser: sources, caches, configs, lessons, the hub, children, files."""

import ast
import contextlib
import gzip
import importlib
import json
import os
import re
import stat
import subprocess
import sys
import threading
import time
import tomllib
from collections import deque
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

import rope_core as rc
from rope_core.bench import view
from rope_core.bench.records import BenchmarkDatabase
from rope_core.checks.check import check_text
from rope_core.errors import ConfigError
from rope_core.hf import hub
from rope_core.jobs.ending import exit_sentence
from tests.support import ROOT
from tests.support.sources import dotted, imports, nodes, sources, tree
from ui.figures.drawing import table_to_csv
from ui.hall import store as rooms
from ui.page import configs
from ui.present import lessons
from ui.present.rooms import normalized_room_name
from ui.work import measured

RUNNING = ("rope_core", "ui", "pages", "app.py", "deploy")


# --- the list itself

THREATS = ROOT / "docs" / "threats.md"


def named_tests() -> list[tuple[str, str]]:
    """Every test that the threat list names: (file, function)."""
    return re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", THREATS.read_text("utf-8"))


def test_every_test_that_the_threat_list_names_exists() -> None:
    named = named_tests()
    assert len(named) >= 20
    for file, name in named:
        assert name in {node.name for node in nodes(tree(file)) if isinstance(node, ast.FunctionDef)}, f"{file}::{name}"


def test_every_threat_and_fault_names_a_test() -> None:
    rows = [line for line in THREATS.read_text("utf-8").splitlines() if line.startswith("| ")]
    tables = [line for line in rows if "tests/" in line or "by hand" in line]
    assert len(tables) >= 20
    for heading in ("## Threats", "## Faults"):
        part = THREATS.read_text("utf-8").split(heading)[1].split("\n## ")[0]
        lines = [line for line in part.splitlines() if line.startswith("| ")][2:]
        assert len(lines) >= 7
        assert all("tests/" in line or "by hand" in line for line in lines), heading


# --- what the sources may not do: each rule is tried on planted faults as well

CALLS = {"eval", "exec", "compile", "__import__", "input", "breakpoint"}
SHELLS = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput"}
PICKLERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
LOADERS = {
    "yaml.load",
    "yaml.full_load",
    "yaml.unsafe_load",
    "torch.load",
    "torch.hub.load",
    "torch.jit.load",
    "pandas.read_pickle",
    "pd.read_pickle",
    "st.cache_data",
}
ARCHIVES = {"zipfile", "tarfile", "gzip", "bz2", "lzma", "zipimport", "xml", "lxml"}
UNPACKERS = {"shutil.unpack_archive", "zlib.decompress", "zlib.decompressobj"}


def executing(node: ast.AST) -> Iterator[str]:
    """Text that becomes code or a shell's command."""
    for each in nodes(node):
        if isinstance(each, ast.Call):
            name = dotted(each.func)
            if name in CALLS | SHELLS or any(k.arg == "shell" for k in each.keywords):
                yield f"{each.lineno}: {name}"


def unpickling(node: ast.AST) -> Iterator[str]:
    """Objects made of bytes: pickles in all their forms, and what hides them."""
    yield from (f"{line}: {name}" for line, name in imports(node) if name.split(".")[0] in PICKLERS)
    for each in nodes(node):
        if isinstance(each, ast.Call) and any(k.arg == "allow_pickle" for k in each.keywords):
            yield f"{each.lineno}: allow_pickle"
        elif isinstance(each, ast.Attribute) and dotted(each) in LOADERS:
            yield f"{each.lineno}: {dotted(each)}"


def unpacking(node: ast.AST) -> Iterator[str]:
    """Yield imports of archives and compressed text, which can be far larger than they look."""
    yield from (f"{line}: {name}" for line, name in imports(node) if name.split(".")[0] in ARCHIVES)
    for each in nodes(node):
        if isinstance(each, ast.Attribute) and dotted(each) in UNPACKERS:
            yield f"{each.lineno}: {dotted(each)}"


# What makes HTML of words: each escapes what it is given, see the test below.
WRITERS = {
    "access.accessibility_script",
    "anchor_html",
    "film_save_buttons_html",
    "lecturer_notes_html",
    "qr.qr_code_html",
    "symbol_legend_html",
}


def unescaped(node: ast.AST) -> Iterator[str]:
    """HTML from anything but constants and what WRITERS return, a name for either included."""
    each: ast.AST
    values: dict[str, list[ast.expr]] = {}
    for each in nodes(node):
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            values.setdefault(each.targets[0].id, []).append(each.value)

    def written(html: ast.expr, within: tuple[str, ...] = ()) -> bool:
        match html:
            case ast.Name(id=name) if not name.isupper():
                return name in values and name not in within and all(written(v, (*within, name)) for v in values[name])
            case ast.Call(func=func):
                return dotted(func) in WRITERS
            case ast.JoinedStr(values=parts):
                return all(
                    isinstance(part, ast.FormattedValue) and written(part.value, within)
                    for part in parts
                    if not isinstance(part, ast.Constant)
                )
            case ast.BinOp(left=left, right=right):
                return written(left, within) and written(right, within)
        return isinstance(html, ast.Constant) or bool(re.fullmatch(r"([a-z_]+\.)?[A-Z_]+", ast.unparse(html)))

    for each in nodes(node):
        shows = isinstance(each, ast.Call) and dotted(each.func) in ("st.html", "st.iframe", "components.html")
        if isinstance(each, ast.Call) and shows and not (each.args and written(each.args[0])):
            yield f"{each.lineno}: {ast.unparse(each)[:80]}"
        if isinstance(each, ast.keyword) and each.arg == "unsafe_allow_html":
            yield f"{each.lineno}: unsafe_allow_html"


def test_what_is_written_as_html_escapes_what_it_is_given() -> None:
    from ui.figures.drawing import film_save_buttons_html
    from ui.page.symbols import symbol_legend_html
    from ui.present.lessons import LessonStep
    from ui.present.qr import qr_code_html
    from ui.present.steps import lecturer_notes_html
    from ui.served.frame import anchor_html
    from ui.text.words import PageTexts

    hostile = '"><script>x()</script>'
    step = LessonStep(1, "rotation", hostile, hostile, {}, "", None, None)
    t = PageTexts("en", "stage")
    saves, code = film_save_buttons_html(hostile, PageTexts("en", "rotation")), qr_code_html("x", hostile)
    for written in (lecturer_notes_html(None, step, t), anchor_html(hostile), saves, code or ""):
        assert "<script>" not in written and "&quot;&gt;&lt;script&gt;" in written
    assert "<script" not in symbol_legend_html(PageTexts("en", "rotation"))


def constant_text(node: ast.expr, loops: set[str]) -> bool:
    """Whether an expression is text of the source alone: literals, capital names, and loops over these."""
    if isinstance(node, ast.Name):
        return node.id.isupper() or node.id in loops
    if isinstance(node, ast.JoinedStr):
        return all(constant_text(v.value if isinstance(v, ast.FormattedValue) else v, loops) for v in node.values)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def queries(node: ast.AST) -> Iterator[str]:
    """Yield SQL with values written into it."""
    each: ast.AST
    loops = {
        each.target.id
        for each in nodes(node)
        if isinstance(each, ast.For) and isinstance(each.target, ast.Name) and constant_text(each.iter, set())
    }
    for each in nodes(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            sql = each.func.attr in ("execute", "executemany", "executescript")
            if sql and not (each.args and constant_text(each.args[0], loops)):
                yield f"{each.lineno}: {ast.unparse(each)[:80]}"


def jobs(node: ast.AST) -> Iterator[str]:
    """Jobs whose module is not written in the source, or that are given no limit of memory and no tab to end with."""
    ours = {
        ast.unparse(target)
        for each in ast.iter_child_nodes(node)
        if isinstance(each, ast.Assign) and ast.unparse(each.value).startswith("'rope_core.")
        for target in each.targets
    }
    for each in nodes(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "submit":
            first = ast.unparse(each.args[0]) if each.args else ""
            named = first.startswith("'rope_core.") or first in ours
            if not named or not {"memory_limit", "tab", "owner"} <= {word.arg for word in each.keywords}:
                yield f"{each.lineno}: {ast.unparse(each)[:80]}"


Rule = Callable[[ast.AST], Iterator[str]]
# These pack, as a proxy does, or read what their own server has packed, wheels that pip has checked, and archives
# whose hashes npm's lock and Pyodide's hold.
PACKING = {"ui/hall/files.py", "tools/engines/__main__.py"}
PACKING |= {"tools/book/compiled.py", "tools/book/pieces.py", "tools/book/scorm.py", "ui/film/static_scene.py"}
# What an address packs, bounded: tests/rope_core/comparisons/test_pasted.py.
PACKING.add("rope_core/comparisons/pasted.py")
GRADED = {"rope_core/grade/remote.py", "rope_core/comparisons/driver.py"}
"""Where text of a user runs: in a child process of `rope grade` or `rope compare`, or in the book's frame."""
EVERYWHERE = (*RUNNING, "benchmarks", "tools")
RULES: list[tuple[str, Rule, tuple[str, ...], list[str]]] = [
    ("executing", executing, EVERYWHERE, ["eval(x)", "os.system(x)", "subprocess.run(x, shell=True)"]),
    (
        "unpickling",
        unpickling,
        (*EVERYWHERE, "tests"),
        [
            "import pickle",
            "from joblib import load",
            "torch.load(p)",
            "np.load(p, allow_pickle=True)",
            "@st.cache_data\ndef f(): ...",
        ],
    ),
    ("unpacking", unpacking, EVERYWHERE, ["import zipfile", "from gzip import open", "zlib.decompress(x)"]),
    (
        "HTML",
        unescaped,
        EVERYWHERE,
        [
            "st.html(f'<b>{x}</b>')",
            "A = x\nst.html(f'{A}' + x)",
            "y = anchor_html(x)\ny = x\nst.html(y)",
            "st.markdown(x, unsafe_allow_html=True)",
        ],
    ),
    ("SQL", queries, EVERYWHERE, ["db.execute(f'SELECT {x}')", "db.execute('SELECT ' + x)", "db.execute(sql)"]),
    (
        "jobs",
        jobs,
        ("ui", "pages"),
        [
            "queue.submit(name, [], memory_limit=1, tab='', owner='')",
            "queue.submit('rope_core.x', [], tab='', owner='')",
        ],
    ),
]


@pytest.mark.parametrize(("rule", "places"), [row[1:3] for row in RULES], ids=[row[0] for row in RULES])
def test_sources_keep_to_the_rule(rule: Rule, places: tuple[str, ...]) -> None:
    spared = PACKING if rule is unpacking else GRADED if rule is executing else set()
    result = [(path, line) for path in sources(*places) if path not in spared for line in rule(tree(path))]
    assert [f"{path}:{line}" for path, line in result] == []


@pytest.mark.parametrize(("rule", "planted"), [(row[1], text) for row in RULES for text in row[3]])
def test_a_planted_fault_is_found(rule: Rule, planted: str) -> None:
    assert list(rule(ast.parse(planted)))


# --- caches, which all sessions share

SESSION = {"st", "session_state", "query_params", "environ"}
PLAIN = {"int", "float", "str", "bool", "Path", "torch.dtype"}
PUBLIC = PLAIN | {"PageTexts", "rc.Rope", "rc.Request", "Rope", "Request", "HeadShapes"}
PUBLIC |= {"StatedScheme", "PublishedScheme"}


def shared(source: ast.AST) -> Iterator[ast.FunctionDef]:
    """Functions whose results are kept for the process."""
    for node in nodes(source):
        if isinstance(node, ast.FunctionDef):
            texts = [ast.unparse(each) for each in node.decorator_list]
            # What is kept for a session alone is not shared.
            decorators = {text.partition("(")[0].split(".")[-1] for text in texts if "scope='session'" not in text}
            if decorators & {"cache", "lru_cache", "cache_data", "cache_resource"}:
                yield node


def private(function: ast.FunctionDef) -> Iterator[str]:
    """Yield what a shared function takes or reads that may belong to one session."""
    arguments = function.args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        kind = ast.unparse(each.annotation) if each.annotation else "?"
        if not set(re.findall(r"[\w.]+", kind)) - {"tuple", "..."} <= PUBLIC:
            yield f"{function.name}({each.arg}: {kind})"
    if arguments.vararg or arguments.kwarg:
        yield f"{function.name}(*)"
    named = {node.id for node in nodes(function) if isinstance(node, ast.Name)}
    named |= {node.attr for node in nodes(function) if isinstance(node, ast.Attribute)}
    if any(isinstance(node, ast.Call) and dotted(node.func) == "language" for node in nodes(function)):
        yield f"{function.name} reads the session's language"
    yield from (f"{function.name} reads {name}" for name in named & SESSION)


def test_shared_caches_take_public_frozen_values_and_read_nothing_of_a_session() -> None:
    result = [
        (path, function) for path in sources("rope_core", "ui", "pages", "app.py") for function in shared(tree(path))
    ]
    assert len(result) > 30
    lines = [f"{path}: {line}" for path, function in result for line in private(function)]
    assert lines == []


@pytest.mark.parametrize(
    "planted",
    [
        "@lru_cache\ndef f(config: dict): ...",
        "@cache\ndef f(view: View): ...",
        "@st.cache_data(ttl=3)\ndef f(x): ...",
        "@functools.cache\ndef f():\n    return st.session_state['x']",
        "@lru_cache(maxsize=1)\ndef f(*names: str): ...",
        "@lru_cache(maxsize=1)\ndef f(page: str):\n    return labels(language(), page)",
    ],
)
def test_a_leaking_cache_is_found(planted: str) -> None:
    assert [line for function in shared(ast.parse(planted)) for line in private(function)]


def test_the_keys_of_shared_caches_cannot_change() -> None:
    from rope_core.theory.layout_demo import HeadShapes
    from ui.text.words import PageTexts

    for kind in (rc.Rope, rc.Request, PageTexts, HeadShapes):
        assert getattr(kind, "__dataclass_params__").frozen, kind  # noqa: B009
    spectrum = rc.spectrum(rc.Request(rc.Rope(8, 10000.0, 64)))
    for values in (spectrum.inv_freq, spectrum.slowdown):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0.0
    changed = rc.model("llama-2-7b").hf_config()
    changed["rope_theta"] = 1.0
    assert rc.model("llama-2-7b").hf_config() != changed


# --- what stands in the configuration


def test_the_server_is_configured_to_refuse() -> None:
    for folder in (ROOT, *(path.parent.parent for path in ROOT.glob("deploy/**/.streamlit/config.toml"))):
        options = tomllib.loads((folder / ".streamlit" / "config.toml").read_text("utf-8"))
        server, client = options["server"], options["client"]
        assert server.get("enableXsrfProtection", True) and server.get("enableCORS", True)
        assert not server.get("enableStaticServing") and not server.get("enableAgentApi")
        assert server["allowedHosts"] and "*" not in server["allowedHosts"]
        assert server["maxUploadSize"] <= 5 and server["maxMessageSize"] <= 20
        assert client["showErrorDetails"] == "none" and client["allowedOrigins"] == []
        assert options["browser"]["gatherUsageStats"] is False


# --- bombs

BIG = 10**5
JSON = {
    "depth": ('{"a":' * BIG + "1" + "}" * BIG, "nested"),
    "lists": ('{"a":' + "[" * BIG + "]" * BIG + "}", "nested"),
    "33 levels": ('{"a":' * 33 + "1" + "}" * 33, "nested at most 32"),
    "too long": (json.dumps({"a": "x" * configs.LIMIT}), "at most 1,048,576 bytes"),
    "digits": ('{"rope_theta": ' + "9" * 5000 + "}", "4300 digits"),
    "half a letter": ('{"model_type": "\\ud800"}', "half of a surrogate pair"),
    "half a letter as a name": ('{"\\udfff": 1}', "half of a surrogate pair"),
    "two objects": ("{}{}", "Extra data"),
    "a list": ("[1]", "a JSON object"),
    "nothing": ("", "JSON"),
}


@pytest.mark.parametrize("name", JSON)
def test_a_json_bomb_is_one_sentence_at_once(name: str) -> None:
    text, sentence = JSON[name]
    for given in (text, text.encode()):
        begun = time.thread_time()
        with pytest.raises(ConfigError, match=sentence) as caught:
            configs.parse_config(given)
        assert time.thread_time() - begun < 1.0
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


ODD = {
    "huge numbers": '{"model_type":"llama","head_dim":64,"rope_theta":1e999,"max_position_embeddings":-1e999}',
    "no numbers": '{"model_type":"llama","head_dim":NaN,"rope_theta":-Infinity,"rope_scaling":{"type":"yarn"}}',
    "long integers": '{"model_type":"llama","head_dim":' + "9" * 4000 + ',"rope_theta":' + "7" * 4200 + "}",
    "a name twice": '{"model_type":"llama","head_dim":64,"rope_theta":10,"rope_theta":20}',
    "a mark in front": '\ufeff{"model_type":"llama","head_dim":64}',
    "width": "{" + ",".join(f'"k{k}":{{"rope_theta":{k}}}' for k in range(4_000)) + "}",
    "one long name": '{"' + "k" * 500_000 + '":1}',
}


@pytest.mark.parametrize("name", ODD)
def test_odd_numbers_names_and_widths_end_in_findings(name: str) -> None:
    config = configs.parse_config(ODD[name])
    begun = time.thread_time()
    findings = check_text(ODD[name])
    assert time.thread_time() - begun < 2.0
    assert all(len(repr(dict(each.values))) < 20_000 for each in findings)
    if name == "a name twice":
        assert config["rope_theta"] == 20
    assert len(configs.config_to_json(config).encode()) > 0


# --- names that would be paths

PATHS = ("../../../etc/passwd", "/etc/passwd", "..\\..\\x", "a/../b", "x\x00y", ".", "..", "~root", "%2e%2e/x", "*", "")


@pytest.mark.parametrize("name", PATHS)
def test_a_visitors_name_never_becomes_a_path(name: str) -> None:
    assert lessons.shipped_talk("en", name) is None
    with pytest.raises(ValueError, match="name must be one of"):
        view.shipped_benchmarks(name)
    with pytest.raises(ValueError, match=r"must be"):
        rc.model(name)
    with pytest.raises(ConfigError, match="model id must be"):
        hub.fetch_config(name)
    with pytest.raises(ValueError, match="room must be"):
        normalized_room_name(name)


def test_an_uploads_name_is_shown_and_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    watching = [True]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and watching[0] and isinstance(arguments[0], str | bytes):
            opened.append(os.fsdecode(arguments[0]))

    sys.addaudithook(watch)
    name = f"{tmp_path}/../secret.json"
    try:
        assert configs.NamedConfig("upload", name, configs.parse_config(b"{}")).python_expression == '"config.json"'
    finally:
        watching[0] = False
    assert not any("secret" in path for path in opened)


# --- the hub


class Elsewhere(BaseHTTPRequestHandler):
    """A hub that answers with redirects and odd bodies; it keeps what it was requests, and with which login."""

    requests: ClassVar[list[tuple[str, str, str | None]]] = []
    onward: ClassVar[str] = ""
    sent: ClassVar[int] = 0
    BODY = b'{"model_type": "llama", "head_dim": 64}'

    def do_GET(self) -> None:
        self.requests.append((self.headers["Host"], self.path, self.headers.get("Authorization")))
        name = self.path.split("/")[2] if self.path.count("/") > 1 else ""
        plain = {"Content-Length": str(len(self.BODY))}
        if name == "away":
            self.say(302, {"Location": f"{self.onward}/org/good/resolve/main/config.json"})
        elif name == "near":
            self.say(307, {"Location": "/org/good/resolve/main/config.json"})
        elif name == "round":
            self.say(302, {"Location": self.path})
        elif name == "lying":
            self.say(200, {})
            with contextlib.suppress(OSError):
                for _ in range(64):
                    self.wfile.write(b" " * 2**20)
                    Elsewhere.sent += 1
        elif name == "packed":
            packed = gzip.compress(b" " * 10**7)
            self.say(200, {"Content-Encoding": "gzip", "Content-Length": str(len(packed))}, packed)
        else:
            self.say(200, plain, self.BODY)

    def say(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        self.close_connection = True
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on the console."""


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    """Return the configured endpoint and another host, which answer alike."""
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) for _ in range(2)]
    for server in servers:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    Elsewhere.requests.clear()
    Elsewhere.sent = 0
    mine, other = (f"http://127.0.0.1:{server.server_port}" for server in servers)
    Elsewhere.onward = other
    monkeypatch.setenv("HF_ENDPOINT", mine)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    yield mine, other
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_hub_is_reached_at_its_address_only_and_without_a_login(elsewhere: tuple[str, str]) -> None:
    assert hub.fetch_config("org/good")["head_dim"] == 64
    assert hub.fetch_config("org/near")["head_dim"] == 64
    for name in ("org/away", "org/round"):
        with pytest.raises(ConfigError, match="sends to another address"):
            hub.fetch_config(name)
    hosts = {host for host, _, _ in Elsewhere.requests}
    assert hosts == {elsewhere[0].removeprefix("http://")}
    assert all(login is None for _, _, login in Elsewhere.requests)


def test_a_hub_that_lies_about_its_length_or_packs_is_refused(elsewhere: tuple[str, str]) -> None:
    with pytest.raises(ConfigError, match="at most 2097152 bytes"):
        hub.fetch_config("org/lying")
    assert Elsewhere.sent < 48, "an endless answer is left, not read to its end"
    with pytest.raises(ConfigError, match="must come as it is, got 'gzip'"):
        hub.fetch_config("org/packed")


# --- files and children


def test_stored_files_are_for_their_owner_and_no_link_is_followed(tmp_path: Path) -> None:
    before = os.umask(0o000)
    try:
        BenchmarkDatabase(tmp_path / "new" / "records.sqlite3").begin_run("one", {})
        rooms.RoomStore(tmp_path / "class" / "rooms.sqlite3").close()
        rooms.lecturer_keys(tmp_path / "class" / "lecturers.txt")
    finally:
        os.umask(before)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert {stat.S_IMODE(path.parent.stat().st_mode) for path in files} == {0o700}
    target = tmp_path / "mine"
    target.write_bytes(b"")
    link = tmp_path / "link.sqlite3"
    link.symlink_to(target)
    with pytest.raises(ValueError, match="path must be a file of records that can be written"):
        BenchmarkDatabase(link)
    with pytest.raises(Exception, match="unwritable"):
        rooms.RoomStore(link)
    assert target.read_bytes() == b""


HOSTILE = ("; rm -rf /", "$(id)", "--records=/etc/passwd", "`id`", "a\nb", "-c", "numba,--kernel,x.py:f", "--kernel")


@pytest.mark.long
def test_a_runs_arguments_are_words_of_the_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from rope_core.jobs import queue
    from tests.test_pages import opened

    monkeypatch.setenv("ROPE_LAB_RECORDS", str(tmp_path / "records.sqlite3"))
    started: list[list[str]] = []

    def start(self: queue.JobQueue, job: Any) -> None:
        self._jobs.pop(job.id)
        started.append(job.command)

    monkeypatch.setattr(queue.JobQueue, "_start", start)
    monkeypatch.setattr(queue, "default_queue", queue.JobQueue)
    fields = (
        "suite",
        "device",
        "dtype",
        "layout",
        "direction",
        "memory",
        "allocator",
        "only",
        "batch",
        "seq",
        "rounds",
    )
    hostile = {name: HOSTILE[k % len(HOSTILE)] for k, name in enumerate(fields)}
    at = opened("benchmark", lang="en", open="run", **hostile)
    at.button(key="benchmark.start").click().run()
    deadline = time.monotonic() + 120
    while not started and time.monotonic() < deadline:
        time.sleep(0.02)
    assert started and not at.exception
    command = started[0]
    assert command[1:4] == ["-m", "rope_core.jobs.child", "rope_core.cli.bench"]
    assert all(re.fullmatch(r"-{0,2}[a-z0-9_-]+", word) for word in command[4:]), command
    assert "--kernel" not in command and "--records" not in command
    assert measured.bench_arguments("quick", measured.INTERPRETED, [], 5)[0] == "--suite"


def test_a_jobs_last_words_name_no_folder() -> None:
    error = b"PermissionError: [Errno 13] Permission denied: '/srv/ann/.local/x/records.sqlite3'\n"
    text = exit_sentence(1, deque([error]))
    assert "ann" not in text and "/home" not in text and "records.sqlite3" in text


# --- what leaves the app


def test_a_spreadsheet_runs_nothing_of_a_download() -> None:
    cells = ["=cmd|'/c calc'!A1", "+1+1", "-1-1", "@SUM(1)", "\t=1", "fine", "-2.5"]
    lines = (
        table_to_csv({"token": cells, "value": [-1.5, 2.0, 0.0, 1.0, 1.0, 1.0, 1.0]})
        .decode("utf-8-sig")
        .splitlines()[1:]
    )
    assert [line.strip('"')[0] for line in lines] == ["'", "'", "'", "'", "'", "f", "-"]
    assert lines[0].endswith(",-1.5")


# --- unpickling, watched while pages run


def pickled(names: tuple[str, ...]) -> list[str]:
    """Who unpickles while pages run in a process of their own: "event: file" of each caller."""
    code = (
        "import sys, json, traceback\n"
        "seen = set()\n"
        "def watch(event, arguments):\n"
        "    if event == 'pickle.find_class':\n"
        "        frames = [f.filename for f in traceback.extract_stack()[:-1]]\n"
        "        near = [f for f in frames if not f.endswith('pickle.py') and '<frozen' not in f]\n"
        "        seen.add((near[-1] if near else '', str(arguments)))\n"
        "sys.addaudithook(watch)\n"
        "from tests.test_pages import opened\n"
        f"for name in {names!r}:\n"
        "    for lang in ('en', 'zh'):\n"
        "        at = opened(name, lang=lang, base='20000', m='nan', model='<b>')\n"
        "        assert not at.exception, name\n"
        "import pickle; pickle.loads(pickle.dumps(json.JSONDecoder))\n"
        "print(json.dumps(sorted(seen)))\n"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=280)
    assert ran.returncode == 0, ran.stderr[-2000:]
    result = json.loads(ran.stdout.splitlines()[-1])
    control = [each for each in result if each[0] == "<string>"]
    assert control, "the hook sees an unpickling"
    return [f"{file}: {what}" for file, what in result if file != "<string>"]


# Numba reads the machine code that it has stored beside this package's own sources.
OTHERS = ("/numba/", "/torch/", "/multiprocessing/")


def test_no_page_unpickles() -> None:
    result = pickled(("config",))
    assert not [each for each in result if "site-packages" not in each]
    assert not [each for each in result if not any(other in each for other in OTHERS)]


@pytest.mark.long
def test_no_page_at_all_unpickles() -> None:
    from tests.test_pages import NAMES

    result = pickled(tuple(NAMES))
    assert not [each for each in result if "site-packages" not in each]
    assert not [each for each in result if not any(other in each for other in OTHERS)]


@pytest.mark.broken_part
def test_a_failing_page_tells_a_visitor_nothing_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.test_pages import opened

    def fails(*_: object) -> None:
        raise RuntimeError("secret of /srv/ann")

    module = importlib.import_module("ui.figures.rotation.score")
    names = [name for name, value in vars(module).items() if callable(value) and value.__module__ == module.__name__]
    for name in names:
        monkeypatch.setattr(module, name, fails)
    at = opened("rotation", lang="en")
    assert at.error and not at.exception
    shown = " ".join(each.value for each in at.error)
    assert "secret" not in shown and "/home" not in shown and str(ROOT) not in shown and ".py" not in shown


def test_a_visitors_text_stands_on_no_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from rope_core.jobs import queue
    from ui.work import extrapolated

    taken: list[tuple[list[str], dict[str, str]]] = []

    def submit(self: object, module: str, arguments: list[str], *, env: dict[str, str], **_: object) -> str:
        taken.append(([module, *arguments], env))
        return "job"

    monkeypatch.setattr(queue.JobQueue, "submit", submit)
    monkeypatch.setattr(queue.JobQueue, "reassign_tab", lambda *_: None)
    extrapolated.start_measurement({}, "sweep", extrapolated.experiment_request("sweep", b"zebra" * 100), "a title")
    line, env = taken[0]
    # Any user of the machine may read a command line; an environment is its owner's.
    assert line == ["rope_core.lab.job", "sweep", "-"]
    assert len(json.loads(env["ROPE_LAB_REQUEST"])["text"]) > 500
