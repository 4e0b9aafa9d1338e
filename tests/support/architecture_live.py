"""The oracle for the architecture table: small random models of transformers, known by what they compute."""

import inspect
from typing import Any

import torch
import transformers

transformers.logging.set_verbosity_error()

SMALL = {
    "vocab_size": 16,
    "hidden_size": 32,
    "n_embd": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "n_layer": 2,
    "num_attention_heads": 2,
    "n_head": 2,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "rotary_dim": 8,
    "ffn_dim": 32,
    "word_embed_proj_dim": 32,
    "query_pre_attn_scalar": 16,
    "num_local_experts": 2,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
ATTENTION = ("attn", "self_attn", "attention", "self_attention")
FEED_FORWARD = ("mlp", "block_sparse_moe", "fc1")


class Block:
    """The first block of a small random model of one transformers type, and what can be observed in it."""

    def __init__(self, model_type: str, **changes: Any) -> None:
        kind = transformers.CONFIG_MAPPING[model_type]
        known = {*inspect.signature(kind.__init__).parameters, *kind.attribute_map}
        given = {
            key: value for key, value in SMALL.items() if key in known and kind.attribute_map.get(key) not in SMALL
        }
        torch.manual_seed(0)
        self.model = transformers.AutoModel.from_config(kind(**given, **changes)).eval()
        self.layer = next(m for m in self.model.modules() if isinstance(m, torch.nn.ModuleList))[0]

    def run(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Hidden states that enter and leave the first block."""
        with torch.no_grad():
            states = self.model(torch.tensor([[3, 5, 7]]), output_hidden_states=True).hidden_states
        return states[0], states[1]

    def part(self, names: tuple[str, ...]) -> torch.nn.Module:
        return next(child for name, child in self.layer.named_children() if name in names)

    def norm_module(self) -> torch.nn.Module:
        return next(child for child in self.layer.children() if "norm" in type(child).__name__.lower())

    def norm(self) -> str:
        """LayerNorm where it does not see a constant added to its input, else RMSNorm."""
        norm, x = self.norm_module(), torch.randn(4, 32)
        with torch.no_grad():
            return "LayerNorm" if torch.allclose(norm(x), norm(x + 3.0), atol=1e-4) else "RMSNorm"

    def norm_weights(self) -> int:
        return sum(p.numel() for p in self.norm_module().parameters())

    def order(self) -> str:
        """Return Serial where the feed-forward part's input moves with the attention's output, else Parallel."""
        seen: list[torch.Tensor] = []
        hook = self.part(FEED_FORWARD).register_forward_pre_hook(lambda _, args: seen.append(args[0].detach().clone()))
        self.run()
        shift = torch.linspace(-1.0, 1.0, 32)

        def moved(_: Any, __: Any, out: Any) -> Any:
            return type(out)((out[0] + shift, *out[1:])) if isinstance(out, tuple | list) else out + shift

        other = self.part(ATTENTION).register_forward_hook(moved)
        self.run()
        hook.remove()
        other.remove()
        first, second = seen[0], seen[len(seen) // 2]
        return "Parallel" if torch.allclose(first, second, atol=1e-6) else "Serial"

    def keeps_the_stream(self) -> bool:
        """Whether a block whose linear maps are all zero hands its input on unchanged: no norm is on the stream."""
        with torch.no_grad():
            for name, p in self.layer.named_parameters():
                if "norm" not in name and "ln_" not in name:
                    p.zero_()
        before, after = self.run()
        return torch.allclose(before, after, atol=1e-6)
