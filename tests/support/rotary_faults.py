"""Faults of a rotation, planted into a live model of transformers through its own functions and modules."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch


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

    @property
    def pairs(self) -> int:
        return self.width // 2

    def ahead(self) -> dict[int, Any]:
        """Keep, by the id of each table of cos, that table and both tables one position ahead."""
        late: dict[int, Any] = {}

        def hook(module: Any, args: Any, kwargs: Any, out: Any) -> None:
            if late.get(-1):
                return
            late[-1] = True
            rest = {key: value for key, value in kwargs.items() if key not in ("position_ids", "x")}
            late[id(out[0])] = (out[0], module(args[0], where_of(args, kwargs) + 1, *args[2:], **rest))
            late[-1] = False

        self.rotary.register_forward_hook(hook, with_kwargs=True)
        return late


Plant = Callable[[Target], None]


def where_of(args: Any, kwargs: Any) -> Any:
    """Return the positions that a rotary embedding is given, by name or in order."""
    return kwargs["position_ids"] if "position_ids" in kwargs else args[1]


def turn(t: Target, change: Callable[..., Any]) -> None:
    """Replace the function f that turns q and k by change(f, q, k, cos, sin)."""
    apply = getattr(t.code, t.name)

    def turned(q: Any, k: Any, cos: Any, sin: Any, *a: Any, **b: Any) -> Any:
        return change(lambda *each: apply(*each, *a, **b), q, k, cos, sin)

    t.patch.setattr(t.code, t.name, turned)


def turning(change: Callable[..., Any]) -> Plant:
    return lambda t: turn(t, change)


def tables(change: Callable[[Any, Any], tuple[Any, Any]]) -> Plant:
    """Change cos and sin as the rotary embedding hands them on."""
    return lambda t: t.rotary.register_forward_hook(lambda _, __, out: change(*out))


def still(lanes: Callable[[int], list[int]]) -> Plant:
    """Leave pairs where they are, in both halves of the tables: lanes of so many pairs to those that rest."""

    def plant(t: Target) -> None:
        def rest(x: Any, value: float) -> Any:
            both = [each + side for side in (0, t.pairs) for each in lanes(t.pairs) if each + side < x.shape[-1]]
            out = x.clone()
            out[..., both] = value
            return out

        tables(lambda cos, sin: (rest(cos, float(cos[0, 0, 0])), rest(sin, 0.0)))(t)

    return plant


def positions(change: Callable[[Any], Any]) -> Plant:
    """Change the positions that the rotary embedding is given."""

    def before(_: Any, args: Any, kwargs: Any) -> Any:
        where = change(where_of(args, kwargs))
        if "position_ids" in kwargs:
            return args, {**kwargs, "position_ids": where}
        return (args[0], where, *args[2:]), kwargs

    return lambda t: t.rotary.register_forward_pre_hook(before, with_kwargs=True)


def frequencies(change: Callable[[Any], Any]) -> Plant:
    """Change the frequencies in use."""

    def plant(t: Target) -> None:
        for name, each in t.rotary.named_buffers():
            if "inv_freq" in name and "original" not in name:
                each.copy_(change(each.clone()))

    return plant


def neighbours_swapped(each: Any) -> Any:
    """Return the right numbers, each at its neighbour's pair."""
    last = each.numel() // 2 * 2
    return torch.cat([each[:last].view(-1, 2).flip(1).flatten(), each[last:]])


def one_layer_still(t: Target) -> None:
    """Only the second call, so one layer."""
    calls: list[int] = []

    def turned(f: Any, q: Any, k: Any, cos: Any, sin: Any) -> Any:
        calls.append(1)
        return (q, k) if len(calls) % 2 == 0 else f(q, k, cos, sin)

    turn(t, turned)


def permuted(t: Target, x: Any, order: Any) -> Any:
    return torch.cat([x[..., : t.width][..., order], x[..., t.width :]], -1)


def halves(t: Target) -> Any:
    """Return the order that brings neighbours to the two halves."""
    return torch.cat([torch.arange(0, t.width, 2), torch.arange(1, t.width, 2)])


def other_layout(t: Target) -> None:
    """Neighbours where halves belong, and the other way round: reorder, turn, reorder back."""
    there = torch.argsort(halves(t)) if t.layout == "interleaved" else halves(t)

    def turned(f: Any, q: Any, k: Any, cos: Any, sin: Any) -> Any:
        out = f(permuted(t, q, there), permuted(t, k, there), cos, sin)
        return tuple(permuted(t, each, torch.argsort(there)) for each in out)

    turn(t, turned)


