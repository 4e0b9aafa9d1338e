"""The ledger: every status pinned, ten residuals derived again by other means, the words complete in both languages."""

import json
import math
import re
import time
from types import ModuleType

import mpmath as mp
import numpy as np
import pytest
import torch
import transformers

from rope_core import ledger
from rope_core.__main__ import main
from rope_core.hf import catalogue
from rope_core.ledger import d001, d002, d003_extend, d003_proof, d004_block, d004_position, papers, papers_late
from rope_core.ledger.entry import CLAIMS, ClaimCheck, claim_texts
from rope_core.ledger.kit import DIM, M, N, random_normal
from rope_core.rope import Rope
from rope_core.spectrum import Request, spectrum
from rope_core.theory.limits import simulated_failure_rates

TINY = transformers.LlamaConfig(
    hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, vocab_size=8, head_dim=8
)

PINNED = {
    "holds": """
        000-f-qk 000-f-q 000-f-k 000-associative-q 000-associative-k 000-theta-paper 000-theta-zero
        000-theta-llama 001-activation-dim 001-block-diagonal 001-block 001-notice 001-transpose 001-offset
        001-partial 002-complex 002-stacked 002-euler-product 002-expand 002-to-matrix 002-attention 002-v
        002-y-matrix 002-matrix 002-elements 002-theta 002-theta-code 002-identity 002-double 003-sinusoidal
        003-relative-k 003-relative-v 003-theta 003-theta-range 003-sin 003-omega 003-beta 003-digit-row
        003-llama-code 003-llama-elements 003-clock-minute 003-clock-43200 003-clock-slow
        003-clock-second-kept 003-clock-90 003-pi 003-2048-scale 003-precision 003-code-linear
        003-code-dynamic 003-ntk-beta 003-ntk-theta 003-ntk-alpha 003-ntk-base 003-slower 003-ntk-2-billion
        003-ntk-distinguishable 003-temperature 003-order-seen 003-rnn-order 003-parallel
        003-relative-attends 003-absolute-way 003-proof-goal 003-proof-inner 003-proof-goal-real
        003-proof-same-place 003-proof-arg-moved 003-proof-phi 003-proof-arithmetic 003-proof-summary
        003-proof-plane 003-proof-blocks 003-proof-relative 004-prenorm-gradient 004-prenorm-flow
        004-ln-mean 004-ln-variance 004-ln 004-ln-per-token 004-rms 004-rms-l2 004-rms-no-mean
        004-rms-no-bias 004-ff 004-reglu 004-swiglu 004-swiglu-llama 004-swish 004-sigmoid 004-swish-smooth 004-parallel
        004-swap-pairs 004-sinusoidal 004-slower-columns 004-rows-differ 004-shift-map 004-shift-transform
        004-shift-lines 004-omega 004-additive-breaks 004-taylor 004-hessian-general 004-digit-row 004-beta
        004-mod-period 004-digits-carry 004-cross-sum 004-relative-form 004-rotation 004-relative-turn
        004-apply 004-block-2 004-z 004-z-turn 004-theta-index 004-z-product 004-z-expand 004-matrix
        004-transpose 004-compose 004-proof arXiv-2605.15514-locality arXiv-2605.15514-order
        arXiv-2605.15514-same arXiv-2410.06205-decay arXiv-2502.15894-frequency arXiv-2502.20082-critical
        arXiv-2608.29715-closure arXiv-2607.07740-short arXiv-2607.07740-merge
    """,
    "holds with a condition": """
        000-llama-equivalent 000-f-rows-q 000-f-rows-k 001-halves 001-output 001-backward-lines
        001-theta-shapes 002-y-m 002-qk 003-angle-range 003-decay 003-code-comment 003-llama-pairing
        003-llama-reordered 003-clock-hour 003-clock-ntk-time 003-ntk-high-kept 003-dynamic 003-closer
        003-same-vectors 003-pairs-independent 003-relative-rate 003-predefined 003-table-end
        003-mainstream 003-proof-modulus 004-rnn-variant 004-rms-fewer 004-glu 004-serial-parallel
        004-columns-differ 004-score-name
        004-symmetric 004-absolute-terms 004-hessian-diagonal 004-digit 004-cross-not-relative
        004-before-rotation arXiv-2605.15514-base arXiv-2602.05258-outliers arXiv-2601.22181-radices
        arXiv-2610.06963-aliasing arXiv-2608.02947-logarithm arXiv-2608.02947-reachable arXiv-2609.07971-commutant
    """,
    "wrong as printed": """
        000-matrix-paper 000-elements-paper 000-matrix-zero 000-elements-zero 000-matrix-llama
        000-elements-llama 001-row-form 001-backward-o 001-backward-activation 002-y-n 002-inner
        002-inner-shape 002-inner-conjugate 002-euler-sum 002-split-words 002-code-index 002-code-axes
        003-elements 003-elements-again 003-clock-dimension 003-clock-base 003-clock-still 003-clock-129600
        003-clock-is-ntk 003-code-ntk 003-dynamic-on-demand 003-600 003-ntk-ramp 003-ntk-lowest
        003-ntk-because 003-ntk-every-token 003-ntk-sweep 003-ntk-cache 003-proof-goal-complex
        003-proof-ansatz 003-proof-phi-difference 003-proof-phi-step 003-proof-solution 003-proof-symmetric
        003-proof-product 003-proof-sum-angle 004-table-gpt-2 004-table-gpt-2-2020 004-table-bloom
        004-table-opt 004-table-phi-3-small 004-table-olmo 004-table-qwen 004-table-mixtral
        004-ln-length-name 004-swiglu-ffn 004-swiglu-origin 004-serial 004-shift-direction 004-additive
        004-p-m 004-embed-name 004-angle-name 004-big-matrix 004-carries-relative arXiv-2608.29715-freedom
    """,
    "empirical": """
        001-offset-inference 003-better 003-relative-better 003-long-texts 003-pretraining 003-no-finetuning
        003-dynamic-better 003-distribution 003-yarn-fit 003-yarn-quote 004-table 004-table-gpt-4
        004-ln-robust 004-rms-sufficient 004-prenorm-trains 004-prenorm-worse 004-postnorm-finetunes
        004-rms-mean-cost 004-swiglu-better 004-memorise 004-rows-learned arXiv-2605.15514-layers
        arXiv-2410.06205-gemma arXiv-2602.05258-leakage arXiv-2602.05258-gains arXiv-2502.15894-video
        arXiv-2502.20082-llama3 arXiv-2607.10134-learned arXiv-2610.06963-helmet arXiv-2608.11909-logic
        arXiv-2607.19363-heads arXiv-2607.07678-width
    """,
}


