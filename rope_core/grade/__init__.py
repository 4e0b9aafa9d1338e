"""Grading of a student's own rotate, spectrum, convert and yarn: stages, known mistakes, assignments.

The student's file runs in child processes on the machine of whoever calls ``grade_file``, with that user's rights and
limits of time and memory: no sandbox is promised. No server of this project calls it. The book calls
``child.stage_outcome_lines`` in a worker of the reader's own browser.
"""

from __future__ import annotations

from rope_core.grade.assignment import Assignment, default_assignment, read_assignment
from rope_core.grade.process import grade_file
from rope_core.grade.result import StageResult, starter_source

__all__ = ["Assignment", "StageResult", "default_assignment", "grade_file", "read_assignment", "starter_source"]
