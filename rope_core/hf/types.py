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
NEEDS_LENGTH = (YARN, LLAMA3, LONGROPE)
# Types that other programs know and transformers 5.23 does not, with who reads them and the nearest type here.
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
