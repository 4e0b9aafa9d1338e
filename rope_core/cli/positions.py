"""`rope positions`: which position each token has, against which it should have."""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from rope_core.cli.check import add_output_arguments, check_ignored_keys, print_report
from rope_core.cli.source import HELP, load_config, parse_token_count
from rope_core.findings import VERSIONS
from rope_core.theory.packing import SLICINGS, ZIGZAG
from rope_core.verification.arrays import read_arrays
from rope_core.verification.positions import FIELD, check_positions

GIVEN = tuple(inspect.signature(check_positions).parameters)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "file",
        help=f"{FIELD}: .npy or a JSON list; or JSON or safetensors with {FIELD} and, where known, cu_seqlens,"
        " segment_ids, attention_mask, token_types, image_grid_thw, video_grid_thw, seconds_per_grid; in the mask 0 is"
        " padding and numbers above 1 are packed texts, in segment_ids -1 and 0 at the ends are padding",
    )
    parser.add_argument("--config", help=f"with images: {HELP}")
    parser.add_argument("--rank", default="0", help="the rank of a context-parallel group that holds these tokens")
    parser.add_argument("--ranks", default="1", help="the size of that group")
    parser.add_argument("--slicing", choices=SLICINGS, default=ZIGZAG, help="how the group slices its rows")
    parser.add_argument("--past", default="0", help="tokens that are in the cache already")
    parser.add_argument("--rows", help="rows of the cos/sin cache")
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Check the positions of a batch: padding, packed texts, a rank's slice, images. Exit codes as of `rope check`."""
    check_ignored_keys(options.ignore)
    given: dict[str, Any] = {"slicing": options.slicing}
    given |= {
        name: parse_token_count(f"--{name}", getattr(options, name)) for name in ("rank", "ranks", "past", "rows")
    }
    if options.config is not None:
        given["config"] = load_config(options.config)
    given |= read_arrays(options.file, GIVEN, FIELD)
    return print_report({options.file: check_positions(**given)}, {}, options, VERSIONS[-1])
