"""The command `rope`: one file a subcommand."""

# name: (module, one line of help)
COMMANDS = {
    "check": ("rope_core.cli.check", "what is wrong with a model's config, or worth knowing"),
    "extend": ("rope_core.cli.extend", "the config block and the start command for a longer context"),
    "engines": ("rope_core.cli.engines", "what several programs compute from one config"),
    "convert": ("rope_core.cli.convert", "a config in the schema of transformers 4 or 5"),
    "compare": ("rope_core.cli.compare", "schemes side by side: the margin of each check, pair by pair"),
    "diff": ("rope_core.cli.diff", "two configs' rotary embeddings, field by field"),
    "verify": ("rope_core.cli.verify", "stored rotary buffers against a config, or a kernel of your own"),
    "positions": ("rope_core.cli.positions", "the positions of a batch: padding, packed texts, slices, images"),
    "cache": ("rope_core.cli.cache", "whether cached keys can be moved, and were moved rightly"),
    "spectrum": ("rope_core.cli.spectrum", "frequencies of a model's config, as a table or CSV"),
    "ledger": ("rope_core.cli.ledger", "every claim of the source documents and of papers, checked"),
    "grade": ("rope_core.cli.grade", "a student's own rotate, spectrum, convert and yarn, stage by stage"),
    "eval": ("rope_core.cli.eval", "your own model under every scheme, on your text"),
    "pairs": ("rope_core.cli.pairs", "how large each pair is in a model's W_q and W_k, by wavelength"),
    "lab": ("rope_core.cli.lab", "train and evaluate a small model past its trained length"),
    "bench": ("rope_core.cli.bench", "time rotations beside a copy, answers checked first"),
}
