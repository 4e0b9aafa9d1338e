"""Write rope_core/hf/families.toml: what each rotary config class of the installed transformers does with a config.

Every value is read off by execution: the class is built with no arguments and with single fields changed, and what it
makes of them is recorded. The layout, the partial width and the logit scale are in the modelling source, which is
parsed, not imported. tests/rope_core/hf/test_ropes.py compares each record with the installed wheel.

Run: python -m tools.hf_families > rope_core/hf/families.toml
"""

import ast
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from rope_core.hf.families import families_fixed_in_code

SKIP = {
    "efficientloftr": "2-D features, not tokens",
    "eomt_dinov3": "2-D patches",
    "llama4_vision_model": "2-D patches",
    "musicflamingo": "rotates time stamps, not token positions",
}
# Fields that turn the whole rotation off, read in the models' own code: models/<name>/modeling_<name>.py.
SWITCHES: dict[str, dict[str, Any]] = {
    "granitemoehybrid": {"field": "position_embedding_type", "on": "rope"},
    "zamba2": {"field": "use_mem_rope", "on": True, "default": False},
    "falcon": {"field": "alibi", "on": False, "default": False},
}
# Rotations by rows and columns whose config classes do not say so.
AXIAL = ("dinov3_vit", "efficientloftr", "eomt_dinov3", "llama4_vision_model", "sapiens2", "vjepa2")
# Classes that build their entries from a set, whose order differs from run to run.
UNORDERED = ("step3p5", "diffusion_gemma_text", "dory", "dots3_note_text", "neomme")
# Rotary classes without rope parameters of their own, or with an empty dict.
ALSO = ("cohere_compass_text",)
COUNTS = ("max_position_embeddings", "hidden_size", "num_attention_heads", "num_hidden_layers")
MLA = "qk_rope_head_dim"


def quiet() -> Any:
    """Return the transformers module with its warnings off."""
    import transformers

    transformers.logging.set_verbosity_error()
    return transformers


@cache
def defaults() -> dict[str, Any]:
    """Return the default instance of every config class that can be built without arguments."""
    mapping, built = quiet().CONFIG_MAPPING, {}
    for name in sorted(mapping.keys()):
        try:
            built[name] = mapping[name]()
        except Exception:  # two classes cannot
            continue
    return built


def rope_of(config: Any) -> dict[str, Any]:
    """Return a config's rope parameters."""
    return getattr(config, "rope_parameters", None) or {}


def model_types() -> list[str]:
    """Names of all config classes whose default instance has text rotary parameters."""
    rotary = [name for name, each in defaults().items() if rope_of(each) and rope_of(each).get("rope_type") != "axial"]
    return sorted({*rotary, *ALSO} - SKIP.keys())


def get(config: Any, name: str) -> Any:
    """Attribute ``name``, or None where it is absent or differs between layers."""
    try:
        return getattr(config, name, None)
    except Exception:
        return None


def plain(value: Any) -> Any:
    """JSON-able copy of ``value`` without None entries of inner dicts' lists."""
    return json.loads(json.dumps(value))


def head_rule(make: Any) -> dict[str, Any]:
    """How head_dim comes about: fixed number, division, MLA field, and whether a given one counts."""
    base = make()
    by_type = layer_head_dims(base)
    if by_type:
        return {"head_dim": by_type["sliding_attention"], "head_dims": by_type}
    own = get(base, "head_dim")
    rule: dict[str, Any] = {}
    if own is None and "head_dim" in vars(base):
        rule["head_dim_null"] = True
    heads = get(base, "num_attention_heads")
    hidden = get(base, "hidden_size")
    if own is None:
        rule["head_dim"] = "divide"
    elif get(base, MLA) and attempt(make, "head_dim", **{MLA: 2 * get(base, MLA)}) != own:
        rule["head_dim"] = MLA if own == get(base, MLA) else "mla_sum"
    elif hidden and heads and attempt(make, "head_dim", hidden_size=2 * hidden) != own:
        rule["head_dim"] = "divide"
        if own != hidden // heads:
            rule["head_dim_times"] = own // (hidden // heads)
    else:
        rule["head_dim"] = own
    # Cosmos 3 Edge refuses a width that its mrope_section does not fill, dots3 one that fits one of its types only.
    thirds = {"rope_parameters": {**(base.rope_parameters or {}), "mrope_section": [16, 16, 16]}}
    kinds = get(base, "layer_types")
    alike = {"num_hidden_layers": 1, "layer_types": kinds[:1]} if kinds else {}
    if 96 not in [attempt(make, "head_dim", head_dim=96, **more) for more in ({}, thirds, alike)]:
        rule["head_dim_given"] = "ignored"
    return rule