def k_reordered(t: Target) -> None:
    """k's dimensions change places after the rotation, q's do not."""

    def turned(f: Any, *given: Any) -> Any:
        q, k = f(*given)
        return q, permuted(t, k, halves(t))

    turn(t, turned)


def across_head(t: Target) -> None:
    """Dimension i with i + dim/2, as if the whole head turned, for as many pairs as there are."""
    pairs, half = t.pairs, t.dim // 2

    def turned(f: Any, q: Any, k: Any, cos: Any, sin: Any) -> Any:
        c, s = cos[..., :pairs].unsqueeze(1), sin[..., :pairs].unsqueeze(1)
        both = q.clone(), k.clone()
        for out, x in zip(both, (q, k), strict=True):
            first, second = x[..., :pairs], x[..., half : half + pairs]
            out[..., :pairs], out[..., half : half + pairs] = first * c - second * s, first * s + second * c
        return both

    turn(t, turned)


def last_lanes(t: Target) -> None:
    """Turn the last dimensions of the head in place of the first."""
    step = t.dim - t.width

    def turned(f: Any, q: Any, k: Any, cos: Any, sin: Any) -> Any:
        return tuple(each.roll(step, -1) for each in f(q.roll(-step, -1), k.roll(-step, -1), cos, sin))

    turn(t, turned)


def k_shifted(t: Target) -> None:
    """k one position ahead of q."""
    late = t.ahead()
    turn(t, lambda f, q, k, cos, sin: (f(q, k, cos, sin)[0], f(q, k, *late[id(cos)][1])[1]))


def one_head_shifted(t: Target) -> None:
    """Turn the last query head one position ahead of the others."""
    late = t.ahead()

    def turned(f: Any, q: Any, k: Any, cos: Any, sin: Any) -> Any:
        out, keys = f(q, k, cos, sin)
        return torch.cat([out[:, :-1], f(q, k, *late[id(cos)][1])[0][:, -1:]], dim=1), keys

    turn(t, turned)


def one_lane_negated(f: Any, *given: Any) -> Any:
    """Negate one dimension of k after the rotation."""
    out, keys = f(*given)
    return out, torch.cat([keys[..., :1], -keys[..., 1:2], keys[..., 2:]], dim=-1)


def pairs_reversed(t: Target) -> None:
    def flip(x: Any) -> Any:
        return torch.cat([half.flip(-1) for half in x.split(min(t.pairs, x.shape[-1]), -1)], -1)

    tables(lambda cos, sin: (flip(cos), flip(sin)))(t)


def scaling_attribute(t: Target) -> None:
    for name in list(vars(t.rotary)):
        if name.endswith("attention_scaling"):
            setattr(t.rotary, name, 1.5 * getattr(t.rotary, name))


