"""Says what is wrong with a module: values used before they are defined, rows broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Facts
from linnet.dtypes import DType, DTypeVar
from linnet.ir.core import Function, Module, Operation, Region, Value
from linnet.ir.expressions import dims_of
from linnet.ir.library import LibraryOp, positions
from linnet.ir.ops import ELEMENTWISE, OPS, AttrKind, Row
from linnet.ir.paths import Path, check_loop, check_path
from linnet.ir.places import shown
from linnet.ir.rules import Context, Rule, same_dim
from linnet.ir.scalar import Access, Apply, Const, DimValue, Index, Operand, Reduce
from linnet.ir.types import Type
from linnet.ir.walk import operations


class VerifyError(Exception):
    """A module that breaks the rules of the IR: a fault of whoever made it, not of a user."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def verify(module: Module, facts: Facts | None = None) -> None:
    """Raises `VerifyError` if anything is wrong; `facts` say which extents are equal."""
    found = problems(module, facts)
    if found:
        raise VerifyError(found)


def problems(module: Module, facts: Facts | None = None) -> list[str]:
    """A sentence for everything that is wrong, led by the function and operation."""
    equal = same_dim if facts is None else facts.equal
    context = Context(equal, module.functions, _elementwise())
    return [*_whole(module), *_functions(module, context)]


def _elementwise() -> dict[str, tuple[int, Rule]]:
    rows = (OPS[name] for name in ELEMENTWISE)
    return {r.name: (r.arity, r.rule) for r in rows if isinstance(r.arity, int)}


def _functions(module: Module, context: Context) -> Iterator[str]:
    for function in module.functions.values():
        checker = _Checker(module, context, function)
        for problem in checker.function():
            yield f"{function.name}: {problem}"


def _whole(module: Module) -> Iterator[str]:
    if module.entry not in module.functions:
        yield f"the entry {module.entry!r} is not a function"
    names = [s.name for s in module.symbols]
    if len(set(module.symbols)) < len(names):
        yield f"a symbol is listed twice among {names}"
    for name, function in module.functions.items():
        if name != function.name:
            yield f"function {function.name} is listed as {name}"
    callees = {name: set(_callees(f.body)) for name, f in module.functions.items()}
    while leaves := [name for name, called in callees.items() if not called & callees.keys()]:
        for name in leaves:
            del callees[name]
    if callees:
        yield f"these functions call each other: {sorted(callees)}"