@pytest.fixture(scope="module")
def results() -> dict[str, ledger.ClaimResult]:
    """Run every claim, once for this module, and look that it is in order and quick."""
    calls: list[tuple[int, int]] = []
    began = time.process_time()
    matches = ledger.check_claims(lambda done, total: calls.append((done, total)))
    assert time.process_time() - began < 10.0
    assert calls == [(i + 1, len(CLAIMS)) for i in range(len(CLAIMS))]
    assert [each.document for each in matches] == sorted(each.document for each in matches)
    return {each.id: each for each in matches}


@pytest.mark.parametrize("status", ledger.STATUSES)
def test_every_status_is_pinned(results: dict[str, ledger.ClaimResult], status: str) -> None:
    assert sorted(r.id for r in results.values() if r.status == status) == sorted(PINNED[status].split())


def test_every_way_out_is_proved_and_what_is_empirical_has_no_residual(results: dict[str, ledger.ClaimResult]) -> None:
    assert {r.document for r in results.values()} == set(ledger.SOURCES)
    assert [r.id for r in results.values() if not r.check.proved] == []
    for r in results.values():
        assert (r.residual is None) == (r.status == ledger.EMPIRICAL)
        assert r.residual is None or math.isfinite(r.residual)


def test_a_status_follows_from_its_residuals() -> None:
    assert ClaimCheck(0.5).status == ledger.WRONG and not ClaimCheck(0.5).proved
    assert ClaimCheck(0.5, corrected=0.2).status == ledger.WRONG and not ClaimCheck(0.5, corrected=0.2).proved
    assert ClaimCheck(0.5, condition=0.2).status == ledger.WRONG
    assert ClaimCheck(float("nan")).status == ledger.WRONG
    assert ClaimCheck(0.5, tolerance=0.6).status == ledger.HOLDS
    assert ClaimCheck(None).status == ledger.EMPIRICAL and ClaimCheck(None).proved


