"""Faults of a rotation, planted into a live model of transformers through its own functions and modules."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

Apply = Callable[..., Any]


@dataclass
class Target:
    """A model under test: the module that makes its tables, the file whose function applies them, what turns.

    Attributes:
        model: the loaded model; rotary: its rotary embedding; code: the modelling file.
        name: of the function in ``code`` that turns q and k.
        width: dimensions of a head that turn; dim: of the whole head, as that function sees it.
        layout: which dimensions that function pairs.
        patch: pytest's monkeypatch.
    """

    model: Any
    name: str
    width: int
    dim: int
    layout: str
    patch: Any

    @property
    def rotary(self) -> Any:
        return self.model.rotary_emb

    @property
    def code(self) -> Any:
        return sys.modules[type(self.model).__module__]

    def turn(self, make: Callable[[Apply], Apply]) -> None:
        """Replace the function that turns q and k."""
        self.patch.setattr(self.code, self.name, make(getattr(self.code, self.name)))

    def tables(self, change: Callable[[Any, Any], tuple[Any, Any]]) -> None:
        """Change cos and sin as the rotary embedding hands them on."""
        self.rotary.register_forward_hook(lambda _, __, out: change(*out))

    def positions(self, change: Callable[[Any], Any]) -> None:
        """Change the positions that the rotary embedding is given, by name or in order."""

        def before(_: Any, args: Any, kwargs: Any) -> Any:
            if "position_ids" in kwargs:
                return args, {**kwargs, "position_ids": change(kwargs["position_ids"])}
            return (args[0], change(args[1]), *args[2:]), kwargs

        self.rotary.register_forward_pre_hook(before, with_kwargs=True)

    def ahead(self) -> dict[int, Any]:
        """Keep, by the id of each table of cos, that table and both tables shifted position ahead."""
        late: dict[int, Any] = {}

        def hook(module: Any, args: Any, kwargs: Any, out: Any) -> None:
            if late.get(-1):
                return
            late[-1] = True
            where = kwargs["position_ids"] if "position_ids" in kwargs else args[1]
            rest = {key: value for key, value in kwargs.items() if key not in ("position_ids", "x")}
            late[id(out[0])] = (out[0], module(args[0], where + 1, *args[2:], **rest))
            late[-1] = False

        self.rotary.register_forward_hook(hook, with_kwargs=True)
        return late

    def buffers(self) -> list[Any]:
        """Return the frequencies in use."""
        return [single for name, single in self.rotary.named_buffers() if "inv_freq" in name and "original" not in name]


def sign(t: Target) -> None:
    t.turn(lambda f: lambda q, k, cos, sin, *a, **b: f(q, k, cos, -sin, *a, **b))


def sign_of_k(t: Target) -> None:
    def make(f: Apply) -> Apply:
        return lambda q, k, cos, sin, *a, **b: (f(q, k, cos, sin, *a, **b)[0], f(q, k, cos, -sin, *a, **b)[1])

    t.turn(make)


def k_still(t: Target) -> None:
    t.turn(lambda f: lambda q, k, *a, **b: (f(q, k, *a, **b)[0], k))


def q_still(t: Target) -> None:
    t.turn(lambda f: lambda q, k, *a, **b: (q, f(q, k, *a, **b)[1]))


def both_still(t: Target) -> None:
    t.turn(lambda f: lambda q, k, *a, **b: (q, k))


def one_layer_still(t: Target) -> None:
    """Only the second call, so shifted layer."""
    calls: list[int] = []

    def make(f: Apply) -> Apply:
        def turned(q: Any, k: Any, *a: Any, **b: Any) -> Any:
            calls.append(1)
            return (q, k) if len(calls) % 2 == 0 else f(q, k, *a, **b)

        return turned

    t.turn(make)


def tables_scaled(t: Target) -> None:
    t.tables(lambda cos, sin: (cos * 1.2, sin * 1.2))


def q_scaled(t: Target) -> None:
    def make(f: Apply) -> Apply:
        return lambda q, k, *a, **b: (f(q, k, *a, **b)[0] * 1.1, f(q, k, *a, **b)[1])

    t.turn(make)


def k_scaled(t: Target) -> None:
    def make(f: Apply) -> Apply:
        return lambda q, k, *a, **b: (f(q, k, *a, **b)[0], f(q, k, *a, **b)[1] * 0.9)

    t.turn(make)


def sin_scaled(t: Target) -> None:
    t.tables(lambda cos, sin: (cos, sin * 1.01))


def other_layout(t: Target) -> None:
    """Neighbours where halves belong, and the other way round: reorder, turn, reorder back."""
    to_half = torch.cat([torch.arange(0, t.width, 2), torch.arange(1, t.width, 2)])
    there = torch.argsort(to_half) if t.layout == "interleaved" else to_half

    def permuted(x: Any, order: Any) -> Any:
        return torch.cat([x[..., : t.width][..., order], x[..., t.width :]], -1)

    def make(f: Apply) -> Apply:
        def turned(q: Any, k: Any, *a: Any, **b: Any) -> Any:
            out = f(permuted(q, there), permuted(k, there), *a, **b)
            return tuple(permuted(each, torch.argsort(there)) for each in out)

        return turned

    t.turn(make)


def across_head(t: Target) -> None:
    """Dimension i with i + dim/2, as if the whole head turned, for as many pairs as there are."""

    def make(_: Apply) -> Apply:
        def turned(q: Any, k: Any, cos: Any, sin: Any, *a: Any, **b: Any) -> Any:
            pairs = t.width // 2
            c, s = cos[..., :pairs].unsqueeze(1), sin[..., :pairs].unsqueeze(1)

            def shifted(x: Any) -> Any:
                half = t.dim // 2
                first, second = x[..., :pairs], x[..., half : half + pairs]
                out = x.clone()
                out[..., :pairs], out[..., half : half + pairs] = first * c - second * s, first * s + second * c
                return out

            return shifted(q), shifted(k)

        return turned

    t.turn(make)


def last_lanes(t: Target) -> None:
    """Return the last dimensions of the head in place of the first."""
    step = t.dim - t.width

    def make(f: Apply) -> Apply:
        def turned(q: Any, k: Any, *a: Any, **b: Any) -> Any:
            out = f(q.roll(-step, -1), k.roll(-step, -1), *a, **b)
            return tuple(each.roll(step, -1) for each in out)

        return turned

    t.turn(make)


def shifted(t: Target) -> None:
    t.positions(lambda where: where + 1)


def k_shifted(t: Target) -> None:
    """k shifted position ahead of q."""
    late = t.ahead()

    def make(f: Apply) -> Apply:
        def turned(q: Any, k: Any, cos: Any, sin: Any, *a: Any, **b: Any) -> Any:
            _, tables = late[id(cos)]
            return f(q, k, cos, sin, *a, **b)[0], f(q, k, *tables, *a, **b)[1]

        return turned

    t.turn(make)


def twice(t: Target) -> None:
    t.turn(lambda f: lambda q, k, *a, **b: f(*f(q, k, *a, **b), *a, **b))


def cos_for_sin(t: Target) -> None:
    t.tables(lambda cos, sin: (sin, cos))


def pairs_reversed(t: Target) -> None:
    def flip(x: Any) -> Any:
        if x.shape[-1] < t.width:
            return x.flip(-1)
        return torch.cat([half.flip(-1) for half in x.chunk(2, -1)], -1)

    t.tables(lambda cos, sin: (flip(cos), flip(sin)))


def last_pair_still(t: Target) -> None:
    def still(x: Any, value: float) -> Any:
        out = x.clone()
        pairs = t.width // 2
        out[..., pairs - 1 :: pairs] = value
        return out

    t.tables(lambda cos, sin: (still(cos, float(cos[0, 0, 0])), still(sin, 0.0)))


def first_pair_still(t: Target) -> None:
    def still(x: Any, value: float) -> Any:
        out = x.clone()
        out[..., 0 :: t.width // 2] = value
        return out

    t.tables(lambda cos, sin: (still(cos, float(cos[0, 0, 0])), still(sin, 0.0)))


def tables_rounded(t: Target) -> None:
    t.tables(lambda cos, sin: (cos.bfloat16().float(), sin.bfloat16().float()))


def positions_rounded(t: Target) -> None:
    t.positions(lambda where: where.bfloat16().long())


def positions_wrap(t: Target) -> None:
    t.positions(lambda where: where % 512)


def positions_clamped(t: Target) -> None:
    t.positions(lambda where: where.clamp(max=512))


def positions_ignored(t: Target) -> None:
    t.positions(lambda where: where * 0)


def base_changed(t: Target) -> None:
    for each in t.buffers():
        each.copy_(each**1.1)


def frequencies_swapped(t: Target) -> None:
    """Return the right numbers, each at its neighbour's pair."""
    for each in t.buffers():
        last = each.numel() // 2 * 2
        each[:last] = each[:last].view(-1, 2).flip(1).flatten()


