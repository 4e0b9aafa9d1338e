"""`rope grade`: a student's own functions, stage by stage."""

from __future__ import annotations

import argparse
from pathlib import Path

from rope_core.cli.terminal import print_csv_row, print_json, print_lines
from rope_core.errors import argument_error, checked_int, error_sentence
from rope_core.findings import sanitized_text
from rope_core.grade import Assignment, StageResult, default_assignment, grade_file, read_assignment
from rope_core.grade.result import group_by_mistake, group_headline
from rope_core.languages import words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "file", help="a Python file with rotate, rotate_backward, spectrum, convert or yarn; or a folder"
    )
    parser.add_argument("--assignment", metavar="FILE.toml", help="stages and points; by default every stage, a point")
    parser.add_argument("--only", metavar="FUNCTION", help="one function of the assignment")
    parser.add_argument("--seed", type=int, default=0, help="draws other inputs")
    parser.add_argument("--json", action="store_true", help="an object instead of text")


def run(options: argparse.Namespace) -> int:
    """Grade a student's functions; exit 0 when all stages pass, 1 when not, 2 on a file that cannot be read.

    FILE is run on this machine, as you, within limits of time and memory; docs/grading.md says what keeps it from
    your files, and where nothing does. No server runs it. For a folder, each of its Python files is a line of CSV.
    """
    assignment = read_assignment(options.assignment) if options.assignment else default_assignment()
    if options.only is not None:
        if options.only not in assignment.points:
            raise argument_error("only", "one_of", options.only, names=list(assignment.points))
        points = {options.only: assignment.points[options.only]}
        assignment = Assignment(assignment.title, assignment.seconds, points)
    seed = checked_int("seed", options.seed, 0, 2**31 - 1)
    if Path(options.file).is_dir():
        return _print_folder(Path(options.file), assignment, seed, options.lang)
    results = grade_file(options.file, assignment, seed)
    code = int(not all(result.passed for result in results))
    (_print_json if options.json else _print_text)(options, assignment, results, code)
    return code


def _print_folder(folder: Path, assignment: Assignment, seed: int, lang: str) -> int:
    """Write a line for each file: its points, those of each stage, what is wrong, and why it was not graded."""
    files, code = sorted(folder.glob("*.py")), 0
    if not files:
        raise argument_error("file", "python_folder", str(folder))
    stages = [(name, stage) for name, points in assignment.points.items() for stage in points]
    print_csv_row(("file", "points", "most", *(f"{name}.{stage}" for name, stage in stages), "wrong", "error"))
    for file in files:
        results, wrong, failed = [], "", ""
        try:
            results = grade_file(file, assignment, seed)
            mistakes = (group[0].sentence(lang) for group in group_by_mistake(results) if not group[0].passed)
            wrong = " | ".join(dict.fromkeys(mistakes))
        except Exception as error:  # whatever one file brings about, the next is graded
            failed = error_sentence(error, lang) if isinstance(error, ValueError) and str(error) else repr(error)
        given = {(each.function, each.stage): each.points if each.passed else 0.0 for each in results}
        most = sum(sum(points.values()) for points in assignment.points.values())
        row = (file.name, sum(given.values(), 0.0), most, *(given.get(stage, 0.0) for stage in stages), wrong, failed)
        print_csv_row(row)
        code |= int(bool(wrong or failed))
    return code


def _totals(results: list[StageResult]) -> dict[str, float]:
    return {"points": sum(r.points for r in results if r.passed), "most": sum(r.points for r in results)}


def _print_text(options: argparse.Namespace, assignment: Assignment, results: list[StageResult], code: int) -> None:
    """Write each stage and what is wrong; stages of a function that fail by one mistake are one."""
    if assignment.title:
        print_lines(sanitized_text(assignment.title))
    for group in group_by_mistake(results):
        print_lines(group_headline(group, options.lang))
        if not group[0].passed:
            print_lines(f"    {group[0].sentence(options.lang)}")
    print_lines(words(options.lang, "grade")["word"]["total"].format(**_totals(results)))


def _print_json(options: argparse.Namespace, assignment: Assignment, results: list[StageResult], code: int) -> None:
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
