"""A function with dimensions in place of its symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from linnet.dims.dims import Dim, Symbol
from linnet.ir.core import Function, Operation, Region, Value
from linnet.ir.library import GenericArg, LibraryOp
from linnet.ir.ops import OPS, AttrKind
from linnet.ir.scalar import Access, Apply, DimValue, Reduce, Scalar, inside_out

Names = Mapping[Symbol, Dim]


def as_called(callee: Function, call: Operation) -> Function:
    """`callee` over the symbols of the function in which `call` stands."""
    generics = call.attrs.get("generics", ())
    return Under(dict(generics), keep=True).function(callee) if generics else callee


@dataclass(frozen=True, slots=True)
class Under:
    """Rewrites a function; `keep`: with the generics of its calls."""

    names: Names
    keep: bool

    def function(self, function: Function) -> Function:
        op = function.op
        return replace(
            function,
            op=None if op is None else replace(op, generics=self._generics(op)),
            params=self._values(function.params),
            body=self._body(function.body),
            results=self._values(function.results),
        )

    def _generics(self, op: LibraryOp) -> tuple[tuple[str, GenericArg], ...]:
        return tuple((name, self._generic(arg)) for name, arg in op.generics)

    def _generic(self, arg: GenericArg) -> GenericArg:
        if isinstance(arg, Dim):
            return arg.substitute(self.names)
        return self._dims(arg) if isinstance(arg, tuple) else arg

    def _dims(self, dims: Iterable[Dim]) -> tuple[Dim, ...]:
        return tuple(d.substitute(self.names) for d in dims)

    def _values(self, values: Iterable[Value]) -> tuple[Value, ...]:
        return tuple(Value(v.id, v.type.under(self.names), v.hint) for v in values)

    def _body(self, body: Iterable[Operation]) -> tuple[Operation, ...]:
        return tuple(map(self._operation, body))

    def _operation(self, op: Operation) -> Operation:
        kinds = OPS[op.name].attrs
        attrs = {
            name: self._attr(kinds[name], value)
            for name, value in op.attrs.items()
            if self.keep or kinds[name] != "bindings"
        }
        return Operation(
            op.name,
            self._values(op.operands),
            self._values(op.results),
            attrs,
            tuple(map(self._region, op.regions)),
            op.place,
        )

    def _region(self, region: Region) -> Region:
        return Region(
            self._values(region.params), self._body(region.body), self._values(region.yields)
        )

    def _attr(self, kind: AttrKind, value: Any) -> Any:
        match kind:
            case "dim":
                return value.substitute(self.names)
            case "dims":
                return self._dims(value)
            case "bindings":
                return tuple((symbol, dim.substitute(self.names)) for symbol, dim in value)
            case "scalar":
                return self._scalar(value)
            case _:
                return value

    def _scalar(self, expr: Scalar) -> Scalar:
        done: dict[int, Scalar] = {}

        def inner(of: Iterable[Scalar]) -> tuple[Scalar, ...]:
            return tuple(done[id(e)] for e in of)

        for found in inside_out(expr):
            match found:
                case DimValue():
                    new = replace(found, dim=found.dim.substitute(self.names))
                case Access():
                    new = replace(found, positions=inner(found.positions))
                case Apply():
                    new = replace(found, args=inner(found.args))
                case Reduce():
                    indices = tuple((i, d.substitute(self.names)) for i, d in found.indices)
                    new = replace(found, indices=indices, factors=inner(found.factors))
                case _:
                    new = found
            done[id(found)] = new
        return done[id(expr)]
