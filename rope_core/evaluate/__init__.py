"""Any causal model of transformers under every scheme, on any text: perplexity by position, passkey, copying."""
