"""Hugging Face's rope_type strings by name, for code that asks which one a config has."""

DEFAULT = "default"
LINEAR = "linear"
DYNAMIC = "dynamic"
YARN = "yarn"
LONGROPE = "longrope"
LLAMA3 = "llama3"
PROPORTIONAL = "proportional"
# The scheme that transformers runs for Hunyuan's alpha, and the two that follow the length in use.
STATIC_NTK = "ntk"
RAMPED = (YARN, LLAMA3)
# Types by which a model is extended. YaRN first: it meets no unseen angle, keeps the fast pairs, and has the attention
# factor for use without training.
WAYS = (YARN, LINEAR, STATIC_NTK, LLAMA3)
# Layer types behind a sliding window: they never look further than the window, whatever the context.
WINDOWED = ("sliding_attention", "main")
LENGTH = "original_max_position_embeddings"
NEEDS_LENGTH = (YARN, LLAMA3, LONGROPE)
# transformers' rope_type -> the scheme of this package that computes it.
TYPES = {
    DEFAULT: "none",
    LINEAR: "linear",
    DYNAMIC: "dynamic",
    YARN: "yarn",
    LONGROPE: "longrope",
    LLAMA3: "llama3",
    PROPORTIONAL: "proportional",
}
REQUIRED = {
    LINEAR: ("factor",),
    DYNAMIC: ("factor",),
    YARN: ("factor",),
    LONGROPE: ("short_factor", "long_factor"),
    LLAMA3: ("factor", "low_freq_factor", "high_freq_factor"),
}
# Keys of a rope dict whatever its type, and those that are no scheme's parameter but that some model's code reads.
COMMON = ("rope_type", "type", "rope_theta", "partial_rotary_factor")
READ_ELSEWHERE = (
    "short_mscale",
    "long_mscale",
    "mrope_section",
    "mrope_interleaved",
    "mscale",
    "mscale_all_dim",
    "llama_4_scaling_beta",
    "alpha",
)
# Types that other programs know and transformers 5.24 does not, with who reads them and the nearest type here.
FOREIGN = {
    "su": ("Phi-3, vLLM, mlx-lm", LONGROPE),
    "mrope": ("Qwen2-VL, vLLM, mlx-lm", DEFAULT),
    "ntk": ("vLLM", DYNAMIC),
    "deepseek_yarn": ("vLLM, mlx-lm", YARN),
    "telechat3-yarn": ("vLLM, mlx-lm", YARN),
    "dynamic-yarn": ("jquesnelle/yarn", YARN),
    "xdrope": ("Hunyuan-VL", DYNAMIC),
    "llama": ("torchtitan", LLAMA3),
    "llama3.1": ("MaxText", LLAMA3),
}
