"""`python -m deploy rooms`: the rooms that are open; `--votes` writes CSV, `--close NAME` closes one, `--clear` all."""

import argparse
import csv
import sys

from ui.present.rooms import room_name
from ui.present.tally import Tally, Unavailable


def main(words: list[str]) -> int:
    """Print the rooms or their votes, or close some; 1 with a sentence where that cannot be."""
    parser = argparse.ArgumentParser(prog="python -m deploy rooms", description=__doc__)
    parser.add_argument("--votes", action="store_true", help="room, question, choice from 1, votes")
    parser.add_argument("--close", default="", metavar="NAME")
    parser.add_argument("--clear", action="store_true")
    given = parser.parse_args(words)
    tally = Tally()
    try:
        if given.close and room_name(given.close) not in {name for name, *_ in tally.rooms()}:
            print(f"--close must be a room that is open, got {given.close!r}", file=sys.stderr)
            return 1
        if given.close:
            tally.close(room_name(given.close))
        if given.clear:
            tally.clear()
        if given.votes:
            out = csv.writer(sys.stdout)
            out.writerow(("room", "question", "choice", "votes"))
            out.writerows((room, question, choice + 1, votes) for room, question, choice, votes in tally.votes())
            return 0
        rooms = tally.rooms()
    except (Unavailable, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    for name, votes, seconds in rooms:
        print(f"{name:40}  {votes:6} votes  looked at {seconds:6.0f} s ago")
    print(f"{len(rooms)} rooms")
    return 0
