from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from linnet.backends.base import RuntimeFault
from linnet.backends.numpy.dtypes import NUMPY
from linnet.backends.numpy.interpreter import run
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.core import Module, Operation
from linnet.ir.passes.vectorize import vectorize
from linnet.ir.scalar import Access, Apply, Const, DimValue, Index, Operand, Reduce, Scalar
from linnet.ir.types import Type
from linnet.ir.verify import verify
from tests.backends import each
from tests.ir.generate import Case, cases
from tests.ir.oracle import OutOfRangeError, assert_same, evaluate

F32, BF16, I64 = DType.F32, DType.BF16, DType.I64
B, K, N, Q = (Symbol(n) for n in "BKNQ")


@settings(max_examples=250, deadline=None)
@given(cases())
def test_random_expressions(case: Case) -> None:
    verify(case.module)
    plain = vectorize(case.module)
    verify(plain)
    assert not any(op.name == "indexed" for op in plain.functions["main"].body)
    try:
        wanted = evaluate(case.op, case.operands, case.symbols)
    except OutOfRangeError:
        for backend in each.HERE:
            with pytest.raises(RuntimeFault):
                each.run(backend, case.module, case.args, symbols=case.symbols)
        return
    for backend in each.HERE:
        (found,) = each.run(backend, case.module, case.args, symbols=case.symbols)
        assert_same(found, wanted)


def built(types: list[Type], indices: list[Dim], expr: Scalar) -> Module:
    b = Builder()
    params = [b.param(t) for t in types]
    attrs = {"indices": tuple(indices), "expr": expr}
    y = b.emit("indexed", params, Type(expr.dtype, tuple(indices) or None), attrs, hint="y")
    return Module("main", (B, K, N, Q), {"main": b.function("main", None, [y])})


def tensor(*dims: Symbol, dtype: DType = F32) -> Type:
    return Type(dtype, tuple(map(Dim.of, dims)))


def access(operand: int, *indices: int | Scalar, dtype: DType = F32) -> Access:
    positions = tuple(Index(i, I64) if isinstance(i, int) else i for i in indices)
    return Access(operand, positions, dtype)


def ops_of(module: Module) -> list[Operation]:
    verify(module)
    plain = vectorize(module)
    verify(plain)
    return list(plain.functions["main"].body)


def dims(*symbols: Symbol) -> list[Dim]:
    return list(map(Dim.of, symbols))


def total(i: int, extent: Symbol, *factors: Scalar) -> Reduce:
    return Reduce("sum", F32, ((i, Dim.of(extent)),), factors, factors[0].dtype)


def times(a: Scalar, b: Scalar) -> Apply:
    return Apply("mul", (a, b), a.dtype)


def test_matrix_product_is_one_contraction() -> None:
    body = total(2, K, access(0, 0, 2, dtype=BF16), access(1, 1, 2, dtype=BF16))
    module = built([tensor(B, K, dtype=BF16), tensor(Q, K, dtype=BF16)], dims(B, Q), body)
    (op,) = ops_of(module)
    assert op.name == "contract"
    assert op.attrs == {"inputs": ((0, 2), (1, 2)), "output": (0, 1), "accumulator": F32}
    assert op.results == module.functions["main"].results


def test_a_contraction_takes_axes_in_any_order() -> None:
    body = total(2, K, access(0, 0, 2), access(1, 2, 1))
    (op,) = ops_of(built([tensor(B, K), tensor(K, Q)], dims(B, Q), body))
    assert op.attrs["inputs"] == ((0, 2), (2, 1))


def test_known_places_are_sliced() -> None:
    expr = Access(0, (Const(1, I64), Index(0, I64), DimValue(Dim.of(N) - 1, I64)), F32)
    cut, rest = ops_of(built([tensor(B, Q, N)], dims(Q), expr))
    assert (cut.name, rest.name) == ("slice", "reshape")
    assert cut.attrs["start"] == (Dim.of(1), Dim.of(0), Dim.of(N) - 1)
    assert cut.attrs["stop"] == (Dim.of(2), Dim.of(Q), Dim.of(N))
    assert cut.results[0].type == Type(F32, (Dim.of(1), Dim.of(Q), Dim.of(1)))


def test_mixed_places_drop_their_own_axes() -> None:
    at = Operand(1, I64)
    expr = Access(0, (Const(0, I64), at, Index(0, I64), Apply("add", (at, at), I64)), F32)
    ops = ops_of(built([tensor(B, K, Q, N), Type(I64)], dims(Q), expr))
    assert [op.name for op in ops] == ["add", "slice", "reshape", "index"]
    assert ops[-1].attrs["axes"] == (0, 2)
    assert ops[-1].operands[1].id == 1
    assert ops[-1].operands[2] == ops[0].results[0]


def test_cast_product_contracts_casts() -> None:
    def wide(a: Scalar) -> Apply:
        return Apply("cast", (a,), F32)

    body = total(2, K, wide(access(0, 0, 2, dtype=BF16)), wide(access(1, 1, 2, dtype=BF16)))
    types = [tensor(B, K, dtype=BF16), tensor(Q, K, dtype=BF16)]
    ops = ops_of(built(types, dims(B, Q), body))
    assert [op.name for op in ops] == ["cast", "cast", "contract"]


