"""`reduce`, `cumsum` and `contract`: sums kept in an accumulator and rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from linnet.backends.numpy.dtypes import NUMPY, OF_NUMPY, Array, cast, computing_dtype
from linnet.backends.numpy.elementwise import fold_identity
from linnet.dtypes import DType

Indices = tuple[int, ...]


def reduce(x: Array, op: str, axes: Indices, accumulator: DType) -> Array:
    """`op` over `axes`."""
    kept = cast(x, accumulator)
    dtype: Any = NUMPY[accumulator]
    match op:
        case "sum":
            result = np.sum(kept, axis=axes, dtype=dtype)
        case "prod":
            result = np.prod(kept, axis=axes, dtype=dtype)
        case "any":
            result = np.any(kept, axis=axes)
        case "all":
            result = np.all(kept, axis=axes)
        case _:
            fold = np.maximum if op == "max" else np.minimum
            wide = cast(kept, computing_dtype(accumulator))
            start: Any = fold_identity(op, OF_NUMPY[wide.dtype])
            result = cast(np.asarray(fold.reduce(wide, axis=axes, initial=start)), accumulator)
    return cast(np.asarray(result), OF_NUMPY[x.dtype])


def cumsum(x: Array, axis: int, accumulator: DType) -> Array:
    """The running sum."""
    kept = np.cumsum(cast(x, accumulator), axis=axis, dtype=NUMPY[accumulator])
    return cast(kept, OF_NUMPY[x.dtype])


def contract(
    operands: Sequence[Array],
    inputs: Sequence[Indices],
    output: Indices,
    accumulator: DType,
    result: DType,
) -> Array:
    """The sum over the indices not in `output` of the product of the operands."""
    terms = [(cast(x, accumulator), ix) for x, ix in zip(operands, inputs, strict=True)]
    extents = {i: n for x, ix in terms for i, n in zip(ix, x.shape, strict=True)}
    if any(n == 0 for i, n in extents.items() if i not in output):
        # A sum of no products is 0. Summed for some of the terms alone, it would still be
        # multiplied by the others, and 0 times an infinity is NaN.
        return np.zeros([extents[i] for i in output], NUMPY[result])
    while len(terms) > 1:
        terms = _joined(terms, output, extents)
    ((value, indices),) = terms
    summed = tuple(axis for axis, i in enumerate(indices) if i not in output)
    if summed:
        value = np.sum(value, axis=summed, dtype=NUMPY[accumulator])
        indices = tuple(i for i in indices if i in output)
    return cast(np.transpose(value, [indices.index(i) for i in output]), result)


Term = tuple[Array, Indices]


def _joined(terms: Sequence[Term], output: Indices, extents: dict[int, int]) -> list[Term]:
    """The terms with two of them multiplied: those whose product is the smallest array."""

    def kept(pair: tuple[int, int]) -> Indices:
        others = {i for k, (_, ix) in enumerate(terms) if k not in pair for i in ix}
        own = dict.fromkeys(terms[pair[0]][1] + terms[pair[1]][1])
        return tuple(i for i in own if i in others or i in output)

    def size(pair: tuple[int, int]) -> int:
        return prod(extents[i] for i in kept(pair))

    first, second = min(combinations(range(len(terms)), 2), key=size)
    indices = kept((first, second))
    product = _pair(terms[first], terms[second], indices, extents)
    rest = [term for k, term in enumerate(terms) if k not in (first, second)]
    return [(product, indices), *rest]


def _pair(a: Term, b: Term, output: Indices, extents: dict[int, int]) -> Array:
    """The product of two, summed over what is not in `output`, as one batched matrix product."""
    own = set(a[1]), set(b[1])
    summed = tuple(i for i in dict.fromkeys(a[1] + b[1]) if i not in output)
    if not summed:
        return np.multiply(_spread(a, output), _spread(b, output))
    batch = tuple(i for i in output if i in own[0] and i in own[1])
    rows = tuple(i for i in output if i not in own[1])
    columns = tuple(i for i in output if i not in own[0])
    left = _matrix(a, batch, rows, summed, extents)
    right = _matrix(b, batch, summed, columns, extents)
    product = np.matmul(left, right).reshape([extents[i] for i in batch + rows + columns])
    return np.transpose(product, [(batch + rows + columns).index(i) for i in output])


def _spread(term: Term, indices: Indices) -> Array:
    """The axes in the order of `indices`, of extent 1 where the term has none."""
    x, own = term
    ordered = np.transpose(x, [own.index(i) for i in indices if i in own])
    return ordered[tuple(slice(None) if i in own else None for i in indices)]


def _matrix(
    term: Term, batch: Indices, rows: Indices, columns: Indices, extents: dict[int, int]
) -> Array:
    """`[*batch, rows, columns]`, repeated along the indices that the term does not have."""
    order = batch + rows + columns
    full = np.broadcast_to(_spread(term, order), [extents[i] for i in order])
    shape = [extents[i] for i in batch]
    return full.reshape([*shape, prod(extents[i] for i in rows), prod(extents[i] for i in columns)])
