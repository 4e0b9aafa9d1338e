"""Write the golden vectors of schemes whose authors published code, by running that code.

Run: ``python -m tests.golden.authors COPE RIFLEX`` from the root of the repository, with checkouts of
github.com/hrlics/CoPE (ed52ba5) and github.com/thu-ml/RIFLEx (18e0bc3).
"""

import ast
import sys
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.models.mistral_large4.configuration_mistral_large4 import MistralLarge4TextConfig
from transformers.models.mistral_large4.modeling_mistral_large4 import MistralLarge4TextRotaryEmbedding

from tests.golden.generate import Case, geometry, write

ROPES = (geometry(128, 10_000.0, 4096), geometry(128, 10_000_000.0, 65_536), geometry(32, 1234.5, 700))


def case(rope: Case, params: Case, inv_freq: torch.Tensor) -> Case:
    """Return one golden case."""
    values = [float(value) for value in inv_freq]
    return {"rope": rope, "params": params, "seq_len": rope["train_len"], "inv_freq": values, "attention_factor": 1.0}


def class_from(path: Path, name: str) -> Any:
    """Define one class of a file without running the rest of it, whose imports are another version's."""
    result = next(n for n in ast.parse(path.read_text()).body if isinstance(n, ast.ClassDef) and n.name == name)
    space: dict[str, Any] = {"torch": torch, "nn": torch.nn, "ROPE_INIT_FUNCTIONS": {"default": plain}}
    exec("from __future__ import annotations\n" + ast.unparse(result), space)
    return space[name]


def plain(config: Any, device: Any) -> tuple[torch.Tensor, float]:
    """Return what transformers 4.50's function of the default type answers."""
    powers = torch.arange(0, config.head_dim, 2, dtype=torch.int64).float() / config.head_dim
    return 1.0 / (config.rope_theta**powers), 1.0


def cope(checkout: Path) -> list[Case]:
    """CoPE and hard clipping, as the file for evaluation clips: 20 pairs."""
    built = class_from(checkout / "modeling_cope.py", "LlamaRotaryEmbedding")
    cases = []
    for rope in ROPES:
        for soft in (True, False):
            config = transformers.LlamaConfig(head_dim=rope["dim"])
            config.use_cope, config.use_hardclip, config.rope_theta = soft, not soft, rope["base"]
            config.rope_scaling = None
            share = min(20, rope["dim"] // 2) / (rope["dim"] // 2)
            cases.append(case(rope, {"clipped_share": share, "soft": soft}, built(config).inv_freq))
    return cases


def riflex(checkout: Path) -> list[Case]:
    """RIFLEx with the trained length as the frame at which a video repeats, 0.9 of a period used."""
    space: dict[str, Any] = {}
    exec((checkout / "riflex_utils.py").read_text(), space)
    cases = []
    for rope in ROPES:
        for factor in (2.0, 3.5):
            pair, _ = space["identify_k"](rope["base"], rope["dim"], rope["train_len"])
            longest = factor * rope["train_len"]
            turned = space["get_1d_rotary_pos_embed_riflex"](rope["dim"], 2, rope["base"], k=pair, L_test=longest)
            cases.append(case(rope, {"factor": factor, "period_share": 0.9}, turned[1].angle()))
    return cases


def lerope() -> list[Case]:
    """LeRoPE on drawn alpha, read off cos and sin at position 1."""
    generator = torch.Generator().manual_seed(20_261_122)
    cases = []
    for rope in (ROPES[0], ROPES[2]):
        config = MistralLarge4TextConfig(head_dim=rope["dim"], qk_rope_head_dim=rope["dim"])
        config.rope_parameters = {"rope_type": "default", "rope_theta": rope["base"]}
        built = MistralLarge4TextRotaryEmbedding(config)
        alpha = 0.8 * torch.randn(rope["dim"] // 2, generator=generator, dtype=torch.float64) - 0.8
        built.alpha.copy_(alpha)
        cos, sin = built(torch.zeros(1), torch.tensor([[1]]))
        half = rope["dim"] // 2
        cases.append(case(rope, {"alpha": built.alpha.tolist()}, torch.atan2(sin, cos)[0, 0, :half]))
    return cases


def main() -> None:
    """Write the three files."""
    at_cope, at_riflex = map(Path, sys.argv[1:])
    write("cope", "authors' modeling_cope.py, github.com/hrlics/CoPE at ed52ba5, float32", cope(at_cope))
    write("riflex", "authors' riflex_utils.py, github.com/thu-ml/RIFLEx at 18e0bc3, float32", riflex(at_riflex))
    version = transformers.__version__
    write("lerope", f"transformers {version}, MistralLarge4TextRotaryEmbedding on drawn alpha, float32", lerope())


if __name__ == "__main__":
    main()
