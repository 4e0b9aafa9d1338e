"""Submissions that set out to harm: the next file is graded, the row says what happened, and nothing is left behind."""

import csv
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rope_core.grade import process
from tests.support import ROOT
from tests.support.command import printed

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="what is held elsewhere is less: docs/grading.md"),
    pytest.mark.xdist_group("grade"),
]

SOLUTION = (ROOT / "tests/rope_core/grade/solution.py").read_text("utf-8")
SHEET = "seconds = {}\n[spectrum]\nproperties = 1\n"
WRONG = SOLUTION.replace("-2.0 * i / dim", "-2.0 * (i + 1) / dim")
STAYS = """
def stays():
    if not os.fork():
        os.setsid()
        if not os.fork():
            for number in range(64):
                signal.signal(number, signal.SIG_IGN) if number in (1, 2, 15) else None
            time.sleep(600)
        os._exit(0)
"""
HEAD = f"import numpy as N, json, os, random, signal, subprocess, sys, time\nhere = os.getcwd()\n{STAYS}"
PIPES = """
def pipes(mode):
    for number in range(3, 20):
        try:
            yield os.open(f"/proc/self/fd/{number}", mode | os.O_NONBLOCK)
        except OSError:
            pass
        yield number
def fill(data):
    for number in [*pipes(os.O_WRONLY), *pipes(os.O_RDWR)]:
        try:
            os.set_blocking(number, False)
            while os.write(number, data): pass
        except OSError:
            pass
def say(text):
    for number in range(3, 20):
        try:
            os.write(number, text.encode() + b"\\n")
        except OSError:
            pass
"""
LARGE = '{"dtype": "f8", "shape": [134217728], "data": ""}'
RIGHT = "globals()['spectrum'] = lambda d, b: float(b) ** (-2 * N.arange(d // 2) / d)"
DEEDS = [
    "fill(b'x' * 4096); time.sleep(600)",
    "fill(b'{}\\n')",
    "os.rmdir(here); open(here, 'w').close()",
    "os.rmdir(here); os.symlink('/tmp', here)",
    "[(os.mkdir('d'), os.chdir('d')) for _ in range(1500)]",
    "os.mkdir('shut'); os.mkdir('shut/in'); os.chmod('shut', 0)",
    """say('{"error": "E", "detail": "d", "lines": [Infinity]}')""",
    """say('{"error": "E", "detail": "d", "lines": [' + '9' * 309 + ']}')""",
    """say('{"error": "", "detail": "", "lines": []}')""",
    """say('{"value": {"dtype": "f8", "shape": [Infinity], "data": ""}}')""",
    """say('{"value": {"items": [' + ', '.join([LARGE] * 3) + ']}}')""",
    """say('{"value": {"items": [{"plain": "' + 'x' * 10**6 + '"}, {"plain": "a"}]}}')""",
    """say('[' * 100_000)""",
    "say('{}'); say('[]'); say('null'); say('\\xff')",
    "stays(); stays()",
    "stays(); time.sleep(600)",
    "subprocess.Popen(['/bin/sleep', '6017'], env={}, start_new_session=True)",
    "os.kill(os.getppid(), signal.SIGKILL)",
    "os.kill(0, signal.SIGKILL)",
    "os.close(0); [os.close(n) for n in range(3, 20) if os.path.exists(f'/proc/self/fd/{n}')]",
    "os._exit(0)",
    "sys.stdout.close(); raise type('', (Exception,), {})('')",
    "bytearray(2**33)",
    "open('f', 'wb').write(bytes(10**8))",
    "from honest00 import spectrum",
    "exec('from rope_' + 'core.grade.frequencies import plain as spectrum', globals())",
    "sys.path.append(ROOT); exec('from rope_' + 'core.grade.frequencies import plain as spectrum', globals())",
    "globals()['spectrum'] = eval(subprocess.check_output([sys.executable, '-c', 'print(1)']))",
    f"open(ROOT + '/rope_core/rope.py').read(); {RIGHT}",
    f"open(OWN + '/left', 'w'); {RIGHT}",
]


