"""python -m rope_core.bench: the same as ``rope bench``."""

import sys

from rope_core.bench.cli import main_bench

if __name__ == "__main__":
    sys.exit(main_bench())
