"""Compare what a loaded model's rotary embedding holds with its config: first as built, then after a cast to bfloat16.

The model is tiny and its weights are random, so that nothing is downloaded.

Run: python -m examples.verify_model
"""

from transformers import LlamaConfig, LlamaForCausalLM

import rope_core as rc

config = LlamaConfig(
    hidden_size=64, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, vocab_size=9, rope_theta=500_000.0
)
model = LlamaForCausalLM(config)
print("as built:", [finding.key for finding in rc.verify(model, config)])
model.model.rotary_emb.inv_freq = model.model.rotary_emb.inv_freq.bfloat16()
for finding in rc.verify(model, config):
    print(f"{finding.severity}: {finding.title()}\n  {finding.why()}\n  {finding.change()}")
