"""What a caller passes to an entry, as arrays of the declared dtypes and shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import numpy as np

from linnet.backends.base import Given, Taken
from linnet.backends.numpy.dtypes import cast
from linnet.check.substitute import in_relation, in_type
from linnet.check.typed import TFunction
from linnet.check.types import OptionalType, TensorType
from linnet.dims.atoms import sorted_symbols
from linnet.dims.dims import Dim, DimError, Symbol
from linnet.dims.evaluate import evaluate
from linnet.dims.relations import Relation
from linnet.dtypes import DType
from linnet.ir.extents import Fit, fit_extent
from linnet.lower.bindings import Bound
from linnet.nest.card_keys import is_integer
from linnet.nest.checkpoint import Array
from linnet.nest.parts import Choice, Part, parts
from linnet.nest.random_weights import array_dtype
from linnet.nest.refusal import Place, refuse
from linnet.nest.repair import repair
from linnet.nest.words import counted, shape_text
from linnet.source.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Inputs:
    """Arrays in the order of the lowered entry's parameters, and which those are: an optional in
    another input by its path. What is not given has its default, which lowering evaluates as for
    any call."""

    arrays: tuple[Array, ...]
    given: Given


Take: TypeAlias = Callable[[Any, DType], Any]
"""`take` of a runtime."""


def check_inputs(
    function: TFunction,
    scope: Bound,
    args: Sequence[Any],
    named: Mapping[str, Any],
    take: Take = lambda value, dtype: value,
) -> Inputs:
    """`args` and `named` as the inputs of `function`, whose generics are bound by `scope` or
    open; a `LinnetError` of what does not fit."""
    values = _by_name(function, args, named)
    shapes = _Shapes(function)
    arrays: list[Array] = []
    given: list[tuple[str, bool]] = []
    for param in function.params:
        name = param.local.name
        if name not in values and param.default is not None:
            continue
        type_ = in_type(param.local.type, scope)
        if param.default is not None and not isinstance(type_, OptionalType):
            given.append((name, True))
        for part in parts(Place(function, param, name), type_, values.get(name)):
            if isinstance(part, Choice):
                given.append((part.place.path, part.there))
                continue
            arrays.append(_array(part, take))
            if isinstance(part.type, TensorType):
                shapes.bind(part.place, part.type, arrays[-1].shape)
    shapes.finish()
    shapes.check(tuple(in_relation(f, scope) for f in function.facts), function.facts)
    return Inputs(tuple(arrays), tuple(given))


def _by_name(function: TFunction, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    names = [p.local.name for p in function.params]
    takes = f"`{_short(function)}` takes {', '.join(names) or 'nothing'}"
    if len(args) > len(names):
        refuse("E2102", f"{len(args)} inputs for {len(names)}", function, help=takes)
    values = dict(zip(names, args, strict=False))
    for name, value in named.items():
        if name not in names:
            hint = did_you_mean(name, names) or takes
            refuse("E2102", f"`{_short(function)}` has no input `{name}`", function, help=hint)
        if name in values:
            refuse("E2102", f"the input `{name}` is given twice", function)
        values[name] = value
    missing = [n for n in required(function) if n not in values]
    if missing:
        text = ", ".join(f"`{n}`" for n in missing)
        refuse("E2102", f"no value for the input {text}", function, help=takes)
    return values


def required(function: TFunction) -> list[str]:
    """The inputs that must be given."""
    return [
        p.local.name
        for p in function.params
        if p.default is None and not isinstance(p.local.type, OptionalType)
    ]


# --- dtypes ------------------------------------------------------------------

_NO_NUMBERS = "OSUMmc"  # objects, texts, dates, complex numbers


def _array(part: Part, take: Take) -> Array:
    """Its value in the dtype of its type, an array of its own, of the rank that it asks for."""
    place, type_ = part.place, part.type
    assert isinstance(type_.dtype, DType), type_
    given = take(part.value, type_.dtype)
    found: Array = given.array if isinstance(given, Taken) else _as_numpy(place, given)
    rank = len(type_.dims) if isinstance(type_, TensorType) else 0
    if found.ndim != rank:
        shape = shape_text(found.shape)
        has = f"{counted(found.ndim, 'dimension')} {shape}"
        place.refuse("E2202", f"`{place.path}` has {has}, it is {type_}")
    if isinstance(given, Taken):
        return found
    problem = _unfit(found, type_.dtype, hasattr(part.value, "dtype"))
    if problem is not None:
        code, message = problem
        read = given is not part.value
        help_ = repair(part.value, found, type_.dtype, read) if code == "E2103" else None
        place.refuse(code, f"`{place.path}` {message}", help=help_)
    native = np.array(found, found.dtype.newbyteorder("="))
    return cast(native, type_.dtype)


def _as_numpy(place: Place, value: Any) -> Array:
    name = place.path
    if np.ma.is_masked(value):
        what = f"`{name}` has masked elements, which have no value"
        place.refuse("E2101", what, help="give them one: `.filled(0)`")
    notes: tuple[str, ...] = ()
    try:
        found: Array = np.asarray(value)
    except ValueError:  # rows of several lengths
        found = np.asarray(None)
    except MemoryError:
        raise
    except Exception as error:
        # Of other libraries' arrays this says what they ask for; they raise what they like.
        notes = (str(error).partition("\n")[0],)
        found = np.asarray(None)
    if found.dtype.kind == "O" and any(is_integer(v) and v.bit_length() > 64 for v in found.flat):
        place.refuse("E2105", f"`{name}` holds an integer that no dtype has")
    if found.dtype.kind in _NO_NUMBERS:
        hint = "give a NumPy array, or lists of numbers with rows of one length"
        place.refuse("E2101", f"`{name}` is no array of numbers", notes=notes, help=hint)
    return found


def _unfit(found: Array, dtype: DType, typed: bool) -> tuple[str, str] | None:
    """A code and why `found` cannot be `dtype`; `typed` values have a dtype that was chosen."""
    wanted = array_dtype(dtype.value)
    if found.dtype == wanted or found.size == 0:
        return None
    kind = found.dtype.kind
    if dtype.is_integer and kind in "iu":
        low, high = dtype.integer_range()
        least, most = int(found.min()), int(found.max())
        bad = least if least < low else most
        fits = low <= least and most <= high
        return None if fits else ("E2105", f"holds {bad}, which no {dtype} is")
    if dtype.is_float and not typed and kind in "iuf":
        return None
    return "E2103", f"is {found.dtype}, {wanted} is asked for"


# --- shapes ------------------------------------------------------------------


@dataclass(slots=True)
class _Shapes:
    """Binds the open dimensions of an entry to the extents of its inputs."""

    function: TFunction
    bound: dict[Symbol, int] = field(default_factory=dict[Symbol, int])
    source: dict[Symbol, str] = field(default_factory=dict[Symbol, str])
    pending: list[tuple[Place, int, Dim, int]] = field(
        default_factory=list[tuple[Place, int, Dim, int]]
    )

    def bind(self, place: Place, type_: TensorType, shape: Sequence[int]) -> None:
        for axis, (dim, extent) in enumerate(zip(type_.dims, shape, strict=True)):
            self.pending.append((place, axis, Dim.of(dim), extent))

    def finish(self) -> None:
        """Solve what can be solved, in rounds: `P + 2` waits for nothing, `P * Q` for P or Q."""
        self.pending.sort(key=lambda row: row[2].as_symbol() is None)
        while self.pending:
            left = [row for row in self.pending if not self._solve(*row)]
            if len(left) == len(self.pending):
                place, axis, dim, _ = left[0]
                what = f"axis {axis} of `{place.path}`, `{dim}`, does not tell its generics"
                place.refuse("E2110", what)
            self.pending = left

    def _solve(self, place: Place, axis: int, dim: Dim, extent: int) -> bool:
        fit, symbol = fit_extent(dim, extent, self.bound)
        if fit is Fit.DIFFERS:
            self._differ(place, axis, dim, extent)
        if fit is Fit.IMPOSSIBLE:
            what = f"axis {axis} is {extent}, and no {symbol} makes `{dim}` that"
            place.refuse("E2202", f"`{place.path}`: {what}")
        if symbol is not None:
            self.source[symbol] = place.path
        return fit is not Fit.OPEN

    def _differ(self, place: Place, axis: int, dim: Dim, extent: int) -> NoReturn:
        name = place.path
        symbol = dim.as_symbol()
        if symbol is not None:
            there = self.source[symbol]
            where = "on another axis" if there == name else f"in `{there}`"
            message = f"{symbol} is {extent} here and {self.bound[symbol]} {where}"
        elif dim.symbols():
            known = ", ".join(f"{s} = {self.bound[s]}" for s in sorted_symbols(dim.symbols()))
            what = f"`{dim}`, which {_value(dim, self.bound)} for {known}"
            message = f"axis {axis} is {extent}, it must be {what}"
        else:
            message = f"axis {axis} is {extent}, it must be {dim}"
        place.refuse("E2202", f"`{name}`: {message}")

    def check(self, facts: Sequence[Relation], written: Sequence[Relation]) -> None:
        """The entry's own `where`."""
        for fact, source in zip(facts, written, strict=True):
            open_ = [s for s in fact.symbols() if s not in self.bound]
            if open_:
                refuse("E2110", f"no input tells the generic `{open_[0]}`", self.function)
            if not fact.holds(self.bound):
                symbols = sorted_symbols(fact.symbols())
                values = ", ".join(f"{s} is {self.bound[s]}" for s in symbols)
                message = f"`where {source}` of `{_short(self.function)}` does not hold"
                refuse("E2206", f"{message}: {values}" if values else message, self.function)


def _value(dim: Dim, bound: Mapping[Symbol, int]) -> str:
    try:
        return f"is {evaluate(dim, bound)}"
    except DimError:
        return "divides by zero"


def _short(function: TFunction) -> str:
    return function.key.rpartition("::")[2].rpartition(".")[2]