def hostile(deed: str, draw: random.Random, own: Path) -> str:
    """Return a file that does the deed when it is run or when its function is called; ``own``: the grader's folder."""
    head = f"{HEAD}{PIPES}LARGE = {LARGE!r}\nROOT, OWN = {str(ROOT)!r}, {str(own)!r}\n"
    if draw.random() < 0.5:
        return f"{head}{deed}\n"
    return f"{head}def spectrum(dim, base):\n    {deed}\n    return globals()['spectrum'](dim, base)\n"


def left(folder: Path) -> set[str]:
    """Return what a grader with this folder for temporary files has left: in it, and as processes.

    A child's HOME is in that folder, which keeps apart the graders of tests that run beside this one.
    """
    names, remote = set(os.listdir(folder)), str(ROOT / "rope_core/grade/remote.py").encode()
    for each in Path("/proc").glob("[0-9]*"):
        try:
            state = (each / "stat").read_text().rpartition(")")[2].split()[0]
            words = (each / "cmdline").read_bytes()
            own = remote in words and f"HOME={folder}/".encode() in (each / "environ").read_bytes()
        except OSError:
            continue
        if state != "Z" and (own or b"sleep\0006017" in words):
            names.add(each.name)
    return names


@pytest.fixture(params=[True, False], ids=["apart", "without namespaces"])
def tools(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grade with what the system has, then as where it refuses namespaces."""
    if not request.param:
        monkeypatch.setattr(process, "can_isolate_processes", lambda: False)


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 6))])
def test_in_a_class_of_thirty_five_are_hostile(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, own = random.Random(f"{seed}"), tmp_path / "own"
    own.mkdir()
    monkeypatch.setenv("TMPDIR", str(own))
    (tmp_path / "sheet.toml").write_text(SHEET.format(4))
    (tmp_path / "class").mkdir()
    marks = ["" if k % 5 else "\ufeff" for k in range(25)]
    texts = {f"honest{k:02}.py": mark + (WRONG if k % 3 == 2 else SOLUTION) for k, mark in enumerate(marks)}
    texts |= {f"k{k}-{draw.randrange(10)}.py": hostile(deed, draw, own) for k, deed in enumerate(DEEDS[seed::6])}
    for name, text in texts.items():
        (tmp_path / "class" / name).write_text(text, encoding="utf-8")
    _, out, err = printed(capsys, "grade", tmp_path / "class", "--assignment", tmp_path / "sheet.toml")
    _, *rows = csv.reader(out.splitlines())
    assert [row[0] for row in rows] == sorted(texts) and not err
    for name, points, _, _, mistakes, error in rows:
        wrong = mistakes + error
        right = name.startswith("honest") and int(name[6:8]) % 3 != 2
        assert float(points) == right and bool(wrong) != right, (name, wrong, texts[name][-300:])
        assert len(wrong.strip()) > 15 or right, wrong
        assert "None" not in wrong
    for _ in range(100):
        if not left(own):
            break
        time.sleep(0.1)
    assert not left(own)


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_a_grader_that_is_ended_leaves_nothing_behind(
    number: signal.Signals, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    apart = "without" not in request.node.name
    if number == signal.SIGKILL and not apart:
        pytest.skip("what has left the child's parent is then nobody's: docs/grading.md")
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "sheet.toml").write_text(SHEET.format(60))
    (tmp_path / "mine.py").write_text(f"{HEAD}stays()\nwhile True: pass\n")
    code = "from rope_core.__main__ import main\nfrom rope_core.grade import process\n"
    code += "" if apart else "process.can_isolate_processes = lambda: False\n"
    code += f"main(['grade', {str(tmp_path / 'mine.py')!r}, '--assignment', {str(tmp_path / 'sheet.toml')!r}])"
    grader = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE, env=os.environ | {"TMPDIR": str(own)}
    )
    try:
        until = time.monotonic() + 30
        while len(left(own)) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(random.Random(number).random())
        grader.send_signal(number)
        grader.wait(20)
        until = time.monotonic() + 10
        while left(own) and time.monotonic() < until:
            time.sleep(0.05)
        assert not left(own)
    finally:
        grader.kill()
        assert grader.stderr
        grader.stderr.close()