def temperature_of_positions(t: Target) -> None:
    """Let q grow with its position, as under an attention temperature that the config does not name."""
    seen: list[Any] = []
    t.rotary.register_forward_pre_hook(lambda _, a, b: seen.append(where_of(a, b)), with_kwargs=True)

    def turned(f: Any, *given: Any) -> Any:
        out, keys = f(*given)
        return out * (1 + 0.1 * torch.log1p(seen[-1] // 100))[:, None, :, None], keys

    turn(t, turned)


def in_turn(cos: Any, sin: Any) -> tuple[Any, Any]:
    """Return tables whose columns are repeated one by one, where halves belong."""
    cos, sin = (each[..., : each.shape[-1] // 2].repeat_interleave(2, -1) for each in (cos, sin))
    return cos, sin


def angles_in_bf16(t: Target) -> None:
    """Position and frequency both of bfloat16, and their product."""

    def hook(module: Any, args: Any, kwargs: Any, out: Any) -> Any:
        angle = where_of(args, kwargs)[..., None].bfloat16() * module.inv_freq.bfloat16()
        both = torch.cat([angle, angle], -1).float()
        return both.cos() * module.attention_scaling, both.sin() * module.attention_scaling

    t.rotary.register_forward_hook(hook, with_kwargs=True)


def v_turns(t: Target) -> None:
    """v follows the position: what makes v is multiplied by the table of cos."""
    seen: list[Any] = []
    t.rotary.register_forward_hook(lambda _, __, out: seen.append(out[0]))
    for name, part in t.model.named_modules():
        if name.endswith("v_proj"):
            part.register_forward_hook(lambda _, __, out: out * seen[-1][..., :1])


# How each fault is planted, and the finding that names it.
FAULTS: dict[str, tuple[Plant, str]] = {
    "sign": (turning(lambda f, q, k, cos, sin: f(q, k, cos, -sin)), "rotation_backwards"),
    "sign_of_k": (turning(lambda f, q, k, c, s: (f(q, k, c, s)[0], f(q, k, c, -s)[1])), "rotation_backwards"),
    "k_still": (turning(lambda f, q, k, cos, sin: (f(q, k, cos, sin)[0], k)), "rotation_missing"),
    "q_still": (turning(lambda f, q, k, cos, sin: (q, f(q, k, cos, sin)[1])), "rotation_missing"),
    "both_still": (turning(lambda f, q, k, cos, sin: (q, k)), "rotation_missing"),
    "one_layer_still": (one_layer_still, "rotation_missing"),
    "tables_scaled": (tables(lambda cos, sin: (cos * 1.2, sin * 1.2)), "rotation_scaled"),
    "q_scaled": (turning(lambda f, q, k, *by: (f(q, k, *by)[0] * 1.1, f(q, k, *by)[1])), "rotation_scaled"),
    "k_scaled": (turning(lambda f, q, k, *by: (f(q, k, *by)[0], f(q, k, *by)[1] * 0.9)), "rotation_scaled"),
    "sin_scaled": (tables(lambda cos, sin: (cos, sin * 1.01)), "rotation_differs"),
    "other_layout": (other_layout, "layout_differs"),
    "k_reordered": (k_reordered, "rotation_orders_differ"),
    "shifted": (positions(lambda where: where + 1), "rotation_shifted_alike"),
    "k_shifted": (k_shifted, "rotation_shifted"),
    "twice": (turning(lambda f, q, k, *by: f(*f(q, k, *by), *by)), "rotation_positions_scaled"),
    "pairs_reversed": (pairs_reversed, "rotation_differs"),
    "first_pair_still": (still(lambda pairs: [0]), "rotation_differs"),
    "last_pair_still": (still(lambda pairs: [pairs - 1]), "rotation_differs"),
    "only_half_turns": (still(lambda pairs: [*range(pairs // 2, pairs)]), "rotation_differs"),
    "tables_rounded": (tables(lambda c, s: (c.bfloat16().float(), s.bfloat16().float())), "rotation_tables_rounded"),
    "positions_rounded": (positions(lambda where: where.bfloat16().long()), "rotation_positions_rounded"),
    "positions_wrap": (positions(lambda where: where % 512), "rotation_differs"),
    "positions_clamped": (positions(lambda where: where.clamp(max=512)), "rotation_differs"),
    "positions_ignored": (positions(lambda where: where * 0), "rotation_missing"),
    "table_order": (tables(in_turn), "rotation_table_order"),
    "positions_doubled": (positions(lambda where: where * 2), "rotation_positions_scaled"),
    "position_300_at_301": (positions(lambda where: where + (where == 300)), "rotation_differs"),
    "angles_in_bf16": (angles_in_bf16, "rotation_angles_rounded"),
    "base_changed": (frequencies(lambda each: each**1.1), "buffer_differs"),
    "frequencies_swapped": (frequencies(neighbours_swapped), "buffer_differs"),
    "frequencies_zero": (frequencies(torch.zeros_like), "buffer_uninitialised"),
    "frequencies_cast": (lambda t: t.model.to(torch.bfloat16), "buffer_rounded"),
    "scaling_attribute": (scaling_attribute, "attention_scaling_differs"),
    "v_turns": (v_turns, "value_rotated"),
    "one_head_shifted": (one_head_shifted, "rotation_shifted"),
    "one_lane_negated": (turning(one_lane_negated), "rotation_differs"),
    "temperature_of_positions": (temperature_of_positions, "rotation_differs"),
}
# cos for sin turns by a quarter turn minus the angle: backwards, from what rotate_half hands on.
COS_FOR_SIN = tables(lambda cos, sin: (sin, cos))
# Where the function that turns sees whole heads of which a part turns.
PARTIAL: dict[str, tuple[Plant, str]] = {
    "across_head": (across_head, "rotation_across_head"),
    "last_lanes": (last_lanes, "rotation_lanes"),
}
