"""A job that takes the place of the lab's: it answers at once with its request, or says one thing and waits."""

import base64
import json
import os
import sys
import time

from rope_core.jobs.child import report_progress
from rope_core.lab.job import REQUEST_ENV


def main() -> None:
    """Answer."""
    kind, place = sys.argv[1:3]
    assert place == "-", "a visitor's text would stand on the command line"
    wanted = json.loads(os.environ[REQUEST_ENV])
    read = base64.b64decode(wanted.pop("text", ""))
    if wanted.get("documents") == 7:
        report_progress(progress=0.5, eta=1.0)
        time.sleep(60)
    report_progress(progress=0.5, eta=1.0, result={"kind": kind, "asked": wanted})
    if wanted.get("documents") == 1:
        time.sleep(60)
    if wanted.get("documents") == 2:
        sys.exit("lengths must be at most 4,096 on the held-out documents, got 8192")
    report_progress(progress=1.0, result={"read": len(read), "sum": sum(read)})


if __name__ == "__main__":
    main()
