"""Values from nothing and operations that move elements, in PyTorch against the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from linnet.backends.contract import RuntimeFault
from linnet.backends.numpy.dtypes import NUMPY
from linnet.backends.numpy.interpreter import run
from linnet.backends.torch.arrays import of_numpy
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import FLOATS, INTEGERS, DType
from linnet.ir.builder import Builder
from linnet.ir.types import Type
from tests.backends.numpy.harness import module, tensor, type_of
from tests.backends.torch.harness import both, expression, in_torch, operation, same

NUMBERS = sorted(INTEGERS | FLOATS, key=str)


def array(shape: Sequence[int], dtype: DType = DType.F32) -> Any:
    values = np.random.default_rng(0).integers(0, 100, tuple(shape))
    return (values % 2 if dtype is DType.BOOL else values).astype(NUMPY[dtype])


CONSTANTS = {
    "0.1": FLOATS, "1e-5": FLOATS, "-2.5": FLOATS, "nan": FLOATS, "inf": FLOATS, "-inf": FLOATS,
    "1e39": FLOATS, "3.4028234663852886e38": FLOATS, "65519.99": FLOATS, "1e-45": FLOATS,
    "-0.0": FLOATS, "1.0000000596046447753906250000000001": FLOATS,
    "1.00390625000000000000000000001": FLOATS, 16777217: FLOATS | {DType.I64, DType.U32},
    2**62 + 2**54 + 1: FLOATS | {DType.U64}, 2**64 - 1: {DType.U64}, -128: {DType.I8},
    -(2**63): {DType.I64}, 255: {DType.U8}, True: {DType.BOOL}, 0: INTEGERS,
}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "dtype"), [(v, d) for v, dtypes in CONSTANTS.items() for d in sorted(dtypes, key=str)]
)
def test_constant(value: Any, dtype: DType) -> None:
    both("constant", [], Type(dtype), value=value)
    # As the number that it is written as, beside a tensor.
    if dtype is not DType.BOOL:
        b = Builder()
        x = b.param(tensor([2], dtype))
        c = b.emit("fill", [b.constant(value, dtype)], x.type)
        whole = module(b.function("f", None, [b.emit("add", [x, c], x.type)]))
        given = np.asarray([0, 1], NUMPY[dtype])
        same(in_torch(whole, [given])[0], run(whole, [given])[0])


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("n", [0, 3, 200, 300, 70_000])
def test_dim_and_iota(dtype: DType, n: int) -> None:
    s = Symbol("S")
    b = Builder()
    x = b.param(Type(DType.BOOL, (Dim.of(s),)))
    results = [
        b.emit("dim", [], Type(dtype), {"dim": dim})
        for dim in (Dim.of(s), Dim.of(s) * 1000 + 1, 7 - Dim.of(s), Dim.of(s) * 2**40 + 257)
    ]
    results.append(b.emit("iota", [], Type(dtype, (Dim.of(s) + 1,))))
    whole = module(b.function("f", None, [*results, x]), symbols=(s,))
    given = [np.zeros(n, np.bool_)]
    for mine, wanted in zip(in_torch(whole, given), run(whole, given), strict=True):
        same(mine, wanted)


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3)])
def test_fill(dtype: DType, shape: tuple[int, ...]) -> None:
    result = tensor(shape, dtype) if shape else Type(dtype)
    for value in (0, 1, 0 if dtype is DType.BOOL else 3):
        both("fill", [np.asarray(value, NUMPY[dtype])], result)


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize(
    ("shape", "result"),
    [
        ((2, 3), (3, 2)), ((2, 3), (6,)), ((6,), (1, 6)), ((6,), (6, 1)), ((2, 3), (2, 1, 3, 1)),
        ((1, 1), ()), ((), (1, 1)), ((0, 3), (3, 0, 7)), ((2, 1, 3), (2, 3)), ((1,), (1, 1)),
    ],
)  # fmt: skip
def test_reshape(dtype: DType, shape: tuple[int, ...], result: tuple[int, ...]) -> None:
    both("reshape", [array(shape, dtype)], tensor(result, dtype) if result else Type(dtype))


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize(
    "axes", [(0, 1), (1, 0), (0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1, 3), (3, 1, 2, 0), (0,), ()]
)
def test_permute(dtype: DType, axes: tuple[int, ...]) -> None:
    shape = (2, 3, 4, 5)[: len(axes)]
    result = [shape[a] for a in axes]
    both(
        "permute", [array(shape, dtype)], tensor(result, dtype) if axes else Type(dtype), axes=axes
    )


BROADCASTS = [
    ((2, 3), (0, 2), (2, 4, 3)), ((2, 3), (1, 2), (4, 2, 3)), ((2, 3), (0, 1), (2, 3, 4)),
    ((1, 3), (0, 1), (5, 3)), ((2,), (1,), (3, 2, 4, 5)), ((), (), (2, 3)), ((), (), ()),
    ((1,), (0,), (0, 3)), ((0, 3), (1, 2), (4, 0, 3)), ((2, 3), (0, 1), (2, 3)),
    ((2, 3), (1, 3), (1, 2, 1, 3)), ((), (), (1, 1)), ((3,), (0,), (3, 1)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize(("shape", "axes", "result"), BROADCASTS)
def test_broadcast(dtype: DType, shape: Any, axes: Any, result: Any) -> None:
    type_ = tensor(result, dtype) if result else Type(dtype)
    both("broadcast", [array(shape, dtype)], type_, axes=axes)


@pytest.mark.parametrize("dtype", list(DType))
def test_concat(dtype: DType) -> None:
    x = array((2, 3, 4), dtype)
    both("concat", [x], type_of(x), axis=0)
    both("concat", [x, x[:, :1], x[:, :0]], tensor([2, 4, 4], dtype), axis=1)
    both("concat", [x, x[..., ::2]], tensor([2, 3, 6], dtype), axis=2)


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize(
    "cut",
    [
        [(0, 5, 1)], [(1, 4, 1), (0, 6, 1)], [(0, 5, 1), (1, 6, 2)], [(0, 5, 2), (2, 2, 1)],
        [(3, 2, 2), (0, 6, 1)], [(0, -1, 2), (0, 6, 4)], [(0, 0, 1), (5, 6, 7)],
        [(0, 5, 1), (0, 6, 1)],
    ],
)  # fmt: skip
def test_slice(dtype: DType, cut: list[tuple[int, int, int]]) -> None:
    start, stop, step = zip(*cut, strict=True)
    extents = [max(0, -(-(b - a) // s)) for a, b, s in cut]
    attrs = {"start": tuple(map(Dim.of, start)), "stop": tuple(map(Dim.of, stop)), "step": step}
    both("slice", [array((5, 6)[: len(cut)], dtype)], tensor(extents, dtype), **attrs)


def test_slices_by_what_the_run_says() -> None:
    s = Symbol("S")
    b = Builder()
    x = b.param(Type(DType.F32, (Dim.of(s), Dim.of(6))))
    attrs = {"start": (Dim.of(s) - 3, Dim.of(0)), "stop": (Dim.of(s), Dim.of(s) - 1)}
    kept = (Dim.of(s)) // 2
    y = b.emit("slice", [x], Type(DType.F32, (Dim.of(3), kept)), {**attrs, "step": (1, 2)})
    whole = module(b.function("f", None, [y]), symbols=(s,))
    for n in (3, 5, 7):
        same(in_torch(whole, [array((n, 6))])[0], run(whole, [array((n, 6))])[0])
    for n in (0, 2, 9):
        messages: list[str] = []
        for runs in (run, in_torch):
            with pytest.raises(RuntimeFault) as caught:
                runs(whole, [array((n, 6))])
            messages.append(caught.value.message)
        assert messages[0] == messages[1]


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (0, 1), (0, 1, 2), ()])
def test_index(dtype: DType, axes: tuple[int, ...]) -> None:
    x = array((2, 3, 4), dtype)
    rest = [n for a, n in enumerate(x.shape) if a not in axes]
    at = [np.int64(a + 1) for a in axes]
    result = tensor(rest, dtype) if rest else Type(dtype)
    wanted = both("index", [x, *at], result, axes=axes)
    (op,) = (
        operation("index", [type_of(a) for a in (x, *at)], result, axes=axes).functions["f"].body
    )
    for known in range(len(at)):
        given: list[Any] = [of_numpy(x), *(of_numpy(np.asarray(a)) for a in at)]
        given[1 + known] = np.asarray(at[known])
        same(expression(op, given), wanted)


GATHERS: list[tuple[Any, Any, Any, Any]] = [
    # base, index tensors, axes, result
    ((7, 4), [(3, 1)], [("index", 0), ("axis", 1)], (3, 4)),
    ((7, 4), [(2, 3, 1)], [("index", 0), ("axis", 2)], (2, 3, 4)),
    ((4, 7), [(1, 3)], [("axis", 0), ("index", 0)], (4, 3)),
    ((3, 7), [(3, 5)], [("axis", 0), ("index", 0)], (3, 5)),
    ((3, 7, 2), [(3, 5, 1)], [("axis", 0), ("index", 0), ("axis", 2)], (3, 5, 2)),
    ((7, 5, 7), [(3, 1), (3, 1)], [("index", 0), ("axis", 1), ("index", 1)], (3, 5)),
    ((7, 7), [(3, 1), (1, 4)], [("index", 0), ("index", 1)], (3, 4)),
    ((7, 7), [(3, 4), (1, 1)], [("index", 0), ("index", 1)], (3, 4)),
    ((7,), [(1, 3)], [("index", 0)], (5, 3)),
    ((7,), [(3, 1)], [("index", 0)], (3, 6)),
    ((7,), [(1, 1)], [("index", 0)], (3, 6)),
    ((5,), [], [("axis", 1)], (3, 5)),
    ((5,), [], [("axis", 0)], (5, 3)),
    ((5, 4), [], [("axis", 1), ("axis", 0)], (4, 5)),
    ((5, 5), [], [("axis", 0), ("axis", 0)], (5,)),
    ((5, 5, 3), [], [("axis", 1), ("axis", 1), ("axis", 0)], (3, 5)),
    ((7, 5, 5), [(1, 2, 1)], [("index", 0), ("axis", 0), ("axis", 0)], (5, 2, 3)),
    ((7, 5), [(2, 1, 1)], [("index", 0), ("axis", 2)], (2, 3, 5)),
    ((7, 5), [(1, 1)], [("index", 0), ("axis", 0)], (5, 1)),
    ((7, 4), [(0, 1)], [("index", 0), ("axis", 1)], (0, 4)),
    ((0, 4), [(0, 1)], [("index", 0), ("axis", 1)], (0, 4)),
    ((7, 0), [(3, 1)], [("index", 0), ("axis", 1)], (3, 0)),
    ((7,), [()], [("index", 0)], ()),
    ((2, 7, 3, 7), [(2, 3, 5, 1), (1, 3, 1, 4)],
     [("axis", 0), ("index", 0), ("axis", 1), ("index", 1)], (2, 3, 5, 4)),
    ((7, 1), [(3, 1)], [("index", 0), ("axis", 1)], (3, 1)),
    ((4, 6, 7), [(4, 1, 5)], [("axis", 0), ("axis", 1), ("index", 0)], (4, 6, 5)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [DType.F32, DType.U16, DType.U64, DType.BOOL])
@pytest.mark.parametrize(("base", "indices", "axes", "result"), GATHERS)
def test_gather(dtype: DType, base: Any, indices: Any, axes: Any, result: Any) -> None:
    random = np.random.default_rng(1)
    x = array(base, dtype)
    extents = {j: base[a] for a, (kind, j) in enumerate(axes) if kind == "index"}
    at = [random.integers(0, extents[j], shape) for j, shape in enumerate(indices)]
    type_ = tensor(result, dtype) if result else Type(dtype)
    both("gather", [x, *at], type_, axes=tuple(axes))


@pytest.mark.parametrize("at", [-1, 7, 2**40])
def test_positions_out_of_range(at: int) -> None:
    b = Builder()
    x, i = b.param(tensor([2, 7], DType.F32)), b.param(Type(DType.I64))
    y = b.emit("index", [x, i], tensor([2], DType.F32), {"axes": (1,)}, place="a.linnet:3")
    whole = module(b.function("f", None, [y]))
    b = Builder()
    x, i = b.param(tensor([2, 7], DType.F32)), b.param(tensor([2, 3], DType.I64))
    axes = (("axis", 0), ("index", 0))
    y = b.emit("gather", [x, i], tensor([2, 3], DType.F32), {"axes": axes}, place="a.linnet:3")
    looked_up = module(b.function("f", None, [y]))
    many = np.asarray([[0, 1, 2], [3, at, 4]])
    for m, given in ((whole, np.int64(at)), (looked_up, many)):
        with pytest.raises(RuntimeFault) as caught:
            in_torch(m, [array((2, 7)), given])
        fault = caught.value
        assert (fault.code, fault.place) == ("E2209", "a.linnet:3")
        assert fault.message == f"index {at} is out of range for axis 1 of 7 elements"