def layer_head_dims(config: Any) -> dict[str, int]:
    """Head width by layer type, for classes that give their types different ones."""
    try:
        values = {kind: config.per_layer_config[kind].head_dim for kind in dict.fromkeys(config.layer_types)}
    except Exception:
        return {}
    return values if len(set(values.values())) > 1 else {}


def attempt(make: Any, name: str, **given: Any) -> Any:
    """Attribute ``name`` of a config made with ``given``, or None where the class refuses."""
    try:
        return get(make(**given), name)
    except Exception:
        return None


def pattern(make: Any) -> dict[str, Any]:
    """Default layer types as the shortest repeating list, with a first and last layer of their own."""
    seen = {}
    for count in (24, 25, 36):
        types = attempt(make, "layer_types", num_hidden_layers=count)
        if not isinstance(types, list) or len(types) != count:
            return {}
        seen[count] = types
    for first in (0, 1):
        for last in (0, 1):
            for period in range(1, 13):
                heads = {count: t[first : count - last] for count, t in seen.items()}
                repeat = heads[24][:period]
                if all(t == [repeat[i % period] for i in range(len(t))] for t in heads.values()):
                    values: dict[str, Any] = {"layer_types": repeat}
                    if first:
                        values["first_layer"] = seen[24][0]
                    if last:
                        values["last_layer"] = seen[24][-1]
                    return values
    return {}


def source_of(cls: Any) -> str:
    """Text of the modelling files beside a config class, or beside the class that the auto classes build for it."""
    files = modelling_files(cls)
    if not files and (name := quiet().models.auto.modeling_auto.MODEL_MAPPING_NAMES.get(cls.model_type)):
        files = modelling_files(getattr(quiet(), name if isinstance(name, str) else name[0]))
    return "\n".join(file.read_text() for file in files)


def modelling_files(cls: Any) -> list[Path]:
    """Return the modelling files in the folder of a class's module."""
    return sorted(Path(sys.modules[cls.__module__].__file__ or "").parent.glob("modeling_*.py"))


@cache
def functions(source: str) -> list[ast.FunctionDef]:
    """All functions of a source text, parsed once."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]


def default_type(cls: Any, source: str) -> dict[str, Any]:
    """Return what the "default" type of this class's own rotary module reads: the partial factor, a dict per type."""
    mine, any_of = [], []
    for node in functions(source):
        if node.name == "compute_default_rope_parameters":
            body = ast.unparse(ast.Module(node.body[1:], []))
            any_of.append(body)
            note = node.args.args[0].annotation if node.args.args else None
            if note is not None and cls.__name__ in re.findall(r"\w+", ast.unparse(note)):
                mine.append(body)
    body = (mine or any_of or [""])[0]
    out: dict[str, Any] = {"default_honours_partial": "partial_rotary_factor" in body}
    if body:
        out["per_type"] = "[layer_type]" in body
    return out


def layout(model_type: str, source: str) -> dict[str, Any]:
    """Which dimensions pair up in the weights, from the rotation's own code."""
    values: dict[str, Any] = {"layout": "half"}
    for node in functions(source):
        if "rot" not in node.name or "vision" in node.name:
            continue
        code = ast.unparse(node)
        if node.name.endswith("_interleave"):
            return {"layout": "interleaved", "deinterleaved": True}
        if re.search(r"::2\]|view_as_complex|stack_freqs", code) and "rope_interleave" not in code:
            values["layout"] = "interleaved"
        if re.search(r"cat\(\(x2, -x1\)", code):
            values["backwards"] = True
        if re.search(r"x\[\.\.\., :-rope_dim\]", code):
            values["trailing"] = True
    return values