def _callees(body: Iterable[Operation]) -> Iterator[str]:
    # A call that names none is the row's matter.
    return (op.attrs.get("callee", "") for op in operations(body) if op.name == "call")


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is defined here, and the arrays that the variables of enclosing `each`es go through."""

    values: dict[int, Value]
    loops: Mapping[str, Path] = field(default_factory=dict[str, Path])

    def inner(self, op: Operation) -> _Scope:
        """The scope of a region of `op`."""
        own = {f"${op.attrs['var']}": op.attrs["array"]} if op.name == "each" else {}
        return _Scope(dict(self.values), {**self.loops, **own})


class _Checker:
    """Checks one function."""

    def __init__(self, module: Module, context: Context, function: Function) -> None:
        self._module = module
        self._context = context
        self._symbols = frozenset(module.symbols)
        self._seen: set[int] = set()
        self._members: dict[Path, tuple[str, Type]] = {}
        self._top = function

    def function(self) -> Iterator[str]:
        """Every problem of the function."""
        scope = _Scope({})
        yield from self._define(self._top.params, scope)
        yield from self._body(self._top.body, scope)
        yield from self._use(self._top.results, scope, "the result")
        if self._top.op is not None:
            yield from self._op(self._top.op)

    def _op(self, op: LibraryOp) -> Iterator[str]:
        """The op's generics are over the module's symbols; its arguments are the parameters."""
        for what, items in (("generic", op.generics), ("parameter", op.params)):
            names = [name for name, _ in items]
            if len(set(names)) < len(names):
                yield f"a {what} of {op.name} is named twice among {names}"
        for _, arg in op.generics:
            if isinstance(arg, Dim | tuple):
                yield from self._extents(arg if isinstance(arg, tuple) else (arg,))
        found = [p for _, argument in op.params for p in positions(argument)]
        if found != list(range(len(self._top.params))):
            yield f"{op.name} is passed {found} of {len(self._top.params)} parameters"

    def _define(self, values: Iterable[Value], scope: _Scope) -> Iterator[str]:
        for value in values:
            if value.id in self._seen:
                yield f"%{value.id} is defined twice"
            self._seen.add(value.id)
            scope.values[value.id] = value
            yield from self._extents(value.type.shape)
            if value.type.dims == ():
                yield f"%{value.id} is a tensor without axes, which is a scalar"

    def _extents(self, dims: Iterable[Dim]) -> Iterator[str]:
        for d in dims:
            number = d.as_int()
            if number is not None and number < 0:
                yield f"the extent {d} is negative"
        yield from self._dims(dims)

    def _dims(self, dims: Iterable[Dim]) -> Iterator[str]:
        for d in dims:
            for symbol in d.symbols() - self._symbols:
                yield f"{symbol} is no symbol of the module"

    def _use(self, values: Iterable[Value], scope: _Scope, what: str) -> Iterator[str]:
        for value in values:
            definition = scope.values.get(value.id)
            if definition is None:
                yield f"{what} %{value.id} is not defined here"
            elif definition != value:
                yield f"{what} %{value.id} is {value.type}, defined as {definition.type}"

    def _body(self, body: Iterable[Operation], scope: _Scope) -> Iterator[str]:
        for op in body:
            for problem in self._operation(op, scope):
                where = f" ({shown(op.place)})" if op.place else ""
                yield f"{op.name}{where}: {problem}"
            yield from self._define(op.results, scope)

    def _operation(self, op: Operation, scope: _Scope) -> Iterator[str]:
        yield from self._use(op.operands, scope, "operand")
        row = OPS.get(op.name)
        if row is None:
            yield "there is no such operation"
            return
        broken = [*_outline(op, row)]
        if broken:
            yield from broken
            return
        yield from self._row(op, row, scope)
        for region in op.regions:
            yield from self._region(region, scope.inner(op))

    def _row(self, op: Operation, row: Row, scope: _Scope) -> Iterator[str]:
        for name in op.attrs:
            kind = row.attrs[name]
            if kind == "path":
                yield from check_path(op.attrs[name], scope.loops, member=name != "at")
            elif kind == "dim":
                yield from self._dims([op.attrs[name]])
            elif kind == "dims":
                yield from self._dims(op.attrs[name])
            elif kind == "bindings":
                yield from self._dims([d for s, d in op.attrs[name] for d in (Dim.of(s), d)])
            elif kind == "scalar":
                yield from self._dims(dims_of(op.attrs[name]))
        if op.name == "each":
            yield from check_loop(op.attrs["var"], scope.loops)
            yield from self._extents([op.attrs["count"]])
        if "path" in row.attrs:
            yield from self._member(op)
        yield from row.rule(op, self._context)

    def _member(self, op: Operation) -> Iterator[str]:
        """A member is of one kind and type wherever the function reads or writes it."""
        (value,) = op.results or op.operands
        kind = "param" if op.name == "param" else "state"
        path: Path = op.attrs["path"]
        known, type = self._members.setdefault(path, (kind, value.type))
        if known != kind:
            yield f"{path} is a {known} elsewhere"
        if not self._context.same_type(type, value.type):
            yield f"{path} is {type} elsewhere, not {value.type}"

    def _region(self, region: Region, scope: _Scope) -> Iterator[str]:
        yield from self._define(region.params, scope)
        yield from self._body(region.body, scope)
        yield from self._use(region.yields, scope, "yielded")


def _outline(op: Operation, row: Row) -> Iterator[str]:
    """Arity, attributes and regions, which rules rely on."""
    for what, have, want in (
        ("operands", len(op.operands), row.arity),
        ("results", len(op.results), row.results),
    ):
        least = want if isinstance(want, int) else want[0]
        if have < least or (isinstance(want, int) and have > want):
            yield f"has {have} {what}, the row says {want}"
    if len(op.regions) != row.regions:
        yield f"has {len(op.regions)} regions, not {row.regions}"
    if op.name == "if" and any(r.params for r in op.regions):
        yield "its regions have parameters"
    if not set(row.attrs) - row.optional <= set(op.attrs) <= set(row.attrs):
        yield f"has attributes {sorted(op.attrs)}, not {sorted(row.attrs)}"
        return
    for name, kind in row.attrs.items():
        if name in op.attrs and not KINDS[kind](op.attrs[name]):
            yield f"attribute {name} is {op.attrs[name]!r}, not of kind {kind}"


# --- attributes --------------------------------------------------------------


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _tuple_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(map(check, value))  # pyright: ignore


def _is_source(value: Any) -> bool:
    match value:
        case ("axis" | "index", number):
            return _is_int(number)
        case _:
            return False


def _is_binding(value: Any) -> bool:
    match value:
        case (Symbol(), Dim()):
            return True
        case _:
            return False


KINDS: dict[AttrKind, Callable[[Any], bool]] = {
    "literal": lambda value: isinstance(value, int | bool | str),
    "int": _is_int,
    "ints": _tuple_of(_is_int),
    "intlists": _tuple_of(_tuple_of(_is_int)),
    "dim": lambda value: isinstance(value, Dim),
    "dims": _tuple_of(lambda value: isinstance(value, Dim)),
    "dtype": lambda value: isinstance(value, DType | DTypeVar),
    "name": lambda value: isinstance(value, str),
    "path": _tuple_of(lambda value: isinstance(value, str) or _is_int(value)),
    "sources": _tuple_of(_is_source),
    "bindings": _tuple_of(_is_binding),
    "scalar": lambda value: isinstance(
        value, Const | DimValue | Operand | Index | Access | Apply | Reduce
    ),
}
