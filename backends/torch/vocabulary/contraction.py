"""`contract`: a product of matrices where it is one, else `einsum`, in the accumulator."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from linnet.backends.code import Code, call, infix, name
from linnet.backends.interpret.frame import concrete
from linnet.backends.torch.semantics import sum_of_products
from linnet.backends.torch.vocabulary.casting import converted
from linnet.backends.torch.vocabulary.moving import attribute
from linnet.backends.torch.vocabulary.terms import (
    WIDE_UNSIGNED,
    Terms,
    may_be_empty,
    operand_dtype,
    result_dtype,
    tensor,
)
from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.ir.core import Operation

Indices = tuple[int, ...]


def contract(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    """Products and sums in less than f32 would be kept in less than the accumulator by some of
    the libraries that PyTorch calls, so operands are converted first."""
    source, accumulator = operand_dtype(op), concrete(op.attrs["accumulator"])
    # i64 has the last bits of sums of products of any integers.
    kept = DType.I64 if accumulator in WIDE_UNSIGNED else accumulator
    factors = [
        converted(converted(tensor(o, source, terms), source, accumulator), accumulator, kept)
        for o in operands
    ]
    found = _matrix_product(op, factors) or _einsum(op, factors, kept)
    return converted(converted(found, kept, accumulator), accumulator, result_dtype(op))


def _matrix_product(op: Operation, factors: Sequence[Code]) -> Code | None:
    """`x @ w.T`, `x @ w` or `q @ k.transpose(-2, -1)`."""
    if len(factors) != 2 or not concrete(op.attrs["accumulator"]).is_float:
        return None
    (a, b), output = map(tuple, op.attrs["inputs"]), tuple(op.attrs["output"])
    if not a or len(b) < 2 or a[-1] in output:
        return None
    summed, rows = a[-1], a[:-1]
    batch = b[:-2]
    if summed not in b[-2:] or (batch and (len(a) != len(b) or rows[:-1] != batch)):
        return None
    column = b[-2] if b[-1] == summed else b[-1]
    if (*rows, column) != output or column in a:
        return None
    left, right = factors
    if b[-1] == summed:
        right = attribute(right, "T") if len(b) == 2 else attribute(right, "mT")
    return infix(left, "@", right)


def _einsum(op: Operation, factors: Sequence[Code], kept: DType) -> Code:
    letters = _letters(op)
    inputs: Sequence[Indices] = op.attrs["inputs"]
    sides = [",".join("".join(letters[i] for i in ix) for ix in inputs)]
    sides.append("".join(letters[i] for i in op.attrs["output"]))
    equation = name(f'"{"->".join(sides)}"')
    plain = kept.is_float and _is_plain(op)
    return call("torch.einsum" if plain else sum_of_products, equation, *factors)


def _extents(op: Operation) -> dict[int, Dim]:
    pairs = zip(op.attrs["inputs"], op.operands, strict=True)
    return {i: n for ix, o in pairs for i, n in zip(ix, o.type.shape, strict=True)}


def _is_plain(op: Operation) -> bool:
    """Whether `torch.einsum` adds up nothing but products of all operands, and has some."""
    inputs: Sequence[Indices] = op.attrs["inputs"]
    for i, extent in _extents(op).items():
        having = sum(i in ix for ix in inputs)
        if i in op.attrs["output"] or having == len(inputs):
            continue
        if having == 1 or may_be_empty(extent):
            return False
    return True


def _letters(op: Operation) -> dict[int, str]:
    """A letter for each index: the first of its dimension's name where that is free."""
    found: dict[int, str] = {}
    for i, extent in _extents(op).items():
        symbol = extent.as_symbol()
        wanted = symbol.name[0].lower() if symbol is not None else ""
        if wanted in ascii_letters and wanted and wanted not in found.values():
            found[i] = wanted
    free = (c for c in "ijklmnopqrstuvwxyzabcdefghABCDEFGHIJKLMNOPQRSTUVWXYZ")
    used = set(found.values())
    for i in _extents(op):
        if i not in found:
            found[i] = next(c for c in free if c not in used)
    return found
