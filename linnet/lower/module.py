"""From a typed program to a module of the tensor IR."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import currentframe

from linnet.check.typed import Program, TFunction, TGeneric, TLet, TParam, TStmt
from linnet.check.types import (
    EnumType,
    ErrorType,
    LiteralType,
    OptionalType,
    ScalarType,
    StructType,
    TensorType,
    TupleType,
)
from linnet.check.types import Type as CheckType
from linnet.check.walk import Faults, Uses
from linnet.dims.atoms import sorted_symbols
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DType
from linnet.ir.core import Function, Module, Value
from linnet.ir.passes.bind import bind as bind_symbols
from linnet.ir.types import Type
from linnet.ir.walk import without_unreached
from linnet.lower.bindings import Bound, GenericValue, bind, refuse_unknown
from linnet.lower.bundle import (
    Absent,
    Bundle,
    Group,
    Some,
    leaves,
    part_names,
    part_types,
    skeleton,
    structs_of,
)
from linnet.lower.context import Call, Lowered
from linnet.lower.fail import fail
from linnet.lower.function import FunctionLowerer
from linnet.lower.instances import entries
from linnet.lower.library import library_op
from linnet.lower.own_symbols import as_written, symbols_of
from linnet.lower.presence import Presence, presence_of
from linnet.lower.writes import Writes

Generics = Mapping[str, GenericValue]


@dataclass(frozen=True, slots=True)
class LoweredEntry:
    """What an entry lowers to: `module`, whose results are the leaves of `result`."""

    module: Module
    result: Bundle


def lower_entry(
    program: Program,
    root: str,
    generics: Generics | None,
    entry: str,
    present: Callable[[str], bool],
    given: Mapping[str, bool] | None = None,
) -> Module:
    """The module of `lowered_entry`."""
    return lowered_entry(program, root, generics, entry, present, given).module


def lowered_entry(
    program: Program,
    root: str,
    generics: Generics | None,
    entry: str,
    present: Callable[[str], bool],
    given: Mapping[str, bool] | None = None,
) -> LoweredEntry:
    """Lower `entry` of the block `root` and everything it calls.

    Generics that are not in `generics` take their defaults, else stay symbols. `present` says
    of the path of an optional member whether it is there. `given` says of a parameter of the
    entry whether it is a value or `none`, and so of an optional in one (`cache.mask`, `pair.0`); a
    parameter that it does not name takes its default, where it has one. Without `given`, optional
    ones with a default are `none`, and others are values.
    """
    module, done = _lower(_entry(program, root, generics, entry, present), given)
    return LoweredEntry(module, done.result)


def lower_entry_as_written(
    program: Program,
    root: str,
    generics: Generics | None,
    entry: str,
    present: Callable[[str], bool],
    given: Mapping[str, bool] | None = None,
    written: Functions | None = None,
) -> AsWritten:
    """As `lower_entry`, each function over symbols for its own generics. `written` is what entries
    of one root, its generics the same, have in common: it is lowered once."""
    return _as_written(_entry(program, root, generics, entry, present), given, written)


def lower_function(
    program: Program,
    key: str,
    generics: Generics | None = None,
    given: Mapping[str, bool] | None = None,
) -> Module:
    """Lower a function outside any block. A pack must be given, as a sequence of extents."""
    return _lower(_function(program, key, generics), given)[0]


def lower_function_as_written(
    program: Program,
    key: str,
    generics: Generics | None = None,
    given: Mapping[str, bool] | None = None,
) -> AsWritten:
    """As `lower_function`, each function over symbols for its own generics."""
    return _as_written(_function(program, key, generics), given)


@dataclass(frozen=True, slots=True)
class AsWritten:
    """A module whose functions have symbols for their own generics, as in the source, so that
    calls say what these are there; what the entry's stand for; and its result, whose leaves are
    the results of the module."""

    module: Module
    values: Mapping[Symbol, Dim]
    result: Bundle

    def bound(self) -> Module:
        """The module over the symbols that were left open."""
        return bind_symbols(self.module, self.values)


@dataclass(frozen=True, slots=True)
class _Start:
    """What is lowered, and the generics in scope there."""

    program: Program
    function: TFunction
    generics: Sequence[TGeneric]
    scope: Bound
    presence: Presence


def _entry(
    program: Program,
    root: str,
    generics: Generics | None,
    entry: str,
    present: Callable[[str], bool],
) -> _Start:
    block = program.blocks[root]
    key = block.methods.get(entry)
    if key is None or program.functions[key].kind != "entry":
        names = entries(program, root)
        has = f"it has {', '.join(names)}" if names else "it has none"
        fail("E2107", f"`{root}` has no entry `{entry}`", block.span, notes=(has,))
    function = program.functions[key]
    every = (*block.generics, *function.generics)
    refuse_unknown(every, generics or {}, root)
    scope = bind(every, generics or {})
    presence = presence_of(program, root, scope, present)
    return _Start(program, function, every, scope, presence)


def _function(program: Program, key: str, generics: Generics | None) -> _Start:
    function = program.functions[key]
    assert function.block is None, key
    refuse_unknown(function.generics, generics or {}, key)
    scope = bind(function.generics, generics or {})
    return _Start(program, function, function.generics, scope, ())


def _as_written(
    start: _Start, given: Mapping[str, bool] | None, written: Functions | None = None
) -> AsWritten:
    module, done = _lower(start, given, written or Functions.of(start.program, own_symbols=True))
    return AsWritten(module, dict(done.generics), done.result)


def _lower(
    start: _Start, given: Mapping[str, bool] | None, module: Functions | None = None
) -> tuple[Module, Lowered]:
    """The module, and what its entry is in it."""
    module = module or Functions.of(start.program)
    function = _with_defaults(start.function, given)
    args = tuple(
        _argument(p.local.type, p.local.name, given or {}, p.default is None)
        for p in function.params
    )
    try:
        entry = module.entry(Call(function, start.scope, start.presence, args, {}))
    except RecursionError:
        fail("E1104", f"the calls of `{function.key}` are nested too deeply", function.span)
    functions = {name: f for name, f in module.built.items() if f is not None}
    # What was tried first in a loop, or put in place of its call at the points of index notation.
    made = without_unreached(
        Module(entry.name, _open_symbols(start.generics, start.scope), functions)
    )
    if module.own_symbols:
        made = replace(made, symbols=symbols_of(made, entry.generics))
    return made, entry


def _with_defaults(function: TFunction, given: Mapping[str, bool] | None) -> TFunction:
    """The function that begins with the defaults of what is not given, in place of parameters."""
    if given is None:
        return function
    params: list[TParam] = []
    body: list[TStmt] = []
    for param in function.params:
        name = param.local.name
        if param.default is None or any(p.partition(".")[0] == name for p in given):
            params.append(param)
        else:
            body.append(TLet(param.local, param.default, param.local.span))
    return replace(function, params=tuple(params), body=(*body, *function.body))


def _argument(type_: CheckType, path: str, given: Mapping[str, bool], default: bool) -> Bundle:
    """The skeleton of an argument from outside; its types come with the declaration."""
    match type_:
        case OptionalType(inner):
            there = given.get(path, default)
            return Some(_argument(inner, path, given, there)) if there else Absent()
        case TupleType() | StructType():
            of = zip(part_names(type_), part_types(type_), strict=True)
            return Group(tuple(_argument(t, f"{path}.{name}", given, default) for name, t in of))
        case ScalarType() | TensorType() | EnumType():
            return Value(0, Type(DType.BOOL))
        case LiteralType() | ErrorType():
            raise AssertionError(type_)


def _open_symbols(generics: Sequence[TGeneric], scope: Bound) -> tuple[Symbol, ...]:
    found: dict[Symbol, None] = {}
    for generic in generics:
        arg = scope[generic.binder]
        for dim in arg if isinstance(arg, tuple) else (arg,):
            if isinstance(dim, Dim):
                found.update(dict.fromkeys(sorted_symbols(dim.symbols())))
    return tuple(found)


_Key = tuple[str, tuple[object, ...], Presence, tuple[Bundle, ...]]

# Frames of Python's stack. A function in which calls are nested as deep as the parser admits
# takes a few hundred; the stack has 1000, if nobody changed that.
_DEEP = 100


class _DeferredError(Exception):
    """A callee has to be lowered before its caller is: the stack is deep."""

    def __init__(self, request: Call) -> None:
        super().__init__()
        self.request = request


def _stack_depth() -> int:
    depth, frame = 0, currentframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


@dataclass(slots=True)
class Functions:
    """Every function is lowered once for each way in which it is called, as a rule while its
    first caller is. Where that would be too deep, the caller is begun again afterwards."""

    program: Program
    faults: Faults
    writes: Writes
    own_symbols: bool
    uses: Uses = field(default_factory=Uses)
    built: dict[str, Function | None] = field(default_factory=dict[str, "Function | None"])
    _known: dict[_Key, Lowered] = field(default_factory=dict[_Key, Lowered])
    _deepest: int = 0

    @staticmethod
    def of(program: Program, *, own_symbols: bool = False) -> Functions:
        """None so far. With `own_symbols` each is over symbols for its own generics."""
        return Functions(program, Faults(program), Writes(program), own_symbols)

    def entry(self, call: Call) -> Lowered:
        """Lower a function and all that it calls."""
        self._deepest = _stack_depth() + _DEEP
        waiting = [call]
        while True:
            try:
                done = self.lowered(waiting[-1])
            except _DeferredError as deferred:
                waiting.append(deferred.request)
                continue
            waiting.pop()
            if not waiting:
                return done

    def lowered(self, call: Call) -> Lowered:
        """The lowering of a function for what it is called with."""
        scope, generics = call.scope, ()
        if self.own_symbols:
            scope, generics = as_written(call.scope)
        numbers = {symbol: dim.substitute(call.numbers) for symbol, dim in generics}
        function = call.function
        body = FunctionLowerer(self, function, scope, call.presence, numbers)
        shapes = tuple(
            body.typed(arg, param.local.type, param.local.span)
            for arg, param in zip(call.args, function.params, strict=True)
        )
        key = (function.key, (*scope.items(), *numbers.items()), call.presence, shapes)
        if key not in self._known:
            if _stack_depth() > self._deepest:
                raise _DeferredError(call)
            self._known[key] = self._build(function, body, shapes)
        return replace(self._known[key], generics=generics)

    def function(self, name: str) -> Function:
        """What is in the module under the name of a `Lowered`."""
        found = self.built[name]
        assert found is not None, name
        return found

    def _build(
        self, function: TFunction, body: FunctionLowerer, shapes: tuple[Bundle, ...]
    ) -> Lowered:
        name = self._free_name(function.key)
        # Taken now, so that callers stand before what they call.
        self.built[name] = None
        try:
            body.params(function, shapes)
            result = body.body(function)
        except _DeferredError:
            del self.built[name]
            raise
        op = library_op(function, body.block, body.scope, shapes)
        made = body.out.function(name, op, leaves(result))
        if function.kind != "entry":
            takes = structs_of(shapes, (p.local.type for p in function.params))
            made = replace(made, takes=takes, gives=structs_of((result,), (function.result,)))
        self.built[name] = made
        return Lowered(name, shapes, skeleton(result))

    def _free_name(self, key: str) -> str:
        name = key
        copies = 1
        while name in self.built:
            copies += 1
            name = f"{key}.{copies}"
        return name
