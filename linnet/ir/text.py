"""The text form of a module, which `parse.py` reads back.

    module main
    symbols B, K

    function main(%x.0: tensor[B, K; f32]) -> %y.1 {
      %y.1: tensor[B; f32] = reduce(%x.0) {op: sum, axes: [1], accumulator: f32} @ "a.linnet:3"
    }

A value is its number behind the name that it has for people. Symbols and dtype generics
that share a name are told apart by `~1`, `~2`, ...
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from linnet.dims.atoms import sorted_symbols
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import BY_NAME, AnyDType, DType, DTypeVar
from linnet.ir.core import Function, Module, Operation, Region, Value
from linnet.ir.library import Absent, Argument, GenericArg, Known, LibraryOp, Parts
from linnet.ir.ops import OPS, AttrKind
from linnet.ir.places import shown
from linnet.ir.scalar import (
    Access,
    Apply,
    Const,
    DimValue,
    Index,
    Operand,
    Reduce,
    Scalar,
    children,
    inside_out,
)
from linnet.ir.types import Type

WORD = re.compile(r"[A-Za-z_$](?:[\w$]|(?:::|\.)(?=[\w$]))*")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def show(module: Module) -> str:
    """The text of a module."""
    return _Printer(renumber=False).module(module)


def same(a: Module, b: Module) -> bool:
    """Whether two modules are equal but for the identity of their symbols and dtype generics,
    the numbers of their values, and what is not compared: names for people, and places."""
    return _Printer(renumber=True).module(a) == _Printer(renumber=True).module(b)


class _Names:
    """Different names for different things, none of them one of `taken`."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._names: dict[Symbol | DTypeVar, str] = {}
        self._used: dict[str, int] = dict.fromkeys(taken, 1)

    def of(self, thing: Symbol | DTypeVar) -> str:
        if thing not in self._names:
            number = self._used.get(thing.name, 0)
            self._used[thing.name] = number + 1
            self._names[thing] = f"{thing.name}~{number}" if number else thing.name
        return self._names[thing]


