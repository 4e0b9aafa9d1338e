"""`python -m deploy jobs`: the work that visitors of this user's halls have queued; `--cancel ID` ends one."""

import argparse
import sys

from rope_core.jobs.control import ask, sockets


def main(words: list[str]) -> int:
    """Print the jobs, or cancel one; 1 with a sentence where no replica has it."""
    parser = argparse.ArgumentParser(prog="python -m deploy jobs", description=__doc__)
    parser.add_argument("--cancel", default="", metavar="ID")
    wanted = parser.parse_args(words).cancel
    rows, done = [], False
    for path in sockets():
        try:
            jobs = ask(path)
            if wanted and wanted in {job["id"] for job in jobs}:
                jobs, done = ask(path, wanted), True
            rows += jobs
        except (OSError, ValueError):
            # A replica that has ended meanwhile.
            continue
    if wanted and not done:
        print(f"--cancel must be the id of a job that waits or runs, got {wanted!r}", file=sys.stderr)
        return 1
    for job in rows:
        print(f"{job['id']}  {job['state']:8}  {job['seconds']:6.0f} s  {job['owner'][:8]}  {job['title']}")
    print(f"{len(rows)} jobs")
    return 0
