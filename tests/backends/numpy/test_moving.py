"""Operations that move elements, against exact values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linnet.backends.base import RuntimeFault
from linnet.backends.numpy.dtypes import NUMPY
from linnet.backends.numpy.interpreter import run
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.types import Type
from tests.backends.numpy.harness import apply, module, tensor, type_of


@pytest.mark.parametrize("dtype", list(DType))
def test_reshape_permute_broadcast_concat_slice(dtype: DType) -> None:
    x = (np.arange(6) % 2).astype(NUMPY[dtype]).reshape(2, 3)
    assert apply("reshape", [x], tensor([3, 2], dtype)).tolist() == x.reshape(3, 2).tolist()
    permuted = apply("permute", [x], tensor([3, 2], dtype), axes=(1, 0))
    assert permuted.tolist() == x.T.tolist()
    spread = apply("broadcast", [x], tensor([2, 4, 3], dtype), axes=(0, 2))
    assert spread.tolist() == [[row] * 4 for row in x.tolist()]
    joined = apply("concat", [x, x[:, :1], x[:, :0]], tensor([2, 4], dtype), axis=1)
    assert joined.tolist() == [row + row[:1] for row in x.tolist()]
    bounds = {"start": (0, 1), "stop": (1, 3), "step": (1, 2)}
    dims = {k: tuple(map(Dim.of, v)) for k, v in bounds.items() if k != "step"}
    cut = apply("slice", [x], tensor([1, 1], dtype), **dims, step=(1, 2))
    assert cut.tolist() == [x.tolist()[0][1:3:2]]


def test_reshape_to_and_from_a_scalar() -> None:
    assert apply("reshape", [np.float32(3)], tensor([1, 1], DType.F32)).tolist() == [[3.0]]
    assert apply("reshape", [np.ones((1, 1), np.int32)], Type(DType.I32)).tolist() == 1
    assert apply("broadcast", [np.float32(3)], tensor([2], DType.F32), axes=()).tolist() == [3, 3]
    one = np.ones((1, 2), np.float32)
    assert (
        apply("broadcast", [one], tensor([3, 2], DType.F32), axes=(0, 1)).tolist() == [[1, 1]] * 3
    )


def test_empty_extents() -> None:
    none = np.zeros((0, 3), np.float32)
    assert apply("reshape", [none], tensor([3, 0], DType.F32)).shape == (3, 0)
    assert apply("exp", [none], tensor([0, 3], DType.F32)).shape == (0, 3)
    stop = (Dim.of(0), Dim.of(3))
    start = (Dim.of(0), Dim.of(3))
    cut = apply("slice", [none], tensor([0, 0], DType.F32), start=start, stop=stop, step=(1, 1))
    assert cut.shape == (0, 0)


@pytest.mark.parametrize(("start", "stop"), [(-1, 1), (1, 4), (2, 0)])
def test_a_slice_beyond_its_axis_faults(start: int, stop: int) -> None:
    n, b = Symbol("N"), Builder()
    x = b.param(tensor([3], DType.F32))
    bounds = {"start": (Dim.of(n) + start,), "stop": (Dim.of(n) + stop,), "step": (2,)}
    y = b.emit("slice", [x], tensor([max(0, stop - start + 1) // 2], DType.F32), bounds)
    m = module(b.function("f", None, [y]), symbols=(n,))
    with pytest.raises(RuntimeFault, match=f"{start}:{stop} is out of range for axis 0 of 3"):
        run(m, [np.zeros(3, np.float32)], symbols={n: 0})


def test_index() -> None:
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    at = [np.int64(1), np.int64(3)]
    found = apply("index", [x, *at], tensor([3], DType.I32), axes=(0, 2))
    assert found.tolist() == [15, 19, 23]
    every = [np.int64(1), np.int64(0), np.int64(2)]
    assert apply("index", [x, *every], Type(DType.I32), axes=(0, 1, 2)).item() == 14
    for bad in (-1, 2):
        with pytest.raises(RuntimeFault, match=f"index {bad} is out of range for axis 0 of 2"):
            apply("index", [x, np.int64(bad)], tensor([3, 4], DType.I32), axes=(0,))


def gathered(base: Any, indices: Any, axes: Any, shape: Any) -> np.ndarray[Any, Any]:
    return apply("gather", [base, *indices], tensor(shape, type_of(base).dtype), axes=axes)  # type: ignore[arg-type]


def naive_gather(base: Any, indices: Any, axes: Any, shape: Any) -> np.ndarray[Any, Any]:
    out = np.empty(shape, base.dtype)
    for o in np.ndindex(*shape):
        spread = [np.broadcast_to(i, shape) for i in indices]
        out[o] = base[tuple(o[n] if kind == "axis" else spread[n][o] for kind, n in axes)]
    return out


GATHERS = [
    # rows of a table
    ((5, 3), [(4, 1)], (("index", 0), ("axis", 1)), (4, 3)),
    # the same, ids of two axes, the table's row axis last
    ((3, 5), [(2, 4, 1)], (("axis", 2), ("index", 0)), (2, 4, 3)),
    # a runtime position that differs for each row
    ((4, 5), [(4, 1)], (("axis", 0), ("index", 0)), (4, 1)),
    ((4, 5, 3), [(4, 2, 1)], (("axis", 0), ("index", 0), ("axis", 2)), (4, 2, 3)),
    # the index varies along an axis that the base has too
    ((3, 5), [(2, 3)], (("axis", 1), ("index", 0)), (2, 3)),
    # two index tensors that are spread against each other
    ((4, 5, 3), [(2, 1, 1), (1, 6, 1)], (("index", 0), ("index", 1), ("axis", 2)), (2, 6, 3)),
    # a diagonal, and axes that nothing reads
    ((3, 3), [], (("axis", 1), ("axis", 1)), (2, 3)),
    ((3,), [(1, 1)], (("index", 0),), (2, 4)),
    # a permutation
    ((2, 3), [], (("axis", 1), ("axis", 0)), (3, 2)),
    # fewer than the base has
    ((5, 3), [(2, 1)], (("index", 0), ("axis", 1)), (2, 2)),
    ((5, 3), [(0, 1)], (("index", 0), ("axis", 1)), (0, 3)),
]


@pytest.mark.parametrize(("base", "indices", "axes", "shape"), GATHERS)
@pytest.mark.parametrize("dtype", [DType.BF16, DType.U8, DType.I64])
def test_gather(base: Any, indices: Any, axes: Any, shape: Any, dtype: DType) -> None:
    generator = np.random.default_rng(0)
    data = generator.integers(0, 100, base).astype(NUMPY[dtype])
    extents = [
        base[a] for j in range(len(indices)) for a, s in enumerate(axes) if s == ("index", j)
    ]
    at = [generator.integers(0, n, i) for n, i in zip(extents, indices, strict=True)]
    found = gathered(data, at, axes, shape)
    assert found.tolist() == naive_gather(data, at, axes, shape).tolist()


@pytest.mark.parametrize("bad", [-1, 5])
def test_gather_out_of_range(bad: int) -> None:
    table = np.zeros((5, 3), np.float32)
    with pytest.raises(RuntimeFault, match=f"index {bad} is out of range for axis 0 of 5"):
        gathered(table, [np.asarray([[0], [bad]])], (("index", 0), ("axis", 1)), (2, 3))


def test_a_gather_of_nothing_still_has_its_indices_checked() -> None:
    table, none = np.zeros((5, 3), np.float32), np.zeros((0, 3), np.float32)
    axes = (("index", 0), ("axis", 1))
    assert gathered(table, [np.asarray([[4]])], axes, (1, 0)).shape == (1, 0)
    assert gathered(none, [np.zeros((0, 1), np.int64)], axes, (0, 3)).shape == (0, 3)
    for base in (table, none):
        with pytest.raises(RuntimeFault, match="index 9 is out of range for axis 0"):
            gathered(base, [np.asarray([[9]])], axes, (1, 0))