class _Printer:
    """Prints one module. `renumber`: values in the order of their definitions, without what is
    not compared."""

    def __init__(self, renumber: bool) -> None:
        self._renumber = renumber
        self._symbols = _Names()
        self._renamed: dict[Symbol, Dim] = {}
        self._dtypes = _Names(("tensor", *BY_NAME))
        self._variables: dict[str, str] = {}
        self._numbers: dict[int, int] = {}

    def module(self, module: Module) -> str:
        symbols = [("*" if s.pack else "") + self._symbol(s) for s in module.symbols]
        order = sorted(module.functions) if self._renumber else list(module.functions)
        bodies = ["\n".join(self._function(module.functions[name])) for name in order]
        head = [f"module {word(module.entry)}"]
        if symbols:
            head.append(f"symbols {', '.join(symbols)}")
        if self._variables:
            head.append("dtypes " + ", ".join(f"{n}: {k}" for n, k in self._variables.items()))
        return "\n\n".join(["\n".join(head), *bodies]) + "\n"

    def _function(self, function: Function) -> Iterator[str]:
        self._numbers.clear()
        params = self._definitions(function.params)
        op = f" of {self._op(function.op)}" if function.op is not None else ""
        body = list(self._body(function.body, "  "))
        yield f"function {word(function.name)}({params}){op} {{"
        yield from body
        yield f"  return {self._uses(function.results)}".rstrip()
        yield "}"

    def _op(self, op: LibraryOp) -> str:
        generics = f"<{self._list(self._generic, op.generics)}>" if op.generics else ""
        return word(op.name) + generics + (self._arguments(op.params) if op.params else "")

    def _generic(self, generic: tuple[str, GenericArg]) -> str:
        name, arg = generic
        match arg:
            case Dim():
                return f"{word(name)} = {self._dim(arg)}"
            case tuple():
                return f"{word(name)} = [{self._list(self._dim, arg)}]"
            case DType() | DTypeVar():
                return f"{word(name)}: {self._dtype(arg)}"

    def _arguments(self, items: Iterable[tuple[str, Argument]]) -> str:
        return f"({self._list(lambda i: f'{word(i[0])}: {self._argument(i[1])}', items)})"

    def _argument(self, argument: Argument) -> str:
        match argument:
            case int():
                return str(argument)
            case Absent():
                return "none"
            case Known():
                return f"variant {word(argument.variant)}"
            case Parts():
                return self._arguments(argument.items)

    def _body(self, body: Iterable[Operation], indent: str) -> Iterator[str]:
        for op in body:
            yield from self._operation(op, indent)

    def _operation(self, op: Operation, indent: str) -> Iterator[str]:
        line = f"{op.name}({self._uses(op.operands)})"
        kinds = OPS[op.name].attrs
        if kinds:
            attrs = [
                f"{n}: {self._attr(k, op.attrs[n])}" for n, k in kinds.items() if n in op.attrs
            ]
            line += f" {{{', '.join(attrs)}}}"
        if op.place and not self._renumber:
            line += f" @ {json.dumps(shown(op.place))}"
        inner = [self._region(r, indent + "  ") for r in op.regions]
        results = self._definitions(op.results)
        yield indent + (f"{results} = " if results else "") + line
        for lines in inner:
            yield from lines

    def _region(self, region: Region, indent: str) -> list[str]:
        lines = [f"{indent}({self._definitions(region.params)}) {{"]
        lines += self._body(region.body, indent + "  ")
        lines.append(f"{indent}  yield {self._uses(region.yields)}".rstrip())
        return [*lines, indent + "}"]

    # --- values and types ----------------------------------------------------

    def _definitions(self, values: Iterable[Value]) -> str:
        for value in values:
            self._numbers[value.id] = len(self._numbers) if self._renumber else value.id
        return ", ".join(f"{self._value(v)}: {self._type(v.type)}" for v in values)

    def _uses(self, values: Iterable[Value]) -> str:
        return ", ".join(map(self._value, values))

    def _value(self, value: Value) -> str:
        number = self._numbers.get(value.id, value.id)
        named = not self._renumber and IDENTIFIER.fullmatch(value.hint)
        return f"%{value.hint}.{number}" if named else f"%{number}"

    def _type(self, type: Type) -> str:
        if type.dims is None:
            return self._dtype(type.dtype)
        return f"tensor[{self._list(self._dim, type.dims)}; {self._dtype(type.dtype)}]"

    def _dtype(self, dtype: AnyDType) -> str:
        if isinstance(dtype, DType):
            return str(dtype)
        name = self._dtypes.of(dtype)
        self._variables[name] = dtype.kind
        return name

    def _symbol(self, symbol: Symbol) -> str:
        name = self._symbols.of(symbol)
        self._renamed[symbol] = Dim.of(Symbol(name, symbol.pack))
        return name

    def _dim(self, dim: Dim) -> str:
        for symbol in sorted_symbols(dim.symbols() - self._renamed.keys()):
            self._symbol(symbol)
        return str(dim.substitute(self._renamed))

    # --- attributes ----------------------------------------------------------

    def _list(self, show_one: Callable[[Any], str], items: Iterable[Any]) -> str:
        return ", ".join(map(show_one, items))

    def _attr(self, kind: AttrKind, value: Any) -> str:
        match kind:
            case "int":
                return str(value)
            case "literal":
                return json.dumps(value)
            case "ints":
                return f"[{self._list(str, value)}]"
            case "intlists":
                return f"[{self._list(lambda ints: self._attr('ints', ints), value)}]"
            case "dim":
                return self._dim(value)
            case "dims":
                return f"[{self._list(self._dim, value)}]"
            case "dtype":
                return self._dtype(value)
            case "name":
                return word(value)
            case "path":
                return f"[{self._list(part, value)}]"
            case "sources":
                return f"[{self._list(lambda source: f'{source[0]} {source[1]}', value)}]"
            case "bindings":
                pairs = [f"{self._symbol(s)} = {self._dim(d)}" for s, d in value]
                return f"[{', '.join(pairs)}]"
            case "scalar":
                return self._scalar(value)

    def _scalar(self, expr: Scalar) -> str:
        """Each object once, the innermost first: a deep expression needs no deep stack."""
        known: dict[int, str] = {}
        for e in inside_out(expr):
            known[id(e)] = self._shown(e, [known[id(c)] for c in children(e)])
        return known[id(expr)]

    def _shown(self, expr: Scalar, inner: Sequence[str]) -> str:
        """`expr`, with the texts of the expressions directly inside."""
        match expr:
            case Const():
                text = json.dumps(expr.value)
            case DimValue():
                text = f"dim({self._dim(expr.dim)})"
            case Operand():
                text = f"${expr.operand}"
            case Index():
                text = f"#{expr.index}"
            case Access():
                text = f"${expr.operand}[{', '.join(inner)}]"
            case Apply():
                text = f"{expr.fn}({', '.join(inner)})"
            case Reduce():
                indices = self._list(lambda i: f"#{i[0]} < {self._dim(i[1])}", expr.indices)
                accumulator = self._dtype(expr.accumulator)
                text = f"{expr.op}<{accumulator}>[{indices}]({', '.join(inner)})"
        return f"{text}:{self._dtype(expr.dtype)}"


def word(text: str) -> str:
    """A name as it is, or in quotes where it is no plain word."""
    return text if WORD.fullmatch(text) else json.dumps(text)


def part(element: str | int) -> str:
    """An element of a path."""
    return str(element) if isinstance(element, int) else word(element)