def indexer(source: str, cls: Any) -> dict[str, Any]:
    """How the indexer of sparse attention turns its own heads: a layout, or "none" where it does not rotate."""
    if not re.search(r"^class \w+Indexer\b", source, re.MULTILINE):
        return {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and node.name.endswith("Indexer"):
            calls = set(re.findall(r"apply_rotary_pos_emb\w*", ast.unparse(node)))
            if not calls:
                return {"indexer": "none"}
            own = "interleaved" if "apply_rotary_pos_emb_interleave" in calls else plain_layout(source)
            width = get(cls(), "index_head_dim") or get(cls(), "indexer_head_dim")
            return {"indexer": own} | ({"index_head_dim": width} if width else {})
    return {}


def plain_layout(source: str) -> str:
    """Return the layout of apply_rotary_pos_emb and the rotate_half beside it."""
    code = " ".join(ast.unparse(node) for node in functions(source) if node.name == "rotate_half")
    return "interleaved" if "::2]" in code else "half"


def conversion(cls: Any) -> str | None:
    """Return the module that overrides how legacy fields become rope_parameters, or None for the common rule."""
    for owner in cls.__mro__:
        if "convert_rope_params_to_dict" in vars(owner):
            module = str(owner.__module__)
            return module.split(".")[2] if ".models." in module else None
    return None


def nope_rule(source: str) -> str | None:
    """How a model picks layers without rotation, from its attention's own code."""
    if "config.no_rope_layers[layer_idx]" in source:
        return "no_rope_layers"
    if re.search(
        r"if self\.sliding_window is not None( or self\.force_rope)?:\n"
        r"\s+(cos, sin = position_embeddings\n\s+)?query_states, key_states = apply",
        source,
    ):
        return "full_attention"
    if re.search(r"if self\.is_local_attention:\n\s+cos, sin", source):
        return "full_attention"
    if 'position_embeddings=position_embeddings if layer_type == "sliding_attention" else None' in source:
        return "full_attention"
    if "if self.sliding_window is None or self.is_sliding:" in source:
        return "full_attention_if_window"
    if "layer_rope_theta" in source:
        return "layer_rope_theta"
    return None


def text_field(config: Any) -> dict[str, Any]:
    """For a composite model: the field that holds its text config, and that config's type."""
    for field in ("text_config", "llm_config", "language_config", "decoder_config", "decoder", "thinker_config"):
        kind = get(get(config, field), "model_type")
        if kind and field in type(config).sub_configs:
            flat = {"flat": True} if reads_flat(type(config), field) else {}
            return {"text": field, "text_type": kind, **flat}
    return {}


def reads_flat(config_class: Any, field: str) -> bool:
    """Whether a composite config's class hands its own fields on to a text config that is not given."""
    try:
        return bool(get(get(config_class(rope_theta=54321.0), field), "rope_parameters").get("rope_theta") == 54321.0)
    except Exception:  # some classes have no such field and take none
        return False


def record(model_type: str) -> dict[str, Any]:
    """Everything from_hf has to know about one model_type, as plain data."""
    cls = quiet().CONFIG_MAPPING[model_type]
    base, source = cls(), source_of(cls)
    rope = plain(base.rope_parameters)
    if model_type in UNORDERED:
        rope = {kind: rope[kind] for kind in sorted(rope, reverse=True)}
    out: dict[str, Any] = {"rope": rope}
    out |= {name: value for name in COUNTS if isinstance(value := get(base, name), int)}
    out |= head_rule(cls) | pattern(cls) | layout(model_type, source)
    if get(base, MLA):
        out |= {name: get(base, name) for name in (MLA, "qk_nope_head_dim") if get(base, name)}
    if get(base, "original_max_position_embeddings"):
        out["original_max_position_embeddings"] = base.original_max_position_embeddings
    if isinstance(get(base, "sliding_window"), int):
        out["sliding_window"] = base.sliding_window
    out |= indexer(source, cls)
    out |= given_dict(cls)
    out |= top_level(cls)
    out |= flat_dict(cls)
    out |= default_type(cls, source)
    if "config.rope_interleave" in source:
        out["interleave_flag"] = True
    for key, value in (("convert", conversion(cls)), ("nope", nope_rule(source))):
        if value:
            out[key] = value
    if "self.alpha.to(" in source:
        out["learned_offsets"] = True
    if "yarn_apply_mscale(config" in source:
        out["logit_scale"] = True
    names = {v: k for k, v in cls.attribute_map.items() if v in (*COUNTS, "head_dim") and k not in COUNTS}
    reverse = {k: v for k, v in cls.attribute_map.items() if k in (*COUNTS, "head_dim")}
    if names or reverse:
        out["names"] = names | reverse
    if model_type in SWITCHES:
        out["switch"] = SWITCHES[model_type]
    if "mrope_interleaved" in getattr(cls, "ignore_keys_at_rope_validation", ()):
        out["mrope_interleaved"] = True
    section = re.search(r"rope_param(?:eter)?s\.get\(.mrope_section., (\[[\d, ]+\])\)", source)
    if section:
        out["mrope_section"] = json.loads(section[1])
    if getattr(cls, "_rope_type_labels", None):
        out["labels"] = list(cls._rope_type_labels)
    return out


def given_dict(make: Any) -> dict[str, Any]:
    """Return base and partial factor that a flat dict without them gets, and what an older rope_scaling gets."""
    out: dict[str, Any] = {}
    scaled = {"rope_type": "linear", "factor": 2.0}
    new = attempt(make, "rope_parameters", rope_parameters=dict(scaled))
    new = new or attempt(make, "rope_parameters", rope_parameters={"rope_type": "default"}) or {}
    old = attempt(make, "rope_parameters", rope_scaling=dict(scaled)) or {}
    for name, key in (("rope_theta", "theta"), ("partial_rotary_factor", "partial")):
        if isinstance(new.get(name), int | float):
            out[key] = float(new[name])
            if "factor" in old and old.get(name) != new[name]:
                out[f"{key}_of_scaling"] = old.get(name) or "none"
    return out


def top_level(make: Any) -> dict[str, Any]:
    """Return what the class makes of rope_theta and partial_rotary_factor beside a dict, and beside none at all."""
    out: dict[str, Any] = {}
    for name, key, value in (("rope_theta", "theta", 123457.0), ("partial_rotary_factor", "partial", 0.75)):
        flat = attempt(make, "rope_parameters", **{name: value})
        if flat and "rope_type" in flat and flat.get(name) != value:
            out[f"own_{key}"] = "fixed"
        beside = attempt(make, "rope_parameters", rope_parameters={"rope_type": "default"}, **{name: value})
        one_dict = beside and not any(isinstance(inner, dict) for inner in beside.values())
        if one_dict and beside.get(name) != value:
            out[f"top_{key}"] = "ignored"
    if attempt(make, "rope_parameters", rope_parameters={}) != attempt(make, "rope_parameters"):
        out["own_dict"] = True
    return out


def flat_dict(make: Any) -> dict[str, Any]:
    """Return what becomes of one dict for all layers where each layer type has its own.

    "lost" where defaults run instead, "refused" where the config or its model stops; nothing where it is read.
    """
    own = attempt(make, "rope_parameters") or {}
    kinds = [kind for kind, inner in own.items() if isinstance(inner, dict)]
    if not kinds:
        return {}
    given = {"rope_type": "linear", "factor": 3.0, "rope_theta": 654321.0}
    parsed = attempt(make, "rope_parameters", rope_parameters=given) or {}
    if not all(isinstance(parsed.get(kind), dict) for kind in kinds):
        return {"flat_dict": "refused"}
    return {} if any(parsed[kind].get("factor") == 3.0 for kind in kinds) else {"flat_dict": "lost"}


def toml_value(value: Any) -> str:
    """One TOML value; a missing one is an empty table."""
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{json.dumps(k)} = {toml_value(v)}" for k, v in value.items()) + " }" if value else "{}"
        )
    return "{}" if value is None else json.dumps(value)