@pytest.mark.parametrize(
    ("module", "name", "value", "entry"),
    [
        (d002, "rotate_every_two", lambda x: x, "002-elements"),
        (d003_extend, "SCALE", 1.0, "003-code-ntk"),
        (d003_proof, "T", 0.0, "003-proof-sum-angle"),
        (d004_block, "PALM", "2002.00001", "004-swiglu-origin"),
        (d004_position, "beta_digits", lambda n, b, k: np.zeros(k), "004-digit"),
        (papers, "FAR", 4096, "arXiv-2605.15514-order"),
        (papers_late, "HIGHER", np.abs(papers_late.HIGHER), "arXiv-2608.29715-closure"),
        (papers_late, "_grouped", lambda length: np.arange(length) // 2, "arXiv-2607.07740-short"),
    ],
)
def test_a_changed_number_changes_a_status(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, value: object, entry: str
) -> None:
    before = ledger.check_claims(claim_ids=[entry])[0]
    monkeypatch.setattr(module, name, value)
    after = ledger.check_claims(claim_ids=[entry])[0]
    assert after.status != before.status


# Ten and more residuals by other means.


def test_again_002_inner(results: dict[str, ledger.ClaimResult]) -> None:
    """q^T (R_{m-n} - R_{n-m}) k = -2 sin((m-n) theta) (q1 k2 - q2 k1)."""
    (q1, q2), (k1, k2) = d002.Q, d002.K
    expected = abs(2 * mp.sin((M - N) * mp.mpf(d002.T)) * (q1 * k2 - q2 * k1))
    assert results["002-inner"].residual == pytest.approx(float(expected), rel=1e-10)


def test_again_002_euler(results: dict[str, ledger.ClaimResult]) -> None:
    """What is too much is e^{-im theta}, of modulus 1."""
    assert results["002-euler-sum"].residual == pytest.approx(1.0, abs=1e-12)


def test_again_001_backward(results: dict[str, ledger.ClaimResult]) -> None:
    theta = 10_000.0 ** (-torch.arange(0, DIM, 2, dtype=torch.float64) / DIM)
    x = torch.from_numpy(random_normal(11, DIM)).requires_grad_()
    d_o = torch.from_numpy(random_normal(12, DIM))
    angle = (M + d001.OFFSET) * theta
    blocks = [
        torch.stack([torch.stack([c, -s]), torch.stack([s, c])]) for c, s in zip(angle.cos(), angle.sin(), strict=True)
    ]
    w = torch.block_diag(*blocks)  # type: ignore[no-untyped-call]
    o = w @ x
    (grad,) = torch.autograd.grad(o @ d_o, x)
    o = o.detach()
    result = results["001-backward-o"]
    assert result.residual == pytest.approx(float((o @ w.T - grad).abs().max()), rel=1e-6)
    assert float((d_o @ w - grad).abs().max()) < 1e-12
    assert result.text.corrected is not None and result.text.corrected.endswith("do_t^\\top W_t")
    # The document's own last backward lines are the same gradient, in the half layout.
    half = DIM // 2
    order = [*range(0, DIM, 2), *range(1, DIM, 2)]
    d1, d2 = d_o[order][:half], d_o[order][half:]
    lines = torch.cat([d1 * angle.cos() + d2 * angle.sin(), -d1 * angle.sin() + d2 * angle.cos()])
    assert float((lines - grad[order]).abs().max()) < 1e-12
    assert float((d_o @ w.T - grad).abs().max()) > 0.5


def test_again_000_rows(results: dict[str, ledger.ClaimResult]) -> None:
    """One matrix for all rows cancels in Q K^T: what is left is the score without positions."""
    q, k = torch.from_numpy(random_normal(4, 2, 4, DIM))
    theta = 10_000.0 ** (-torch.arange(0, DIM, 2, dtype=torch.float64) / DIM)
    phase = torch.polar(torch.ones(4, DIM // 2, dtype=torch.float64), torch.arange(4)[:, None] * theta)
    rq, rk = (torch.view_as_real(torch.view_as_complex(z.reshape(4, -1, 2)) * phase).reshape(4, -1) for z in (q, k))
    expected = float((q @ k.T - rq @ rk.T).abs().max())
    assert results["000-f-rows-k"].residual == pytest.approx(expected, rel=1e-9)


def test_again_003_elements(results: dict[str, ledger.ClaimResult]) -> None:
    """Printed minus right is (x1 - x0, x1 - x0, ...) sin."""
    x = random_normal(32, DIM)
    expected = max(
        abs((x[2 * j + 1] - x[2 * j]) * mp.sin(M * mp.mpf(10_000) ** (-mp.mpf(2 * j) / DIM))) for j in range(DIM // 2)
    )
    assert results["003-elements"].residual == pytest.approx(float(expected), rel=1e-9)


def test_again_003_600(results: dict[str, ledger.ClaimResult]) -> None:
    """The numbers of its sentences: 589, 14 %, 512 and 302."""
    theta = [mp.mpf(10_000) ** (-mp.mpf(2 * j) / 128) for j in range(64)]
    total, b = mp.mpc(0), mp.mpf(0)
    for t in theta:
        total += mp.expj(70_508 * t)
        b += abs(total)
    squares = sum(t**2 for t in theta)
    assert results["003-600"].residual == pytest.approx(float(1 - 2 * b / (squares / 8) / 600), abs=1e-6)
    reached = sum(2 * mp.sin(t / 4) ** 2 for t in theta)
    numbers = [
        64 * mp.log(10_000),
        100 * (reached * 32 * mp.log(10_000) / 128 - 1),
        16 * 128 / squares,
        2 * b / (squares / 8),
    ]
    assert [round(float(number)) for number in numbers] == [589, 14, 512, 302]
    for sentence in results["003-600"].text.why.values():
        assert all(str(round(float(number))) in sentence for number in numbers)


def test_again_003_clock(results: dict[str, ledger.ClaimResult]) -> None:
    """The slowest hand's round: 12 h twice slower against 12 h three times slower."""
    assert results["003-clock-129600"].residual == pytest.approx(1 - (12 * 3600 * 2) / (12 * 3600 * 3))
    assert 12 * 3600 * 3 == 129_600


def test_again_003_sweep(results: dict[str, ledger.ClaimResult]) -> None:
    assert results["003-ntk-sweep"].residual == pytest.approx(16 - 2 ** (8 / 126), rel=1e-12)


def test_again_003_sum_angle(results: dict[str, ledger.ClaimResult]) -> None:
    """Off the diagonal: -sin(i + j) for sin(i - j) above, for -sin(i - j) below."""
    i, j = M * mp.mpf(d003_proof.T), N * mp.mpf(d003_proof.T)
    expected = max(abs(mp.sin(i + j) + mp.sin(i - j)), abs(mp.sin(i + j) - mp.sin(i - j)))
    assert results["003-proof-sum-angle"].residual == pytest.approx(float(expected), rel=1e-9)


def test_again_004_shift_direction(results: dict[str, ledger.ClaimResult]) -> None:
    """Turned by -x where +x is printed: off by 2 x, x = 5 * 10000^(-2/8)."""
    assert results["004-shift-direction"].residual == pytest.approx(2 * 5 * 10_000 ** (-0.25), rel=1e-9)


def test_again_004_serial(results: dict[str, ledger.ClaimResult]) -> None:
    """What the printed block loses against the right one, with torch's own norm and attention."""
    x, w = torch.from_numpy(random_normal(61, 5, DIM)), d004_block.LAYER
    q, k, v, o, w1, w2 = (torch.from_numpy(getattr(w, n)) for n in ("w_q", "w_k", "w_v", "w_o", "w_1", "w_2"))

    def norm(z: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.layer_norm(z, (DIM,), eps=1e-6)

    u = norm(x)
    mixed = torch.nn.functional.scaled_dot_product_attention((u @ q)[None], (u @ k)[None], (u @ v)[None])[0] @ o
    inner = torch.relu(norm(x + mixed) @ w1) @ w2
    expected = float(((x + inner) - (x + mixed + inner)).abs().max())
    assert results["004-serial"].residual == pytest.approx(expected, rel=1e-9)


def test_again_004_score_name(results: dict[str, ledger.ClaimResult]) -> None:
    """Give torch's attention the scale 1 and its own."""
    x, w = torch.from_numpy(random_normal(61, 5, DIM)), d004_block.LAYER
    q, k, v = (x @ torch.from_numpy(part) for part in (w.w_q, w.w_k, w.w_v @ w.w_o))
    plain, scaled = (torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=scale) for scale in (1.0, None))
    assert results["004-score-name"].residual == pytest.approx(float((plain - scaled).abs().max()), rel=1e-9)


def test_again_004_swiglu_llama_and_003_mainstream(results: dict[str, ledger.ClaimResult]) -> None:
    """Look at transformers' own LLaMA, and at the models that the catalogue says do not rotate."""
    layer = transformers.LlamaForCausalLM(TINY).model.layers[0].mlp
    x = torch.linspace(-3, 3, 8)
    swish = torch.nn.functional.silu(layer.gate_proj(x)) * layer.up_proj(x)
    assert torch.equal(layer(x), layer.down_proj(swish))
    assert results["004-swiglu-llama"].residual == 0.0
    years = {each.name: each.year for each in catalogue.unrotated_models()}
    assert min(years.values()) == years["Kimi Linear 48B"] == 2025
    share = results["003-mainstream"].residual
    assert share is not None and len(years) / share == pytest.approx(133)


def test_again_004_symmetric(results: dict[str, ledger.ClaimResult]) -> None:
    x = torch.from_numpy(random_normal(75, 5, DIM))
    w = torch.from_numpy(random_normal(76, 3, DIM, DIM))

    def mean(z: torch.Tensor, causal: bool) -> torch.Tensor:
        q, k, v = (z @ part for part in w)
        return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal, scale=1.0)[
            0
        ].mean(0)

    swapped = x[[2, 1, 0, 3, 4]]
    expected = float((mean(x, True) - mean(swapped, True)).abs().max())
    assert results["004-symmetric"].residual == pytest.approx(expected, rel=1e-9)
    assert float((mean(x, False) - mean(swapped, False)).abs().max()) < 1e-12


def test_again_004_digit(results: dict[str, ledger.ClaimResult]) -> None:
    beta = 10_000 ** (2 / 64)
    spelled = sum(math.fmod(math.floor(1234 / beta**m), beta) * beta**m for m in range(32))
    assert results["004-digit"].residual == pytest.approx(abs(spelled - 1234) / 1234, rel=1e-9)


def test_again_arxiv_limits(results: dict[str, ledger.ClaimResult]) -> None:
    """Turned vectors instead of formulas: at the far length both fail as often as not, in the trained one less."""
    plain = spectrum(Request(Rope(128, 500_000.0, 4096), "none"))
    assert simulated_failure_rates(plain, papers.FAR, papers.SIGNAL, 20_000, 5) == pytest.approx((0.5, 0.5), abs=0.015)
    assert max(simulated_failure_rates(plain, 8192, papers.SIGNAL, 20_000, 5)) < 0.43
    assert results["arXiv-2605.15514-order"].residual == pytest.approx(0.0, abs=1e-3)


def test_again_arxiv_outliers(results: dict[str, ledger.ClaimResult]) -> None:
    """Llama 3's 29 unfinished pairs at eight times the length: the last 20 times half of 1 + cos t, t from 0 to pi."""
    theta = [mp.mpf(500_000) ** (-mp.mpf(2 * j) / 128) for j in range(64)]
    kept = [1] * 44 + [(1 + mp.cos(mp.pi * j / 19)) / 2 for j in range(20)]
    unfinished = [t * 8192 < 2 * mp.pi for t in theta]
    reached = sum(slow and 8 * keep > 1 for slow, keep in zip(unfinished, kept, strict=True))
    assert sum(unfinished) == 29
    assert results["arXiv-2602.05258-outliers"].residual == reached / 64


def test_again_arxiv_commutant(results: dict[str, ledger.ClaimResult]) -> None:
    """Count equal eigenvalues instead: a pair has exp(i theta) and exp(-i theta), a pair at rest 1 and 1."""

    def dimension(theta: list[float]) -> int:
        values = [sign * t for t in theta for sign in (1, -1)]
        return sum(a == b for a in values for b in values)

    assert dimension([1.0, 0.1, 0.01, 0.001]) == 8 and dimension([1.0, 0.1, 0.1, 0.1]) == 2 + 2 * 9
    assert results["arXiv-2609.07971-commutant"].residual == dimension([1.0, 0.1, 0.0, 0.0]) - 8
    assert papers_late._commutant(np.array([1.0, 0.1, 0.1, 0.1])) == 20


def test_again_arxiv_pruned() -> None:
    """Count the terms of a causal text one by one."""
    theta = Rope(8, 100.0).theta
    beyond = [(m - n) * t > 2 * np.pi * 1.5 for m in range(90) for n in range(m + 1) for t in theta]
    assert papers_late._pruned(theta, 90, 1.5) == pytest.approx(float(np.mean(beyond)), rel=1e-12)


def test_hard_and_soft_clipping_ring_alike() -> None:
    """What the entry on leakage says of the mean cosine: beyond the cut, its swing about a running mean."""
    rope = Rope(128, 500_000.0, 8192)
    turn = 2 * np.pi / rope.theta[44]
    distances = np.linspace(0.0, 8 * turn, 32_001)
    swing = []
    for soft in (False, True):
        kernel = np.cos(np.outer(distances, spectrum(Request(rope, "cope", {"soft": soft})).inv_freq)).mean(axis=1)
        mean = np.convolve(kernel, np.full(4001, 1 / 4001), "valid")
        swing.append((kernel[2000:-2000] - mean).std())
    assert swing[1] == pytest.approx(swing[0], rel=0.05)


# Words and output.


def test_every_entry_has_its_words() -> None:
    assert set(claim_texts()) == set(CLAIMS)
    for name, text in claim_texts().items():
        assert text.where and text.formula, name
        for latex in (text.formula, text.corrected or ""):
            plain = re.sub(r"\\[{}\\]", "", latex)
            assert plain.count("{") == plain.count("}"), name
            assert sorted(re.findall(r"\\begin\{(\w+)\}", latex)) == sorted(re.findall(r"\\end\{(\w+)\}", latex)), name


def test_what_fails_says_why_and_how_to_mend_it(results: dict[str, ledger.ClaimResult]) -> None:
    for r in results.values():
        explained = bool(r.text.why["en"])
        assert explained == (r.status != ledger.HOLDS), r.id
        assert (r.text.corrected is not None) == (r.status in (ledger.CONDITION, ledger.WRONG)), r.id


KEYS = {"id", "document", "where", "link", "quotes", "status", "residual", "corrected"}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch, results: dict[str, ledger.ClaimResult]) -> None:
    """Have the command print what was found, in place of a run of its own."""
    monkeypatch.setattr("rope_core.cli.ledger.run_ledger", lambda progress: list(results.values()))


@pytest.mark.usefixtures("known")
def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == len(CLAIMS)
    for row in rows:
        assert set(row) == KEYS
        assert row["document"] == row["id"].split("-")[0] and row["status"] in ledger.STATUSES
        assert (row["link"] is not None) == (row["document"] == "arXiv")
        assert (row["quotes"] or row["link"]) and all(isinstance(quote, str) for quote in row["quotes"])
        assert row["residual"] is None or isinstance(row["residual"], float)
        assert row["corrected"] is None or isinstance(row["corrected"], str)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(("language", "word"), [("en", "wrong as printed"), ("zh", "原文有误")])
def test_the_command_prints_in_both_languages(
    results: dict[str, ledger.ClaimResult], capsys: pytest.CaptureFixture[str], language: str, word: str
) -> None:
    assert main(["ledger", "--lang", language]) == 0
    out = capsys.readouterr().out
    assert f"{word}: {len(PINNED['wrong as printed'].split())}" in out
    for name, each in results.items():
        assert name in out and each.text.claim[language] in out and (each.text.why[language] or "") in out


def test_an_unknown_id_is_refused() -> None:
    with pytest.raises(ValueError, match="only must be ids of the ledger, got '003-nothing'"):
        ledger.check_claims(claim_ids=["003-nothing"])
    with pytest.raises(ValueError, match="id must be new"):
        ledger.entry.register_claim("000-f-qk")(lambda: ClaimCheck(0.0))
