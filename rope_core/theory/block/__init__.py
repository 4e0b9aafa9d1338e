"""The Transformer block around RoPE: norms, activations, arrangements, logits."""
