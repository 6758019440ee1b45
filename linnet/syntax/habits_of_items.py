"""What writers of other languages try where something is declared or imported, and how it is said
here. Rules as in `habits.py`."""

from __future__ import annotations

from itertools import pairwise

from linnet.syntax.stop import Stop

BUILT = "what a block has is declared, and not built: `param weight: Tensor[N; f32]`"
_RESULT = "the type of the result follows `->`: `fn f(x: f32) -> f32`"
_MEMBERS = frozenset(["PARAM", "BUFFER", "STATE", "SUB"])


def constructor(s: Stop) -> str | None:
    """Anything in the way of a method `__init__`."""
    declared = any(a.text in ("fn", "def") and b.text == "__init__" for a, b in pairwise(s.tokens))
    return BUILT if declared else None


def imports(s: Stop) -> str | None:
    if s.unit() != "USE":
        return None
    if s.text == "pub":
        return "an import cannot be passed on; use the item where it is declared"
    if s.text == "as":
        return "a module keeps its name; an item can be renamed: `use a.b::{c as d}`"
    if s.text == "*":
        return "items are imported by name: `use a.b::{name, other}`"
    if s.text == "{" or (s.near(-1) == "::" and s.found.type == "NAME"):
        return "write `use a.b::{name}`"
    if s.text == "self" and s.near(-1) in ("{", ","):
        return "write `use a.b` for the module itself"
    if s.text == "/" or s.found.type == "STRING":
        return "a module path is written `a.b`"
    return None


def generic_arguments(s: Stop) -> str | None:
    if s.text == "=" and "RANGLE" in s.accepted and s.token(-1) is not None:
        return "generic arguments have no names: they stand in the order of the declaration"
    nested = s.accepted == {"LPAR", "STRUCT_OPEN"} and s.near(-1) == ">"
    if nested or (s.found.type == "TENSOR" and "INT" in s.accepted):
        return "generic arguments are dimensions, dtypes and shapes; a type is none of them"
    return None


def declarations(s: Stop) -> str | None:
    """What belongs to a name that is declared: its type, its kind."""
    if s.accepted == {"COLON"} and s.text in (">", ",", ")", "=") and s.token(-1) is not None:
        in_generics = s.text == ">" or any(t.type == "LANGLE" for t in s.tokens[s.at - 2 : s.at])
        if in_generics:
            return "a generic has a kind: `N: Dim`, `T: Float`"
        return f"write its type: `{s.near(-1)}: f32`"
    if s.accepted == {"COLON"} and s.found.type == "NAME":
        return "a colon stands between a name and its type: `x: f32`"
    if "ARROW" in s.accepted:
        return _RESULT
    if s.text == "[" and "QMARK" in s.accepted:
        return _type_in_brackets(s)
    if s.text == "]" and "SEMICOLON" in s.accepted:
        return "the dtype follows a semicolon: `Tensor[N; f32]`"
    if s.text == "," and s.unit() in _MEMBERS and "$END" in s.accepted:
        return "members follow each other without a comma"
    if s.unit() == "ENUM" and s.text in ("(", "=", "{"):
        return "variants are names without values"
    if s.unit() in ("STRUCT", "BLOCK", "ENUM") and s.text in ("(", "[") and "LBRACE" in s.accepted:
        return f"what it holds stands in braces: `{s.near(-2)} {s.near(-1)} {{ ... }}`"
    if s.text in (":", "=", "return", "=>") and "LBRACE" in s.accepted:
        return "a body stands in braces" if s.near(-2) != "where" else "write `<N: Dim>`"
    return None


def _type_in_brackets(s: Stop) -> str:
    """`Optional[f32]`, `Tuple[f32, i32]`, `List[f32]`, and `f32[N]`."""
    word = s.near(-1).casefold()
    inner = _until_closed(s)
    if word in ("optional", "option"):
        return f"an optional type is written `{inner}?`"
    if word == "tuple":
        return f"a tuple type is written `({inner})`"
    if word in ("list", "sequence", "vec", "array", "ndarray"):
        element = inner.partition(",")[0]
        return f"a tensor type is written `Tensor[N; {element}]`"
    return f"a tensor type is written `Tensor[N; {s.near(-1)}]`"


def _until_closed(s: Stop) -> str:
    """The text between the bracket at the stop and the one that closes it."""
    depth = 0
    for token in s.tokens[s.at :]:
        depth += {"[": 1, "]": -1}.get(token.text, 0)
        if depth == 0:
            return s.found.file.text[s.found.end : token.start].strip()
    return "f32"


def visibility(s: Stop) -> str | None:
    if s.text != "pub":
        return None
    if s.near(1) in ("param", "buffer", "state", "sub"):
        return "members have no `pub`; the methods of a block may have it"
    return "`pub` stands alone: an item is public or private" if s.near(1) == "(" else None