def frequencies_zero(t: Target) -> None:
    for each in t.buffers():
        each.zero_()


def frequencies_cast(t: Target) -> None:
    t.model.to(torch.bfloat16)


def scaling_attribute(t: Target) -> None:
    for name in list(vars(t.rotary)):
        if name.endswith("attention_scaling"):
            setattr(t.rotary, name, 1.5 * getattr(t.rotary, name))


def one_head_shifted(t: Target) -> None:
    """Turn the last query head shifted position ahead of the others."""
    late = t.ahead()

    def make(f: Apply) -> Apply:
        def turned(q: Any, k: Any, cos: Any, sin: Any, *a: Any, **b: Any) -> Any:
            out, keys = f(q, k, cos, sin, *a, **b)
            other = f(q, k, *late[id(cos)][1], *a, **b)[0]
            return torch.cat([out[:, :-1], other[:, -1:]], dim=1), keys

        return turned

    t.turn(make)


def one_lane_negated(t: Target) -> None:
    """Negate shifted dimension of k after the rotation."""

    def make(f: Apply) -> Apply:
        def turned(q: Any, k: Any, *a: Any, **b: Any) -> Any:
            out, keys = f(q, k, *a, **b)
            return out, torch.cat([keys[..., :1], -keys[..., 1:2], keys[..., 2:]], dim=-1)

        return turned

    t.turn(make)