def test_experts_gather_then_contract() -> None:
    expert = access(2, 0, dtype=I64)
    body = total(2, K, access(0, 0, 2), access(1, expert, 1, 2))
    types = [tensor(B, K), tensor(N, Q, K), tensor(B, dtype=I64)]
    spread, gather, contract = ops_of(built(types, dims(B, Q), body))
    assert [op.name for op in (spread, gather, contract)] == ["reshape", "gather", "contract"]
    assert gather.operands[0].type == types[1]
    assert gather.attrs["axes"] == (("index", 0), ("axis", 1), ("axis", 2))
    assert gather.results[0].type == tensor(B, Q, K)
    assert contract.attrs["inputs"] == ((0, 2), (0, 1, 2))


def test_nothing_is_wider_than_what_it_depends_on() -> None:
    scaled = times(access(0, 0), access(0, 0))
    expr = Apply("add", (scaled, access(1, 1)), F32)
    ops = ops_of(built([tensor(B), tensor(Q)], dims(B, Q), expr))
    assert [op.name for op in ops] == ["mul", "broadcast", "broadcast", "add"]
    assert ops[0].results[0].type == tensor(B)


def test_identity_needs_no_operation() -> None:
    module = built([tensor(B, Q)], dims(B, Q), access(0, 0, 1))
    assert ops_of(module) == []
    assert vectorize(module).functions["main"].results == module.functions["main"].params


def test_same_access_is_emitted_once() -> None:
    taken = access(0, access(1, 0, dtype=I64))
    ops = ops_of(built([tensor(N), tensor(B, dtype=I64)], dims(B), times(taken, taken)))
    assert [op.name for op in ops] == ["gather", "mul"]


def test_counter_position_is_the_index() -> None:
    b = Builder()
    x = b.param(tensor(N, Q))
    n = b.emit("iota", [], tensor(N, dtype=I64))
    expr = access(0, access(1, 1, dtype=I64), 0)
    attrs = {"indices": tuple(dims(Q, N)), "expr": expr}
    y = b.emit("indexed", [x, n], tensor(Q, N), attrs)
    ops = ops_of(Module("main", (N, Q), {"main": b.function("main", None, [y])}))
    assert [op.name for op in ops] == ["iota", "permute"]


def test_counter_along_a_longer_axis_is_no_index() -> None:
    b = Builder()
    x = b.param(Type(F32, (Dim.of(5),)))
    n = b.emit("iota", [], Type(I64, (Dim.of(3),)))
    attrs = {"indices": (Dim.of(3),), "expr": access(0, access(1, 0, dtype=I64))}
    y = b.emit("indexed", [x, n], Type(F32, (Dim.of(3),)), attrs)
    module = Module("main", (), {"main": b.function("main", None, [y])})
    assert [op.name for op in ops_of(module)] == ["iota", "gather"]
    (found,) = run(module, [np.arange(5, dtype=np.float32) * 2])
    assert found.tolist() == [0.0, 2.0, 4.0]


def test_all_factors_go_into_one_contraction() -> None:
    body = total(2, K, access(0, 0, 2), access(1, 1, 2), access(2, 2))
    (op,) = ops_of(built([tensor(B, K), tensor(Q, K), tensor(K)], dims(B, Q), body))
    assert op.attrs["inputs"] == ((0, 2), (1, 2), (2,))


def test_a_product_that_is_one_factor_is_a_value_of_its_dtype() -> None:
    x, y = access(0, 0, dtype=BF16), access(1, 0, dtype=BF16)
    third = access(2, 0, dtype=BF16)
    types = [tensor(K, dtype=BF16)] * 3
    rounded = built(types, [], total(0, K, times(x, y), third))
    assert [op.name for op in ops_of(rounded)] == ["mul", "contract"]
    alone = built(types, [], total(0, K, times(x, y)))
    assert [op.name for op in ops_of(alone)] == ["mul", "reduce"]
    # 1.0078125 squared is 1.01568603515625, in bf16 1.015625.
    near, minus = np.array([1.0078125, 1]), np.array([1.0078125, -1.015625])
    args = [a.astype(NUMPY[BF16]) for a in (near, minus, np.ones(2))]
    assert run(rounded, args)[0] == run(alone, args)[0] == 0
    (exact,) = run(built(types, [], total(0, K, x, y)), args)
    assert exact == 1.01568603515625 - 1.015625


@pytest.mark.parametrize("dtype", [F32, BF16, DType.F16])
def test_infinities_of_empty_reductions_cancel_to_nan(dtype: DType) -> None:
    least = Reduce("min", F32, ((1, Dim.of(Q)),), (access(0, 0, 1, dtype=dtype),), dtype)
    module = built([tensor(B, Q, dtype=dtype)], dims(B), Apply("sub", (least, least), dtype))
    operands = [np.ones((2, 0), NUMPY[dtype])]
    (found,) = run(module, operands)
    assert_same(found, np.full(2, np.nan, NUMPY[dtype]))
    (op,) = module.functions["main"].body
    assert_same(evaluate(op, operands, {B: 2, Q: 0}), found)


