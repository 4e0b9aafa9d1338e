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


@pytest.mark.parametrize("name", ["llama", "glm4", "cohere", "phi3", "ernie4_5"])
def test_transformers_functions_are_clean(name: str) -> None:
    module = importlib.import_module(f"transformers.models.{name}.modeling_{name}")
    findings = rc.check_kernel(module.apply_rotary_pos_emb)
    # The whole-head functions of Llama and Cohere leave the part to their callers.
    assert {str(each.values["trial"]) for each in findings} <= {"16 of 32 dimensions turn"}


@pytest.mark.parametrize("kernel", [paired(), paired(adjacent), in_place()])
def test_a_right_kernel_is_clean(kernel: Kernel) -> None:
    assert rc.check_kernel(kernel) == []


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_rc_rotate_is_clean(layout: str) -> None:
    def rotated(x: Any, cos: Any, sin: Any) -> Any:
        return rc.rotate(x, cos, sin, layout)

    assert rc.check_kernel(rotated) == []


MISTAKES: dict[str, tuple[Kernel, str]] = {
    "k unrotated": (paired(k_sign=0), "leaves k unrotated"),
    "q unrotated": (paired(q_sign=0), "leaves q unrotated"),
    "backwards": (paired(q_sign=-1, k_sign=-1), "turns by the negative angle"),
    "k backwards": (paired(k_sign=-1), "turns k by the negative angle"),
    "last lanes": (paired(last=True), "turns the last dimensions"),
    "by place": (in_place(by_place=True), "takes a token's place for its position"),
    "first position": (in_place(first=True), "takes the first token's position"),
    "next row": (in_place(next_row=1), "turns at the next position"),
    "a copy is turned": (in_place(contiguous=True), "leaves q and k unrotated: strided"),
    "lanes never written": (unwritten, "not finite"),
    "other shape": (lambda x, cos, sin: x[..., :4], "shape"),
    "raises": (lambda x, cos, sin: x @ cos @ sin, "raises"),
    "in half precision": (lambda x, cos, sin: _halved(x, cos, sin), "differs from the exact rotation"),
}


def _halved(x: Any, cos: Any, sin: Any) -> Any:
    return rc.rotate(x.bfloat16(), cos.bfloat16(), sin.bfloat16(), "half").to(x.dtype)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name: str) -> None:
    kernel, words = MISTAKES[name]
    titles = [each.title() for each in rc.check_kernel(kernel)]
    assert any(words in title for title in titles), titles
    assert all(each.title("zh") and each.severity == "error" for each in rc.check_kernel(kernel))


def test_another_signature_is_refused() -> None:
    with pytest.raises(ValueError, match="function must be a function of q, k, cos, sin"):
        rc.check_kernel(lambda a, b: a)


def test_a_file_is_run_only_when_it_is_named(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def turn(q, k, cos, sin):\n    return q, k\n")
    assert main(["verify", "--kernel", f"{file}:turn"]) == 1
    assert "leaves q and k unrotated" in " ".join(capsys.readouterr().out.split())
    assert main(["verify", "--kernel", f"{file}:other"]) == 2 and main(["verify", str(file)]) == 2
