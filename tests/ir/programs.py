"""Random modules of functions that call each other, on blocks inside blocks, with state."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from hypothesis import strategies as st

from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.core import Function, Module, Region, Value
from linnet.ir.types import Type

X, I64, BOOL = Type(DType.F32, (Dim.of(2),)), Type(DType.I64), Type(DType.BOOL)
BINARY = ("add", "sub", "mul", "div", "max")
ARRAY = ("layers",)
Loops = tuple[str, ...]


class Weights(dict[str, np.ndarray[Any, Any]]):
    """A weight for every path, each with numbers of its own."""

    def __missing__(self, path: str) -> np.ndarray[Any, Any]:
        random = np.random.default_rng(zlib.crc32(path.encode()))
        return random.normal(size=2).astype(np.float32)

    def __contains__(self, path: object) -> bool:
        return True


class _Maker:
    """Draws the functions of one module, callees first."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self.functions: list[Function] = []

    def _number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def _choose(self, options: Any) -> Any:
        return self._draw(st.sampled_from(list(options)))

    def function(self, name: str) -> None:
        b = Builder()
        values = [b.param(X) for _ in range(self._number(1, 2))]
        self._steps(b, values, 2, ())
        results = [self._choose(values) for _ in range(self._number(1, 2))]
        self.functions.append(b.function(name, None, results))

    def _steps(self, b: Builder, values: list[Value], depth: int, loops: Loops) -> None:
        """Some operations; what they give is added to `values`."""
        steps = [self._binary, self._param, self._read, self._write, self._call, self._call]
        if depth:
            steps += [self._if, self._each, self._loop, self._while]
        for _ in range(self._number(1, 4)):
            self._choose(steps)(b, values, depth, loops)

    def _binary(self, b: Builder, values: list[Value], depth: int, loops: Loops) -> None:
        operands = [self._choose(values), self._choose(values)]
        values.append(b.emit(self._choose(BINARY), operands, X))

    def _block(self, loops: Loops) -> tuple[str | int, ...]:
        blocks: list[tuple[str | int, ...]] = [(), ("sub",), (*ARRAY, 1)]
        return self._choose([*blocks, *((*ARRAY, f"${v}") for v in loops)])

    def _param(self, b: Builder, values: list[Value], depth: int, loops: Loops) -> None:
        values.append(b.emit("param", [], X, {"path": (*self._block(loops), "w")}))

    def _read(self, b: Builder, values: list[Value], depth: int, loops: Loops) -> None:
        values.append(b.emit("state_read", [], X, {"path": (*self._block(loops), "n")}))

    def _write(self, b: Builder, values: list[Value], depth: int, loops: Loops) -> None:
        path = (*self._block(loops), "n")
        b.emit_all("state_write", [self._choose(values)], [], {"path": path})

    def _call(self, b: Builder, values: list[Value], depth: int, loops: Loops) -> None:
        if not self.functions:
            return
        callee: Function = self._choose(self.functions)
        operands = [self._choose(values) for _ in callee.params]
        attrs = {"callee": callee.name, "at": self._block(loops)}
        values += b.emit_all("call", operands, [X] * len(callee.results), attrs)

    # --- regions -------------------------------------------------------------

    def _region(
        self, b: Builder, values: list[Value], depth: int, loops: Loops, *params: Type
    ) -> Region:
        """One that gives an X, of those outside and of its own."""
        inner = b.nested()
        known = [*values, *(v for t in params if (v := inner.param(t)).type == X)]
        self._steps(inner, known, depth - 1, loops)
        return inner.region([self._choose(known)])

    def _if(self, b: Builder, values: list[Value], depth: int, loops: Loops) -> None:
        element = b.emit(
            "index",
            [self._choose(values), b.constant(0, DType.I64)],
            Type(DType.F32),
            {"axes": (0,)},
        )
        condition = b.emit("gt", [element, b.constant("0.5", DType.F32)], BOOL)
        regions = [self._region(b, values, depth, loops) for _ in range(2)]
        values.append(b.emit("if", [condition], X, regions=regions))

    def _each(self, b: Builder, values: list[Value], depth: int, loops: Loops) -> None:
        var = self._choose([v for v in ("a", "b", "a_") if v not in loops])
        attrs: dict[str, Any] = {"array": ARRAY, "count": Dim.of(2), "var": var}
        region = self._region(b, values, depth, (*loops, var), X)
        values.append(b.emit("each", [self._choose(values)], X, attrs, [region]))

    def _loop(self, b: Builder, values: list[Value], depth: int, loops: Loops) -> None:
        attrs: dict[str, Any] = {"start": Dim.of(0), "stop": Dim.of(self._number(0, 2))}
        region = self._region(b, values, depth, loops, I64, X)
        values.append(b.emit("loop", [self._choose(values)], X, attrs, [region]))

    def _while(self, b: Builder, values: list[Value], depth: int, loops: Loops) -> None:
        """Twice."""
        head, body = b.nested(), b.nested()
        count, _ = head.param(I64), head.param(X)
        more = head.emit("lt", [count, head.constant(2, DType.I64)], BOOL)
        count, carried = body.param(I64), body.param(X)
        known = [*values, carried]
        self._steps(body, known, depth - 1, loops)
        after = body.emit("add", [count, body.constant(1, DType.I64)], I64)
        regions = [head.region([more]), body.region([after, self._choose(known)])]
        start = [b.constant(0, DType.I64), self._choose(values)]
        values.append(b.emit_all("while", start, [I64, X], regions=regions)[1])


@st.composite
def modules(draw: st.DrawFn) -> Module:
    """A module of up to five functions; the entry is the last, and calls any of them."""
    maker = _Maker(draw)
    names = [*(f"f{k}" for k in range(draw(st.integers(1, 4)))), "main"]
    for name in names:
        maker.function(name)
    return Module("main", (), {f.name: f for f in maker.functions})
