"""numba's decorator: its cache, and the lock around parallel kernels."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from rope_core.kernels import jit


def test_no_writable_cache_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: bool) -> object:
        if options.get("cache"):
            raise RuntimeError("cannot cache function 'double': no locator available")
        return real(**options)

    real = numba.njit
    monkeypatch.setattr("numba.njit", refuse)
    with pytest.warns(UserWarning, match="no locator available.*NUMBA_CACHE_DIR"):
        double = jit.cached_njit()(lambda x: 2 * x)
    assert double(3) == 6


def test_an_edit_of_what_a_kernel_imports_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    (tmp_path / "edited_loops.py").write_text(
        "from edited_lanes import FACTOR\nfrom rope_core.kernels.jit import cached_njit\n\n"
        "@cached_njit()\ndef times(x):\n    return FACTOR * x\n"
    )
    for factor in (2, 50):
        (tmp_path / "edited_lanes.py").write_text(f"FACTOR = {factor}\n")
        jit._sources.cache_clear()
        for name in ("edited_lanes", "edited_loops"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        assert importlib.import_module("edited_loops").times(3) == 3 * factor
    assert len(list(tmp_path.rglob("*.nbc"))) == 2


def test_the_first_launch_keeps_torch_s_number_of_threads() -> None:
    """numba's pool gives OpenMP its own number when it starts, which torch shares."""
    code = (
        "import torch; torch.set_num_threads(1)\n"
        "from rope_core.kernels import apply\n"
        "x, table = torch.ones(1, 512, 4, 64), torch.ones(512, 32)\n"
        "apply(x, x, table, table, layout='half', backend='numba')\n"
        "import numba; print(torch.get_num_threads(), numba.get_num_threads())\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment | {"NUMBA_NUM_THREADS": "2"}, capture_output=True, text=True
    )
    assert ran.stdout.split() == ["1", "2"], ran.stderr
