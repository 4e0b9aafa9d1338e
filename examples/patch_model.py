"""Put rope_core's rotation in the place of a Hugging Face model's own, and compare the logits.

The model is tiny and its weights are random, so that nothing is downloaded; others are patched alike.

Run: python -m examples.patch_model
"""

import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama import modeling_llama

from rope_core.kernels import apply


def rotate(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotate q and k (batch, heads, tokens, dim) by tables whose halves repeat, as transformers makes them."""
    half = cos.shape[-1] // 2
    q, k = apply(q.transpose(1, 2), k.transpose(1, 2), cos[..., :half], sin[..., :half], layout="half")
    return q.transpose(1, 2), k.transpose(1, 2)


torch.manual_seed(0)
config = LlamaConfig(
    hidden_size=128,
    intermediate_size=256,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    vocab_size=99,
)
model = LlamaForCausalLM(config).eval()
tokens = torch.randint(0, 99, (2, 100))
with torch.no_grad():
    before = model(tokens).logits
    modeling_llama.apply_rotary_pos_emb = rotate
    after = model(tokens).logits
print(f"largest difference of a logit: {(after - before).abs().max():.1e}, of logits up to {before.abs().max():.2f}")
