"""Write diffusers_axes.json: vectors that the transformers of diffusers turn, at drawn positions.

Run where diffusers is installed: python tests/golden/diffusers_axes.py > tests/golden/diffusers_axes.json
"""

from __future__ import annotations

import inspect
import json
from typing import Any

import diffusers
import torch
from diffusers.models import transformers as models
from diffusers.models.embeddings import apply_rotary_emb

COUNT = 5


def draw(seed: int, widths: list[int], most: int, low: int = 0) -> tuple[Any, Any]:
    """Return x (COUNT, sum of widths) and integer positions (COUNT, axes)."""
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(COUNT, sum(widths), generator=rng, dtype=torch.float64).round(decimals=4).float()
    return x, torch.randint(low, most, (COUNT, len(widths)), generator=rng)


def real(x: Any, cos: Any, sin: Any) -> Any:
    """Turn by cos and sin as attention does by default."""
    return apply_rotary_emb(x[None, None], (cos, sin))[0, 0]


def cases() -> list[dict[str, Any]]:
    """One case for each class, with widths and bases that are not the class defaults."""
    flux, flux2 = models.transformer_flux, models.transformer_flux2
    built = []

    def add(config: dict[str, Any], x: Any, positions: Any, rotated: Any) -> None:
        rows = [[round(value, 6) for value in row] for row in rotated.double().tolist()]
        built.append(
            {
                "config": config,
                "x": [[round(v, 4) for v in row] for row in x.tolist()],
                "positions": positions.tolist(),
                "rotated": rows,
            }
        )

    for seed, name in enumerate(("FluxTransformer2DModel", "ChromaTransformer2DModel")):
        widths = [8, 12, 12]
        x, ids = draw(seed, widths, 60)
        add({"_class_name": name, "axes_dims_rope": widths}, x, ids, real(x, *flux.FluxPosEmbed(10000, widths)(ids)))
    widths, base = [4, 8, 8, 4], 1234.5
    x, ids = draw(2, widths, 60)
    config = {"_class_name": "Flux2Transformer2DModel", "axes_dims_rope": widths, "rope_theta": base}
    add(config, x, ids, real(x, *flux2.Flux2PosEmbed(base, widths)(ids)))

    widths, base = [4, 12, 8], 300.0
    module = models.transformer_hunyuan_video.HunyuanVideoRotaryPosEmbed(2, 1, widths, base)
    cos, sin = module(torch.zeros(1, 1, 5, 14, 18))
    x, ids = draw(3, widths, 5)
    at = (ids[:, 0] * 7 + ids[:, 1]) * 9 + ids[:, 2]
    config = {"_class_name": "HunyuanVideoTransformer3DModel", "rope_axes_dim": widths, "rope_theta": base}
    add(config, x, ids, real(x, cos[at], sin[at]))

    widths = [8, 8, 12]
    x, ids = draw(4, widths, 30)
    freqs = models.transformer_lumina2.Lumina2RotaryPosEmbed(10000, widths, [40, 40, 40])._get_freqs_cis(ids[None])
    rotated = apply_rotary_emb(x[None, :, None], freqs, use_real=False)[0, :, 0]
    add({"_class_name": "Lumina2Transformer2DModel", "axes_dim_rope": widths}, x, ids, rotated)

    widths, rows, columns = [4, 12, 8], 7, 10
    freqs = models.transformer_qwenimage.QwenEmbedRope(10000, widths, scale_rope=True)
    table, _ = freqs((2, rows, columns), torch.device("cpu"), 1)
    x, ids = draw(5, widths, 2)
    index = torch.tensor([[0, 0, 0], [1, 6, 9], [0, 3, 5], [1, 4, 4], [1, 2, 8]])
    at = (index[:, 0] * rows + index[:, 1]) * columns + index[:, 2]
    apply = models.transformer_qwenimage.apply_rotary_emb_qwen
    rotated = apply(x[None, :, None], table[at], use_real=False)[0, :, 0]
    ids = index - torch.tensor([0, rows - rows // 2, columns - columns // 2])
    add({"_class_name": "QwenImageTransformer2DModel", "axes_dims_rope": widths}, x, ids, rotated)

    for seed, name in ((6, "WanTransformer3DModel"), (7, "WanVACETransformer3DModel")):
        head = 40 + 4 * (seed - 6)
        sixths = 2 * (head // 6)
        x, ids = draw(seed, [head - 2 * sixths, sixths, sixths], 5)
        cos, sin = models.transformer_wan.WanRotaryPosEmbed(head, (1, 2, 2), 64)(torch.zeros(1, 1, 5, 14, 18))
        at = (ids[:, 0] * 7 + ids[:, 1]) * 9 + ids[:, 2]
        processor = inspect.getsource(models.transformer_wan.WanAttnProcessor)
        assert (
            "hidden_states.unflatten(-1, (-1, 2)).unbind(-1)" in processor and "cos = freqs_cos[..., 0::2]" in processor
        )
        c, s = cos[0, at, 0].double(), sin[0, at, 0].double()
        a, b = x.double().unflatten(-1, (-1, 2)).unbind(-1)
        c, s = c[..., 0::2], s[..., 1::2]
        rotated = torch.stack([a * c - b * s, a * s + b * c], dim=-1).flatten(-2)
        add({"_class_name": name, "attention_head_dim": head}, x, ids, rotated)

    widths, base = [8, 4, 12], 77.0
    x, ids = draw(8, widths, 30)
    freqs = models.transformer_z_image.RopeEmbedder(base, widths, [40, 40, 40])(ids)
    rotated = torch.view_as_real(torch.view_as_complex(x.reshape(COUNT, -1, 2)) * freqs).flatten(-2)
    add({"_class_name": "ZImageTransformer2DModel", "axes_dims": widths, "rope_theta": base}, x, ids, rotated)
    return built


if __name__ == "__main__":
    print(json.dumps({"diffusers": diffusers.__version__, "cases": cases()}))
