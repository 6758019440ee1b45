"""Which entries of a card make text, and that they are such as can: the table `[generate]`.

prefill(tokens: Tensor[Rows, S; i32], pos: i32) -> Tensor[Rows, Vocab; T]
decode(token: Tensor[Rows, 1; i32], pos: i32) -> Tensor[Rows, Vocab; T]

`prefill` reads `S` tokens of every row, the first at position `pos`, `decode` one; the result says
what may follow. They go on from each other by the states of the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from linnet.check.substitute import in_type
from linnet.check.typed import TFunction
from linnet.check.types import OptionalType, ScalarType, TensorType, Type
from linnet.dims.dims import Dim
from linnet.dtypes import FLOATS, AnyDType, DType, admits
from linnet.lower.bindings import bind
from linnet.nest.program import CardProgram, CardRoot
from linnet.source.diagnostics import Diagnostic, Related, Sink
from linnet.source.suggest import did_you_mean

LENGTH = "MaxSeq"
FORMS = {
    "prefill": "prefill(tokens: Tensor[Rows, S; i32], pos: i32) -> Tensor[Rows, Vocab; T]",
    "decode": "decode(token: Tensor[Rows, 1; i32], pos: i32) -> Tensor[Rows, Vocab; T]",
}


@dataclass(frozen=True, slots=True)
class TextEntries:
    """Names of the entries. `rows` is how many texts they take at once, all at one position;
    `vocabulary` and `length`, the number of positions, are None where the source leaves them
    open."""

    prefill: str
    decode: str
    rows: int
    vocabulary: int | None
    length: int | None
    length_generic: str


def check_generate(root: CardRoot, sink: Sink) -> None:
    """Report what the table `[generate]` says that the source does not bear out, as E5001."""
    card = root.card
    for role in FORMS:
        name = card.generate.get(role)
        if name is not None:
            for message, related, hint in _wrong(root, role, name):
                place = card.toml.value("generate", role)
                sink.add(Diagnostic("E5001", message, place, related=related, help=hint))
    length = card.generate.get("length")
    known = [g.name for g in root.block.generics if g.kind == "Dim"]
    if length is not None and length not in known:
        has = f"its integers are {', '.join(known)}" if known else "it has none that is an integer"
        message = f"`{card.root}` has no generic `{length}`"
        hint = did_you_mean(length, known) or has
        sink.add(Diagnostic("E5001", message, card.toml.value("generate", "length"), help=hint))


def text_entries(program: CardProgram, sink: Sink) -> TextEntries | None:
    """The entries of a loaded card that make text; None where there are none (E5005)."""
    card = program.card
    names = {role: str(card.generate.get(role, role)) for role in FORMS}
    for role, name in names.items():
        for message, related, hint in _wrong(program, role, name):
            whole = f"`{card.name}` does not generate text: {message}"
            note = f"what generates text is {FORMS[role]}"
            help_ = hint or "the table [generate] of nest.toml names the entries"
            sink.add(Diagnostic("E5005", whole, None, related=related, notes=(note,), help=help_))
    if sink.errors:
        return None
    prefill = _function(program, names["prefill"])
    scope = bind((*program.block.generics, *prefill.generics), program.generics)
    tokens = in_type(prefill.params[0].local.type, scope)
    result = in_type(prefill.result, scope)
    assert isinstance(tokens, TensorType) and isinstance(result, TensorType)
    generic = str(card.generate.get("length", LENGTH))
    length = program.generics.get(generic)
    return TextEntries(
        **names,
        rows=_extent(tokens, 0) or 1,
        vocabulary=_extent(result, 1),
        length=length if isinstance(length, int) else None,
        length_generic=generic,
    )


def _function(root: CardRoot, name: str) -> TFunction:
    return root.program.functions[root.block.methods[name]]


def _extent(type_: TensorType, axis: int) -> int | None:
    dim = type_.dims[axis]
    return dim.as_int() if isinstance(dim, Dim) else None


def _wrong(
    root: CardRoot, role: str, name: str
) -> Iterator[tuple[str, tuple[Related, ...], str | None]]:
    """What keeps the entry `name` from being the card's `prefill` or `decode`: a message, places,
    a way out."""
    names = root.entries
    if name not in names:
        has = f"its entries are {', '.join(names)}" if names else "it has no entries"
        yield f"`{root.card.root}` has no entry `{name}`", (), did_you_mean(name, names) or has
        return
    function = _function(root, name)
    place = (Related(function.span, "declared here"),)
    required = [p for p in function.params if p.default is None]
    required = [p for p in required if not isinstance(p.local.type, OptionalType)]
    params = [p.local.type for p in function.params]
    if len(params) < 2 or len(required) > 2 or any(p not in function.params[:2] for p in required):
        yield f"`{name}` must take tokens and their position", place, None
        return
    tokens, pos, result = params[0], params[1], function.result
    if not _is_tensor(tokens, DType.I32) or (role == "decode" and not _may_be_one(tokens)):
        wanted = "Tensor[Rows, 1; i32]" if role == "decode" else "Tensor[Rows, S; i32]"
        yield f"the tokens of `{name}` are {tokens}, not {wanted}", place, None
    elif role == "prefill" and _is_fixed(tokens):
        yield f"the tokens of `{name}` are {tokens}, whose number is not open", place, None
    if not (isinstance(pos, ScalarType) and pos.dtype == DType.I32):
        yield f"the position of `{name}` is {pos}, not i32", place, None
    if not _is_tensor(result, None) or _rows(result) != _rows(tokens):
        yield (
            f"`{name}` gives {result}, not Tensor[Rows, Vocab; T], floats for each row",
            place,
            None,
        )


def _is_tensor(type_: Type, dtype: AnyDType | None) -> bool:
    """Whether it is a tensor of two axes of `dtype`, of floats if that is None."""
    if not isinstance(type_, TensorType) or len(type_.dims) != 2:
        return False
    if not all(isinstance(d, Dim) for d in type_.dims):
        return False
    return type_.dtype == dtype if dtype is not None else admits(type_.dtype) <= FLOATS


def _rows(type_: Type) -> Any:
    return type_.dims[0] if isinstance(type_, TensorType) and type_.dims else None


def _is_fixed(type_: Type) -> bool:
    return isinstance(type_, TensorType) and _extent(type_, 1) is not None


def _may_be_one(type_: Type) -> bool:
    return isinstance(type_, TensorType) and _extent(type_, 1) in (1, None)
