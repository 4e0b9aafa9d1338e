"""The inside of a job: it reports by JSON lines, dies with its parent and keeps within its memory."""

from __future__ import annotations

import ctypes
import json
import os
import runpy
import signal
import sys
from collections.abc import Sequence

from rope_core.errors import argument_error

PR_SET_PDEATHSIG = 1
LIMIT_ENV = "ROPE_LAB_JOB_MEMORY"


def report_progress(
    progress: float | None = None, eta: float | None = None, note: str | None = None, **result: object
) -> None:
    """Report a job's progress to the queue; called inside the job.

    Args:
        progress: share done in [0, 1].
        eta: seconds left.
        note: what it is doing.
        result: ``result=...`` hands over any JSON value.

    >>> report_progress(progress=0.5, note="half")
    {"progress": 0.5, "note": "half"}
    """
    if set(result) - {"result"}:
        raise argument_error("report", "given progress, eta, note or result", sorted(result))
    values = {"progress": progress, "eta": eta, "note": note}
    print(json.dumps({k: v for k, v in values.items() if v is not None} | result), flush=True)


def main(arguments: Sequence[str]) -> None:
    """Become the job: die with the parent, keep within the memory limit, run the module as its own program."""
    if sys.platform == "linux":
        parent = os.getppid()
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    if limit := os.environ.pop(LIMIT_ENV, ""):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    module, *rest = arguments
    # In this process, which already dies with its parent and keeps its limit: another would need both again.
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
