"""A module in which every operation occurs."""

from __future__ import annotations

from typing import Any

from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.core import Function, Module, Value
from linnet.ir.library import Absent, Known, LibraryOp, Parts
from linnet.ir.scalar import Access, Index
from linnet.ir.types import Type

F32, I64, BOOL = DType.F32, DType.I64, DType.BOOL
N = Symbol("N")
D = Dim.of


def tensor(*dims: int | Symbol | Dim, dtype: DType = F32) -> Type:
    return Type(dtype, tuple(map(D, dims)))


def everything() -> Module:
    """Well formed; not meant to be run."""
    functions = [elementwise(), shapes(), sums(), structure()]
    return Module("structure", (N,), {f.name: f for f in functions})


def elementwise() -> Function:
    b = Builder()
    x, i = b.param(tensor(N), "x"), b.param(tensor(N, dtype=I64), "i")
    for name in ("neg", "abs", "exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh"):
        x = b.emit(name, [x], x.type)
    for name in ("add", "sub", "mul", "div", "rem", "min", "max"):
        x = b.emit(name, [x, x], x.type)
    for name in ("and", "or", "xor", "shl", "shr"):
        i = b.emit(name, [i, i], i.type)
    less = tensor(N, dtype=BOOL)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        c = b.emit(name, [x, x], less)
        x = b.emit("select", [b.emit("not", [c], less), x, x], x.type)
    given = Parts((("x", 0), ("none", Absent()), ("how", Known("Mean")), ("i", 1)))
    generics = (("N", D(N)), ("S", (D(N), D(4))), ("empty", ()), ("T", F32))
    op = LibraryOp("std.math::f", generics, (("of", given), ("by", Absent())))
    return b.function("elementwise", op, [b.emit("cast", [i], tensor(N))])


def shapes() -> Function:
    b = Builder()
    x = b.param(tensor(N, 4), "x")
    b.emit("fill", [b.constant("1.5", F32)], tensor(2, N))
    at = b.emit("iota", [], tensor(N, dtype=I64))
    row = b.emit("index", [x, b.dim(D(N) - 1, I64)], tensor(4), {"axes": (0,)})
    b.emit("broadcast", [row], tensor(N, 4), {"axes": (1,)})
    t = b.emit("permute", [x], tensor(4, N), {"axes": (1, 0)})
    b.emit("reshape", [t], tensor(2, 2 * D(N)))
    cut = {"start": (D(1), D(0)), "stop": (D(N), D(4)), "step": (1, 2)}
    b.emit("slice", [x], tensor(D(N) - 1, 2), cut)
    b.emit("concat", [x, x], tensor(2 * D(N), 4), {"axis": 0})
    spread = b.emit("reshape", [at], tensor(N, 1, dtype=I64))
    sources = {"axes": (("index", 0), ("axis", 1))}
    return b.function("shapes", None, [b.emit("gather", [x, spread], tensor(N, 4), sources)])


def sums() -> Function:
    b = Builder()
    x = b.param(tensor(N, 4), "x")
    attrs = {"op": "max", "axes": (1,), "accumulator": F32}
    y = b.emit("reduce", [x], tensor(N), attrs)
    attrs = {"inputs": ((0, 1), (0,)), "output": (1,), "accumulator": F32}
    b.emit("contract", [x, y], tensor(4), attrs)
    b.emit("cumsum", [x], x.type, {"axis": 1, "accumulator": F32})
    expr = Access(0, (Index(1, I64), Index(0, I64)), F32)
    attrs = {"indices": (D(4), D(N)), "expr": expr}
    return b.function("sums", None, [b.emit("indexed", [x], tensor(4, N), attrs)])


def structure() -> Function:
    b = Builder()
    x, go = b.param(tensor(N, 4), "x"), b.param(Type(BOOL), "go")
    w = b.emit("param", [], x.type, {"path": ("norm", "weight")})
    k = b.emit("state_read", [], x.type, {"path": ("cache", 0, "k")})
    y = b.emit("call", [k], tensor(4, N), {"callee": "sums", "at": ("sub",)})
    b.emit_all("state_write", [y], [], {"path": ("kept",)})
    z = either(b, go, w, x)
    z = until(b, z)
    return b.function("structure", None, [each(b, z), go])


def either(b: Builder, go: Value, w: Value, x: Value) -> Value:
    yes, no = b.nested(), b.nested()
    return b.emit("if", [go], x.type, regions=[yes.region([w]), no.region([x])])


def until(b: Builder, x: Value) -> Value:
    head, body = b.nested(), b.nested()
    head.param(x.type)
    stop = head.constant(False, BOOL)
    y = body.emit("neg", [body.param(x.type)], x.type)
    return b.emit("while", [x], x.type, regions=[head.region([stop]), body.region([y])])


def each(b: Builder, x: Value) -> Value:
    inner = b.nested()
    carried = inner.param(x.type)
    at: dict[str, Any] = {"path": ("layers", "$layer", "w")}
    w = inner.emit("param", [], x.type, at)
    y = inner.emit("add", [carried, w], x.type)
    innermost = inner.nested()
    innermost.param(Type(I64), "i")
    z = innermost.param(x.type)
    bounds = {"start": D(0), "stop": D(N)}
    y = inner.emit("loop", [y], x.type, bounds, [innermost.region([z])])
    attrs = {"array": ("layers",), "count": D(N), "var": "layer"}
    return b.emit("each", [x], x.type, attrs, [inner.region([y])])
