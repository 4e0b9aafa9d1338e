"""What the server imports ahead of the first visitor, in a process of its own."""

import ast
import os
import subprocess
import sys

import pytest

from tests.support import ROOT


@pytest.mark.long
def test_a_matrix_product_of_a_page_stays_on_one_core() -> None:
    code = "import ui.served.warm, threadpoolctl as t; print(t.ThreadpoolController().select(user_api='blas').info())"
    freely = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=freely, capture_output=True, text=True, check=True
    )
    pools = ast.literal_eval(result.stdout.splitlines()[-1])
    assert pools and all(pool["num_threads"] == 1 for pool in pools)
