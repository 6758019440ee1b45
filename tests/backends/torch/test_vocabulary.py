"""How operations are written: plain forms where they mean the same, implicit broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from linnet.backends.code import Code, name
from linnet.backends.interpret.walk import HELD, STRUCTURE
from linnet.backends.torch.vocabulary import (
    VOCABULARY,
    as_tensor,
    code,
    dim_code,
    implicit,
    left_implicit,
)
from linnet.dims.dims import Dim, Symbol, dim_max, dim_min
from linnet.dims.evaluate import evaluate
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.core import Operation
from linnet.ir.ops import OPS
from linnet.ir.types import Type

F32, BF16, I64, U8, BOOL = DType.F32, DType.BF16, DType.I64, DType.U8, DType.BOOL
B, S, N = (Symbol(n) for n in "BSN")


def tensor(*dims: int | Symbol | Dim, dtype: DType = F32) -> Type:
    return Type(dtype, tuple(map(Dim.of, dims)) if dims else None)


def operation(how: str, operands: Sequence[Type], result: Type, **attrs: Any) -> Operation:
    b = Builder()
    b.emit(how, [b.param(t) for t in operands], result, attrs)
    return b.body[0]


def dims(dim: Dim) -> Code:
    return dim_code(dim, lambda symbol: name(symbol.name))


def written(how: str, operands: Sequence[Type], result: Type, *given: Code, **attrs: Any) -> str:
    op = operation(how, operands, result, **attrs)
    return code(op, given or [name("xyzw"[k]) for k in range(len(operands))], dims).text


def test_every_operation_is_there() -> None:
    assert VOCABULARY.keys() | HELD.keys() | STRUCTURE.keys() == OPS.keys() - {"indexed"}


X, V, IDS = tensor(B, S, 64), tensor(64), tensor(S, 1, dtype=I64)
SUM = {"op": "sum", "axes": (2,), "accumulator": F32}
FORMS: list[tuple[str, list[Type], Type, dict[str, Any], str]] = [
    ("add", [X, X], X, {}, "x + y"),
    ("neg", [X], X, {}, "-x"),
    ("not", [tensor(S, dtype=BOOL)], tensor(S, dtype=BOOL), {}, "~x"),
    ("exp", [X], X, {}, "torch.exp(x)"),
    ("max", [X, X], X, {}, "torch.maximum(x, y)"),
    ("rsqrt", [X], X, {}, "1 / square_root(x)"),
    ("select", [tensor(B, S, 64, dtype=BOOL), X, X], X, {}, "torch.where(x, y, z)"),
    ("cast", [X], tensor(B, S, 64, dtype=BF16), {}, "x.to(torch.bfloat16)"),
    ("cast", [X], tensor(B, S, 64, dtype=I64), {}, "saturated(x, torch.int64)"),
    ("reshape", [X], tensor(Dim.of(B) * S, 64), {}, "x.reshape(B * S, 64)"),
    ("reshape", [V], tensor(1, 64, 1), {}, "x[None, :, None]"),
    ("permute", [X], tensor(B, 64, S), {"axes": (0, 2, 1)}, "x.transpose(-2, -1)"),
    ("permute", [tensor(S, 64)], tensor(64, S), {"axes": (1, 0)}, "x.T"),
    ("permute", [X], tensor(S, 64, B), {"axes": (1, 2, 0)}, "x.permute(1, 2, 0)"),
    ("broadcast", [V], X, {"axes": (2,)}, "x.expand(B, S, 64)"),
    ("broadcast", [tensor(B, S)], X, {"axes": (0, 1)}, "x[:, :, None].expand(B, S, 64)"),
    ("broadcast", [tensor(S)], X, {"axes": (1,)}, "x[:, None].expand(B, S, 64)"),
    ("concat", [X, X], tensor(B, S, 128), {"axis": 2}, "torch.cat((x, y), dim=-1)"),
    ("slice", [tensor(S, 64)], tensor(S, 32),
     {"start": (Dim.of(0), Dim.of(1)), "stop": (Dim.of(S), Dim.of(64)), "step": (1, 2)},
     "x[:, 1::2]"),
    ("slice", [tensor(S, 64)], tensor(Dim.of(S) - 1, 64),
     {"start": (Dim.of(1), Dim.of(0)), "stop": (Dim.of(S), Dim.of(64)), "step": (1, 1)}, "x[1:]"),
    ("iota", [], tensor(S, dtype=I64), {}, "torch.arange(S, device=device)"),
    ("index", [X, Type(I64)], tensor(B, 64), {"axes": (1,)}, "x[:, y[None]][:, 0]"),
    ("gather", [tensor(N, 64), IDS], tensor(S, 64), {"axes": (("index", 0), ("axis", 1))},
     "x[y.squeeze(1)]"),
    ("reduce", [X], tensor(B, S), SUM, "x.sum(-1)"),
    ("reduce", [X], tensor(B, S), {**SUM, "op": "max"}, "x.amax(-1)"),
    ("reduce", [X], tensor(B, 64), {**SUM, "op": "max", "axes": (1,)}, "largest(x, (1,))"),
    ("reduce", [tensor(S, 64, dtype=BF16)], tensor(S, dtype=BF16), {**SUM, "axes": (1,)},
     "x.sum(-1, dtype=torch.float32).to(torch.bfloat16)"),
    ("contract", [X, tensor(N, 64)], tensor(B, S, N),
     {"inputs": ((0, 1, 2), (3, 2)), "output": (0, 1, 3), "accumulator": F32}, "x @ y.T"),
    ("contract", [X, tensor(B, N, 64)], tensor(B, S, N),
     {"inputs": ((0, 1, 2), (0, 3, 2)), "output": (0, 1, 3), "accumulator": F32}, "x @ y.mT"),
    ("contract", [X, tensor(B, S, N)], tensor(B, 64, N),
     {"inputs": ((0, 1, 2), (0, 1, 3)), "output": (0, 2, 3), "accumulator": F32},
     'torch.einsum("bsi,bsn->bin", x, y)'),
]  # fmt: skip


@pytest.mark.parametrize(("how", "operands", "result", "attrs", "text"), FORMS)
def test_forms(how: str, operands: Any, result: Type, attrs: Any, text: str) -> None:
    assert written(how, operands, result, **attrs) == text


def test_rows_are_looked_up_by_what_got_an_axis_for_it() -> None:
    ids = operation("reshape", [tensor(S, dtype=I64)], IDS)
    at = code(ids, [name("ids")], dims)
    assert at.text == "ids[:, None]"
    axes = (("index", 0), ("axis", 1))
    row = operation("gather", [tensor(N, 64), IDS], tensor(S, 64), axes=axes)
    assert code(row, [name("table"), at], dims).text == "table[ids]"


def test_numbers() -> None:
    three = code(operation("constant", [], Type(F32), value="3.0"), [], dims)
    tenth = code(operation("constant", [], Type(BF16), value="0.1"), [], dims)
    length = code(operation("dim", [], Type(I64), dim=Dim.of(S) - 1), [], dims)
    assert (three.text, three.kind) == ("3.0", "literal")
    assert (tenth.text, tenth.kind) == ("0.10009765625", "literal")
    assert (length.text, length.kind) == ("S - 1", "number")
    x = name("x")
    assert written("sub", [X, X], X, three, x) == "3.0 - x"
    assert written("max", [X, X], X, x, three) == "x.clamp(min=3.0)"
    # `3.0 / x` is the reciprocal times 3.
    made = "torch.tensor(3.0, dtype=torch.float32, device=device)"
    assert written("div", [X, X], X, three, x) == f"{made} / x"
    assert written("div", [X, X], X, x, three) == "x / 3.0"
    assert written("add", [Type(F32)] * 2, Type(F32), three, three) == f"{made} + 3.0"
    # Of integers, only a divisor that is known not to be 0 or -1 is PyTorch's to divide by.
    i = tensor(S, dtype=I64)
    assert written("rem", [i, i], i, x, name("4", "literal")) == "torch.fmod(x, 4)"
    assert written("rem", [i, i], i, x, name("0", "literal")).startswith("int_rem(x, torch.tensor")
    assert written("rem", [i, i], i, x, length).startswith("int_rem(x, torch.tensor(S - 1")
    assert as_tensor(length, DType.I32).text == "torch.tensor(S - 1, device=device).to(torch.int32)"
    assert written("fill", [Type(F32)], X, three) == (
        "torch.full((B, S, 64), 3.0, dtype=torch.float32, device=device)"
    )


DIMS = [
    (Dim.of(B) * S * 2 - 3, "2 * B * S - 3"),
    (1 - Dim.of(S), "1 - S"),
    (-Dim.of(S), "-S"),
    (Dim.of(0), "0"),
    (Dim.of(-7), "-7"),
    ((Dim.of(S) + 63) // 64 * 64, "64 * ((S + 63) // 64)"),
    ((Dim.of(S) + 1) % (Dim.of(B) + 2), "(S + 1) % (B + 2)"),
    (dim_min(S, B) - dim_max(B, 3 * Dim.of(S)), "min(B, S) - max(B, 3 * S)"),
    (-(Dim.of(S) // B) + 5, "5 - S // B"),
]


@pytest.mark.parametrize(("dim", "text"), DIMS)
def test_dimensions(dim: Dim, text: str) -> None:
    found = dims(dim)
    assert found.text == text
    for b, s in ((1, 0), (2, 3), (5, 130)):
        assert eval(text, {"B": b, "S": s}) == evaluate(dim, {B: b, S: s})
    assert (found.kind == "literal") == (dim.as_int() is not None)


# --- implicit broadcasting ---------------------------------------------------

SPREADS = {
    "last": ("broadcast", (64,), {"axes": (2,)}, "w"),
    "row": ("broadcast", (2, 3), {"axes": (0, 1)}, "w[:, :, None]"),
    "middle": ("broadcast", (3,), {"axes": (1,)}, "w[:, None]"),
    "ones": ("broadcast", (2, 1, 64), {"axes": (0, 1, 2)}, "w"),
    "outer": ("broadcast", (2, 64), {"axes": (0, 2)}, "w[:, None]"),
    "scalar": ("broadcast", (), {"axes": ()}, "w"),
    "filled": ("fill", (), {}, "w"),
}
WHOLE = (2, 3, 64)


@pytest.mark.parametrize("made", SPREADS)
def test_an_operand_beside_a_whole_one(made: str) -> None:
    how, shape, attrs, text = SPREADS[made]
    spread = operation(how, [tensor(*shape)], tensor(*WHOLE), **attrs)
    add = operation("add", [tensor(*WHOLE)] * 2, tensor(*WHOLE))
    assert left_implicit(add, {1: spread}) == {1}
    found = implicit(spread, name("w"))
    assert found.text == text
    w, x = torch.arange(int(np.prod(shape))).reshape(shape).float(), torch.ones(WHOLE)
    expanded = code(spread, [name("w")], dims)
    both = [eval(c.text, {"w": w, "x": x, "torch": torch}) for c in (found, expanded)]
    assert both[1].shape == WHOLE
    assert torch.equal(x + both[0], x + both[1])


@pytest.mark.parametrize("first", SPREADS)
@pytest.mark.parametrize("second", SPREADS)
def test_two_operands_that_are_both_spread(first: str, second: str) -> None:
    spreads: dict[int, Operation] = {}
    tensors: dict[str, Any] = {"torch": torch}
    for k, key in enumerate((first, second)):
        how, shape, attrs, _ = SPREADS[key]
        spreads[k] = operation(how, [tensor(*shape)], tensor(*WHOLE), **attrs)
        tensors[f"w{k}"] = torch.arange(int(np.prod(shape))).reshape(shape).float()
    add = operation("add", [tensor(*WHOLE)] * 2, tensor(*WHOLE))
    left = left_implicit(add, spreads)
    expanded = [code(spreads[k], [name(f"w{k}")], dims) for k in (0, 1)]
    mixed = [implicit(spreads[k], name(f"w{k}")) if k in left else expanded[k] for k in (0, 1)]
    found, wanted = (code(add, pair, dims).text for pair in (mixed, expanded))
    assert torch.equal(eval(found, tensors), eval(wanted, tensors))
    # No more is expanded than has to be.
    whole = {first, second} in (
        {"last", "row"}, {"row", "outer"}, {"row", "ones"}, {"middle", "ones"}, {"middle", "outer"},
    )  # fmt: skip
    assert (len(left) == 2) == whole


def test_axes_of_extent_1_are_not_lost() -> None:
    spread = operation("broadcast", [tensor(3)], tensor(1, 3), axes=(1,))
    add = operation("add", [tensor(1, 3)] * 2, tensor(1, 3))
    assert len(left_implicit(add, {0: spread, 1: spread})) == 1
