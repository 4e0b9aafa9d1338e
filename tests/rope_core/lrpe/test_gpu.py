"""The LRPE Triton kernels compiled for sm_90 without a GPU; interpreted: tests/rope_core/kernels/test_triton.py."""

import json
import os
import subprocess
import sys

from tests.support import ROOT

# Runs the backend itself with a driver that names a GPU and compiles for it, but launches nothing.
PROBE = r"""
import json, os, re, subprocess, tempfile
import torch, triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction, MockTensor

class NoDevice:
    get_current_target = staticmethod(lambda: GPUTarget("cuda", 90, 32))
    get_current_device = staticmethod(lambda: 0)
    get_current_stream = staticmethod(lambda device: 0)

driver.set_active(NoDevice())
launch, compiled = JITFunction.run, {}

def run(self, *args, grid, warmup, **options):
    args = [MockTensor(a.dtype) if isinstance(a, torch.Tensor) else a for a in args]
    kernel = launch(self, *args, grid=grid, warmup=True, **options)
    compiled.setdefault(self.fn.__name__, {})[id(kernel)] = kernel
    return kernel

JITFunction.run = run
from rope_core.lrpe import gpu
from rope_core.lrpe.arguments import plan

ptxas = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin", "ptxas")
def look(kernel):
    ptx = kernel.asm["ptx"]
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx); file.flush()
        said = subprocess.run([ptxas, "-v", "--gpu-name=sm_90a", file.name, "-o", os.devnull],
                              capture_output=True, text=True, check=True).stderr
    return {"accesses": sorted(set(re.findall(r"(?:ld|st)\.global[.\w:]*", ptx))),
            "spills": [int(n) for n in re.findall(r"(\d+) bytes spill", said)],
            "registers": int(re.search(r"Used (\d+) registers", said)[1]),
            "exact": "0d3FC45F306DC9C883" in ptx}

report = {}
x = torch.zeros(2, 64, 32, 128, dtype=torch.bfloat16)
for act, dim, heads in (("silu", None, 1), ("softmax", -1, 32), ("softmax", 1, 1)):
    compiled.clear()
    p = plan(x.shape, (heads, 64) if heads > 1 else (64,), act, dim)
    theta = torch.zeros(heads, 64)
    gpu.TRITON.forward(x, theta, 0, p)
    gpu.TRITON.backward(x, theta, 0, x, p, True, True)
    for name, kernels in compiled.items():
        for i, kernel in enumerate(kernels.values()):
            report[f"{name}-{act}-{dim}-{heads}-{i}"] = look(kernel)
compiled.clear()
theta = torch.zeros(1, 64)
for offset in (0, 1, 2, 15, 16, 17, 4096, 2**31 - 65):
    for length in (1, 2, 16, 17, 64):
        p = plan((2, length, 32, 128), (64,), "silu")
        gpu.TRITON.forward(x[:, :length], theta, offset, p)
        gpu.TRITON.backward(x[:, :length], theta, offset, x[:, :length], p, True, True)
print(json.dumps({"kernels": report, "binaries": {name: len(found) for name, found in compiled.items()}}))
"""


def test_compiles_for_hopper_with_wide_accesses_no_spills_and_once_for_all_decode_steps() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout)
    assert result["binaries"] == {"forward": 1, "backward": 1, "sums": 1}
    main = {name: seen for name, seen in result["kernels"].items() if name.startswith(("forward", "backward"))}
    assert len(main) == 6
    for name, seen in main.items():
        assert seen["spills"] == [0, 0], (name, seen)
        assert seen["exact"], name
        assert all(access.endswith(("v4.b32", ".b64")) for access in seen["accesses"]), (name, seen)