@pytest.mark.parametrize("extent", [0, 1])
def test_a_sum_of_no_products_is_zero_whatever_the_factors(extent: int) -> None:
    body = total(1, K, access(0, 1), access(1, 0), access(2, 0))
    module = built([tensor(K), tensor(B), tensor(B)], dims(B), body)
    operands = [np.zeros(extent), np.ones(2), np.full(2, np.inf)]
    operands = [x.astype(np.float32) for x in operands]
    (found,) = run(module, operands)
    assert_same(found, np.full(2, np.nan if extent else 0, np.float32))
    (op,) = module.functions["main"].body
    assert_same(evaluate(op, operands, {B: 2, K: extent}), found)


ROW, COLUMN, SCALAR = access(1, 0, dtype=I64), access(2, 2, dtype=I64), Operand(3, I64)
ALWAYS = {(2, 3), (2, 0), (0, 3), (0, 0)}


@pytest.mark.parametrize(
    ("read", "seen"),
    [
        # A factor under a sum over K at every B, and the (B, K) under which its position counts.
        (access(0, ROW, 2), {(2, 3), (2, 0)}),
        (access(4, ROW), {(2, 3), (2, 0)}),
        (access(0, COLUMN, 2), {(2, 3), (0, 3)}),
        (access(4, COLUMN), {(2, 3), (0, 3)}),
        (access(0, SCALAR, 2), ALWAYS),
        (access(4, SCALAR), ALWAYS),
        (access(4, Apply("add", (ROW, COLUMN), I64)), {(2, 3)}),
    ],
)
@pytest.mark.parametrize("sizes", sorted(ALWAYS))
def test_a_position_counts_where_the_indices_have_values_that_it_depends_on(
    read: Access, seen: set[tuple[int, int]], sizes: tuple[int, int]
) -> None:
    b, k = sizes
    four = Type(F32, (Dim.of(4), Dim.of(K)))
    types = [four, tensor(B, dtype=I64), tensor(K, dtype=I64), Type(I64), Type(F32, (Dim.of(4),))]
    module = built([*types, tensor(K)], dims(B), total(2, K, read, access(5, 2)))
    verify(module)
    for position in (1, 9):
        at = [np.full(shape, position) for shape in ((b,), (k,), ())]
        args = [np.ones((4, k), np.float32), *at, np.ones(4, np.float32), np.ones(k, np.float32)]
        if position == 9 and sizes in seen:
            with pytest.raises(RuntimeFault, match="is out of range for axis 0 of 4"):
                run(module, args)
        else:
            assert run(module, args)[0].tolist() == [k] * b


def test_regions_are_vectorized() -> None:
    b = Builder()
    x = b.param(tensor(B))
    inner = b.nested()
    inner.param(Type(I64))
    carried = inner.param(tensor(B))
    attrs = {"indices": tuple(dims(B)), "expr": times(access(0, 0), Const("2.0", F32))}
    z = inner.emit("indexed", [carried], tensor(B), attrs)
    bounds: dict[str, Any] = {"start": Dim.of(0), "stop": Dim.of(3)}
    y = b.emit("loop", [x], tensor(B), bounds, [inner.region([z])])
    module = Module("main", (B,), {"main": b.function("main", None, [y])})
    (loop,) = ops_of(module)
    assert [op.name for op in loop.regions[0].body] == ["constant", "broadcast", "mul"]
    (found,) = run(module, [np.array([1.0, 3.0], np.float32)])
    assert found.tolist() == [8.0, 24.0]


def test_deep_and_shared_expressions() -> None:
    deep: Scalar = access(0, 0)
    for _ in range(3000):
        deep = Apply("neg", (deep,), F32)
    assert len(ops_of(built([tensor(B)], dims(B), deep))) == 3000
    shared: Scalar = access(0, 0)
    for _ in range(60):
        shared = Apply("add", (shared, shared), F32)
    module = built([tensor(B)], dims(B), shared)
    assert [op.name for op in ops_of(module)] == ["add"] * 60
    (found,) = run(module, [np.array([1.0], np.float32)])
    assert found.tolist() == [2.0**60]


def test_equal_expressions_are_emitted_once() -> None:
    def double() -> Scalar:
        return Apply("add", (access(0, 0), access(0, 0)), F32)

    ops = ops_of(built([tensor(B)], dims(B), times(double(), double())))
    assert [op.name for op in ops] == ["add", "mul"]
    assert ops[1].operands == (ops[0].results[0], ops[0].results[0])


def test_constants_that_python_finds_equal_are_not() -> None:
    one, true = Const(1, DType.I64), Const(True, DType.BOOL)
    expr = Apply("add", (one, Apply("cast", (true,), I64)), I64)
    ops = ops_of(built([], [], expr))
    assert [op.name for op in ops] == ["constant", "constant", "cast", "add"]
