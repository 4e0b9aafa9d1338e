"""Rotation functions of others are clean, and every planted mistake is named, in three signatures."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest
import torch

import rope_core as rc
from rope_core.__main__ import main

Kernel = Callable[..., Any]


def half(x: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2, dim=-1)
    return torch.cat([-b, a], dim=-1)


def adjacent(x: torch.Tensor) -> torch.Tensor:
    return torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).flatten(-2)


def paired(partner: Kernel = half, q_sign: float = 1, k_sign: float = 1, width: int = 0, last: bool = False) -> Kernel:
    """Return q and k turned as transformers does, with what a test changes."""

    def turn(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, sign: float) -> torch.Tensor:
        n = width or cos.shape[-1]
        lanes = slice(x.shape[-1] - n, None) if last else slice(0, n)
        out, part = x.clone(), x[..., lanes].float()
        out[..., lanes] = (part * cos.float() + sign * partner(part) * sin.float()).to(x.dtype)
        return out

    def kernel(q: Any, k: Any, cos: Any, sin: Any) -> Any:
        cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
        return turn(q, cos, sin, q_sign) if q_sign else q, turn(k, cos, sin, k_sign) if k_sign else k

    return kernel


def in_place(by_place: bool = False, next_row: int = 0, contiguous: bool = False, first: bool = False) -> Kernel:
    """Return query and key turned in place, as vLLM does, with what a test changes."""

    def kernel(positions: Any, query: Any, key: Any, head_size: int, cos_sin_cache: Any, is_neox: bool) -> None:
        where = (
            torch.arange(len(positions)) if by_place else positions[:1].expand(len(positions)) if first else positions
        )
        cos, sin = cos_sin_cache[(where + next_row).clamp(max=len(cos_sin_cache) - 1)].chunk(2, dim=-1)
        for x in (query, key):
            heads = (x.contiguous() if contiguous else x).unflatten(-1, (-1, head_size))
            n = 2 * cos.shape[-1]
            a, b = (heads[..., : n // 2], heads[..., n // 2 : n]) if is_neox else (heads[..., :n:2], heads[..., 1:n:2])
            c, s = (t[:, None].to(x.dtype) for t in (cos, sin))
            left, right = a * c - b * s, b * c + a * s
            a.copy_(left)
            b.copy_(right)

    return kernel


def unwritten(x: Any, cos: Any, sin: Any) -> Any:
    out = torch.full_like(x, float("nan"))
    out[..., :8] = x[..., :8]
    return out


@pytest.mark.parametrize("name", ["llama", "qwen2_vl", "glm4", "cohere", "phi3", "ernie4_5"])
def test_transformers_functions_are_clean(name: str) -> None:
    module = importlib.import_module(f"transformers.models.{name}.modeling_{name}")
    tried = rc.check_kernel(module.apply_rotary_pos_emb)
    assert tried == [] and str(tried.assumed.values["layout"]) in tried.assumed.title()
    # A function for whole heads is demanded to turn a part only where somebody says so.
    whole = name in ("llama", "qwen2_vl", "cohere", "ernie4_5")
    assert bool(rc.check_kernel(module.apply_rotary_pos_emb, part=16)) == whole


def complex_numbers(xq: Any, xk: Any, freqs_cis: Any) -> Any:
    def turn(x: Any) -> Any:
        z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(z * freqs_cis[None, :, None]).flatten(-2).type_as(x)

    return turn(xq), turn(xk)


class OwnTables(torch.nn.Module):
    """A rotary embedding as courses write it: x and positions in, tables made inside."""

    def __init__(self, dim: int = 32, order: str = "half") -> None:
        super().__init__()
        self.order, self.theta = order, 10_000.0 ** (-torch.arange(0, dim, 2) / dim)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> Any:
        angle = positions[:, None] * self.theta
        both = torch.cat([angle, angle], -1) if self.order == "half" else angle.repeat_interleave(2, -1)
        return (x.float() * both.cos() + half(x.float()) * both.sin()).type_as(x)


def counted(x: torch.Tensor) -> Any:
    return OwnTables()(x, torch.arange(x.shape[-2]))


def doubled(x: torch.Tensor, positions: torch.Tensor) -> Any:
    return OwnTables()(x, 2 * positions)


@pytest.mark.parametrize("kernel", [paired(), paired(adjacent), in_place(), complex_numbers, OwnTables(), counted])
def test_a_right_kernel_is_clean(kernel: Kernel) -> None:
    assert rc.check_kernel(kernel) == []


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_rc_rotate_is_clean(layout: str) -> None:
    def rotated(x: Any, cos: Any, sin: Any) -> Any:
        return rc.rotate(x, cos, sin, layout)

    assert rc.check_kernel(rotated) == []


def both_rounded(x: torch.Tensor, positions: torch.Tensor) -> Any:
    kernel = OwnTables()
    kernel.theta = kernel.theta.bfloat16().float()
    return kernel(x, positions.bfloat16().float())


MISTAKES: dict[str, tuple[Kernel, str]] = {
    "k unrotated": (paired(k_sign=0), "leaves k unrotated"),
    "q unrotated": (paired(q_sign=0), "leaves q unrotated"),
    "backwards": (paired(q_sign=-1, k_sign=-1), "rotates q and k by the negative angle"),
    "k backwards": (paired(k_sign=-1), "rotates k by the negative angle"),
    "tables in another order": (OwnTables(order="interleaved"), "tables in another order than its pairs"),
    "positions doubled": (doubled, "rotates x twice"),
    "tables in bfloat16": (lambda x, cos, sin: _by_tables(x, cos, sin), "rounds cos and sin to bfloat16"),
    "both rounded": (both_rounded, "rounds positions and frequencies to bfloat16"),
    "by place": (in_place(by_place=True), "takes a token's place for its position"),
    "first position": (in_place(first=True), "takes the first token's position for all of q and k"),
    "next row": (in_place(next_row=1), "rotates q and k at the next position"),
    "a copy is turned": (in_place(contiguous=True), "leaves q and k unrotated: strided"),
    "lanes never written": (unwritten, "not finite"),
    "other shape": (lambda x, cos, sin: x[..., :4], "shape"),
    "raises": (lambda x, cos, sin: x @ cos @ sin, "raises"),
    "in half precision": (lambda x, cos, sin: _halved(x, cos, sin), "differs from the exact rotation"),
}


def _halved(x: Any, cos: Any, sin: Any) -> Any:
    return rc.rotate(x.bfloat16(), cos.bfloat16(), sin.bfloat16(), "half").to(x.dtype)


def _by_tables(x: Any, cos: Any, sin: Any) -> Any:
    return rc.rotate(x, cos.bfloat16().type_as(x), sin.bfloat16().type_as(x), "half")


def exits(x: Any, cos: Any, sin: Any) -> Any:
    raise SystemExit(0)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name: str) -> None:
    kernel, words = MISTAKES[name]
    titles = [each.title() for each in rc.check_kernel(kernel)]
    assert any(words in title for title in titles), titles
    assert all(each.title("zh") and each.severity == "error" for each in rc.check_kernel(kernel))


PARTIAL = {"phi": {"partial_rotary_factor": 0.5}, "llama": {}, "cohere": {}}


@pytest.mark.parametrize("model_type", PARTIAL)
def test_a_config_says_layout_width_and_frequencies(model_type: str) -> None:
    config = {"model_type": model_type, "hidden_size": 128, "num_attention_heads": 4, "rope_theta": 5e4}
    config |= PARTIAL[model_type]
    rope = rc.from_hf(config)
    right, wrong = (half, adjacent) if rope.layout == "half" else (adjacent, half)
    assert rc.check_kernel(paired(right), config) == []
    assert "other layout" in rc.check_kernel(paired(wrong), config)[0].title()
    if rope.rotary_dim < rope.head_dim:
        assert "rotates the last dimensions" in rc.check_kernel(paired(last=True), config)[0].title()
    assert "raises SystemExit" in rc.check_kernel(exits)[0].title()


@pytest.mark.parametrize(
    ("by", "words"), [(4.0, ""), (1.0, "without the config's scaling"), (16.0, "scales the frequencies twice")]
)
def test_a_scaling_left_out_or_applied_twice_is_named(by: float, words: str) -> None:
    config = {"model_type": "llama", "head_dim": 32, "rope_theta": 1e4, "max_position_embeddings": 4096}
    config["rope_scaling"] = {"rope_type": "linear", "factor": 4.0}
    kernel = OwnTables()
    kernel.theta /= by
    titles = [each.title() for each in rc.check_kernel(kernel, config)]
    assert (words in titles[0] and len(titles) == 1) if words else titles == []


def test_another_signature_is_refused() -> None:
    with pytest.raises(ValueError, match=r"function must be a function of one of \(q, k, cos, sin"):
        rc.check_kernel(lambda a, b: a)


def test_a_file_is_run_when_it_is_named_and_what_it_writes_steers_no_terminal(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import sys\nprint('\\x1b[31m')\nprint('\\x07', file=sys.stderr)\ndef turn(q, k, cos, sin):\n    return q, k\n"
    )
    assert main(["verify", "--kernel", f"{file}:turn"]) == 1
    written = "".join(capsys.readouterr())
    assert "leaves q and k unrotated" in " ".join(written.split())
    assert "[31m" in written and not set(written) & {"\x1b", "\x07"}
    assert main(["verify", "--kernel", f"{file}:other"]) == 2 and main(["verify", str(file)]) == 2


IMPORTED = ["import sys; sys.exit(0)", "import os; os._exit(0)", "def turn(:", "\0", "1 / 0"]
ENDS = ("os._exit(0)", "os._exit(2)", "os.kill(os.getpid(), 11)", "1 / 0", "q.dtype.itemsize == 2 and 1 / 0")
CALLED = [f"import os\ndef turn(q, k, cos, sin):\n    {text}\n    return q, k" for text in ENDS]


@pytest.mark.parametrize("text", [*IMPORTED, *CALLED])
def test_what_a_file_raises_or_ends_is_one_sentence(
    text: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    assert main(["verify", "--kernel", f"{file}:turn"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_file_is_imported_as_part_of_its_package(capsys: pytest.CaptureFixture[str]) -> None:
    file = importlib.import_module("transformers.models.llama.modeling_llama").__file__
    assert main(["verify", "--kernel", f"{file}:apply_rotary_pos_emb"]) == 0
    assert "layout half" in " ".join(capsys.readouterr().out.split())