def temperature_of_positions(t: Target) -> None:
    """Let q grow with its position, as under an attention temperature that the config does not name."""
    seen: list[Any] = []
    t.rotary.register_forward_pre_hook(
        lambda _, args, kwargs: seen.append(kwargs["position_ids"] if "position_ids" in kwargs else args[1]),
        with_kwargs=True,
    )

    def make(f: Apply) -> Apply:
        def turned(q: Any, k: Any, *a: Any, **b: Any) -> Any:
            out, keys = f(q, k, *a, **b)
            return out * (1 + 0.1 * torch.log1p(seen[-1] // 100))[:, None, :, None], keys

        return turned

    t.turn(make)


def swapped_tables(t: Target) -> None:
    """Layer types get each other's tables."""

    def before(module: Any, args: Any, kwargs: Any) -> Any:
        other = {"sliding_attention": "full_attention", "full_attention": "sliding_attention"}
        values = {key: other.get(value, value) if isinstance(value, str) else value for key, value in kwargs.items()}
        return tuple(other.get(each, each) if isinstance(each, str) else each for each in args), values

    t.rotary.register_forward_pre_hook(before, with_kwargs=True)


def only_half_turns(t: Target) -> None:
    """Return the first half of the pairs only."""

    def still(x: Any, value: float) -> Any:
        out = x.clone()
        pairs = t.width // 2
        out[..., pairs // 2 : pairs] = value
        out[..., pairs + pairs // 2 :] = value
        return out

    t.tables(lambda cos, sin: (still(cos, float(cos[0, 0, 0])), still(sin, 0.0)))


def v_turns(t: Target) -> None:
    """v follows the position: what makes v is multiplied by the table of cos."""
    seen: list[Any] = []
    t.rotary.register_forward_hook(lambda _, __, out: seen.append(out[0]))
    for name, part in t.model.named_modules():
        if name.endswith("v_proj"):
            part.register_forward_hook(lambda _, __, out: out * seen[-1][..., :1])


def k_reordered(t: Target) -> None:
    """k's dimensions change places after the rotation, q's do not."""
    order = torch.cat([torch.arange(0, t.width, 2), torch.arange(1, t.width, 2)])

    def make(f: Apply) -> Apply:
        def turned(q: Any, k: Any, *a: Any, **b: Any) -> Any:
            q, k = f(q, k, *a, **b)
            return q, torch.cat([k[..., : t.width][..., order], k[..., t.width :]], -1)

        return turned

    t.turn(make)