def composites() -> dict[str, dict[str, Any]]:
    """Return composite model types and the place of their text config, for those whose text config is recorded."""
    known, fields = set(model_types()), {name: text_field(config) for name, config in defaults().items()}
    return {
        name: values
        for name, values in fields.items()
        if values and (values["text_type"] in known or values["text"] == "thinker_config")
    }


def parts(text: dict[str, dict[str, Any]], known: set[str]) -> dict[str, dict[str, str]]:
    """Sub-configs beside the text model that turn token positions of their own, by model type and field."""
    out = {}
    for name, config in defaults().items():
        main = text.get(name, {}).get("text")
        beside = {field: kind for field, kind in sub_types(config).items() if kind in known and field != main}
        if beside:
            out[name] = beside
    return out


def sub_types(config: Any) -> dict[str, str]:
    """Model types of a config's sub-configs by field; of one without a type, those of its own, by dotted field."""
    types: dict[str, str] = {}
    for field in type(config).sub_configs:
        inner = get(config, field)
        if kind := get(inner, "model_type"):
            types[field] = kind
        elif inner is not None:
            types |= {f"{field}.{name}": get(get(inner, name), "model_type") for name in type(inner).sub_configs}
    return types


def axial() -> list[str]:
    """Model types that turn by rows and columns of an image instead of token positions."""
    return sorted({*AXIAL, *(name for name, each in defaults().items() if rope_of(each).get("rope_type") == "axial")})


def main() -> None:
    version = quiet().__version__
    values = {*composites(), *model_types()}
    print(f"# Written by tools/hf_families.py from transformers {version}; tests hold it to the wheel.")
    print("# An empty table under `rope` stands for null: layers of that type do not rotate.")
    print(f"\nversion = {json.dumps(version)}")
    print(f"axial = {json.dumps(axial())}")
    print(f"other = {json.dumps(sorted({*quiet().CONFIG_MAPPING.keys()} - values - set(families_fixed_in_code())))}")
    for name, data in parts(composites(), values).items():
        print(f"\n[part.{json.dumps(name)}]")
        for key, value in data.items():
            print(f"{key if key.isidentifier() else json.dumps(key)} = {toml_value(value)}")
    for name, data in composites().items():
        print(f"\n[composite.{json.dumps(name)}]")
        for key, value in data.items():
            print(f"{key} = {toml_value(value)}")
    for name in model_types():
        print(f"\n[family.{json.dumps(name)}]")
        for key, value in record(name).items():
            print(f"{key} = {toml_value(value)}")


if __name__ == "__main__":
    main()
