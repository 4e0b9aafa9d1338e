"""`rope grade`: a student's own functions, stage by stage."""

from __future__ import annotations

import argparse

from rope_core.checks.case import printable
from rope_core.cli.source import print_json
from rope_core.errors import reject, whole
from rope_core.grade import Assignment, Result, full_assignment, grade, read_assignment
from rope_core.grade.result import texts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("file", help="a Python file with rotate, rotate_backward, spectrum, convert or yarn")
    parser.add_argument("--assignment", metavar="FILE.toml", help="stages and points; by default every stage, a point")
    parser.add_argument("--only", metavar="FUNCTION", help="one function of the assignment")
    parser.add_argument("--seed", type=int, default=0, help="draws other inputs")
    parser.add_argument("--json", action="store_true", help="an object instead of text")


def run(options: argparse.Namespace) -> int:
    """Grade a student's functions; exit 0 when all stages pass, 1 when not, 2 on a file that cannot be read.

    FILE is run on this machine, with your rights and a time limit but no sandbox: grade only code that you would run
    yourself. No server and no page runs it.
    """
    assignment = read_assignment(options.assignment) if options.assignment else full_assignment()
    if options.only is not None:
        if options.only not in assignment.points:
            raise reject("only", "one_of", options.only, names=list(assignment.points))
        points = {options.only: assignment.points[options.only]}
        assignment = Assignment(assignment.title, assignment.seconds, points)
    results = grade(options.file, assignment, whole("seed", options.seed, 0, 2**31 - 1))
    code = int(not all(result.passed for result in results))
    (_print_json if options.json else _print_text)(options, assignment, results, code)
    return code


def _totals(results: list[Result]) -> dict[str, float]:
    return {"points": sum(r.points for r in results if r.passed), "most": sum(r.points for r in results)}


def _print_text(options: argparse.Namespace, assignment: Assignment, results: list[Result], code: int) -> None:
    if assignment.title:
        print(printable(assignment.title))
    for result in results:
        print(result.headline(options.lang))
        if not result.passed:
            print(f"    {result.sentence(options.lang)}")
    print(texts()["word"]["total"][options.lang].format(**_totals(results)))


def _print_json(options: argparse.Namespace, assignment: Assignment, results: list[Result], code: int) -> None:
    rows = [
        {
            "function": result.function,
            "stage": result.stage,
            "passed": result.passed,
            "points": result.points if result.passed else 0.0,
            "most": result.points,
            "key": result.slots.get("mistake", result.key),
            "sentence": result.sentence(options.lang),
        }
        for result in results
    ]
    head = {"file": options.file, "title": assignment.title, "seed": options.seed, "exit": code}
    print_json(head | _totals(results) | {"results": rows})
