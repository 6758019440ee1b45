"""What a caller passes to an entry, as arrays of the declared dtypes and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from linnet.backends.base import Given
from linnet.backends.numpy.dtypes import cast
from linnet.check.substitute import in_relation, in_type
from linnet.check.typed import TFunction, TParam
from linnet.check.types import OptionalType, ScalarType, TensorType, Type
from linnet.dims.dims import Dim, DimError, Symbol, sorted_symbols
from linnet.dims.relations import Relation
from linnet.dtypes import DType
from linnet.ir.extents import Fit, fit_extent
from linnet.lower.bindings import Bound
from linnet.nest.card_keys import is_integer
from linnet.nest.checkpoint import Array
from linnet.nest.random_weights import array_dtype
from linnet.nest.words import shape_text
from linnet.source.diagnostics import Diagnostic, Related
from linnet.source.errors import LinnetError
from linnet.source.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Inputs:
    """Arrays in the order of the lowered entry's parameters, and which those are. What is not
    given has its default, which lowering evaluates as for any call."""

    arrays: tuple[Array, ...]
    given: Given


def check_inputs(
    function: TFunction, scope: Bound, args: Sequence[Any], named: Mapping[str, Any]
) -> Inputs:
    """`args` and `named` as the inputs of `function`, whose generics are bound by `scope` or
    open; a `LinnetError` of what does not fit."""
    values = _by_name(function, args, named)
    shapes = _Shapes(function)
    arrays: list[Array] = []
    given: list[tuple[str, bool]] = []
    for param in function.params:
        name = param.local.name
        type_ = in_type(param.local.type, scope)
        if name not in values and param.default is not None:
            continue
        value = values.get(name)
        optional = isinstance(type_, OptionalType)
        if optional or param.default is not None:
            given.append((name, not optional or value is not None))
        if isinstance(type_, OptionalType):
            if value is None:
                continue
            type_ = type_.inner
        arrays.append(_array(function, param, type_, value))
        if isinstance(type_, TensorType):
            shapes.bind(param, type_, arrays[-1].shape)
    shapes.finish()
    shapes.check(tuple(in_relation(f, scope) for f in function.facts), function.facts)
    return Inputs(tuple(arrays), tuple(given))


def _by_name(function: TFunction, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    names = [p.local.name for p in function.params]
    takes = f"`{_short(function)}` takes {', '.join(names) or 'nothing'}"
    if len(args) > len(names):
        _refuse("E2102", f"{len(args)} inputs for {len(names)}", function, help=takes)
    values = dict(zip(names, args, strict=False))
    for name, value in named.items():
        if name not in names:
            hint = did_you_mean(name, names) or takes
            _refuse("E2102", f"`{_short(function)}` has no input `{name}`", function, help=hint)
        if name in values:
            _refuse("E2102", f"the input `{name}` is given twice", function)
        values[name] = value
    optional = (OptionalType,)
    required = [
        p.local.name
        for p in function.params
        if p.default is None and not isinstance(p.local.type, optional)
    ]
    missing = [n for n in required if n not in values]
    if missing:
        text = ", ".join(f"`{n}`" for n in missing)
        _refuse("E2102", f"no value for the input {text}", function, help=takes)
    return values


# --- dtypes ------------------------------------------------------------------

_NO_NUMBERS = "OSUMmc"  # objects, texts, dates, complex numbers


def _array(function: TFunction, param: TParam, type_: Type, value: Any) -> Array:
    """`value` in the dtype of `type_`, an array of its own, of the rank that it asks for."""
    name = param.local.name
    if not isinstance(type_, ScalarType | TensorType) or not isinstance(type_.dtype, DType):
        what = f"the input `{name}` is {type_}: only tensors and scalars can be passed"
        _refuse("E2190", what, function, param)
    found = _as_numpy(function, param, value)
    rank = len(type_.dims) if isinstance(type_, TensorType) else 0
    if found.ndim != rank:
        _refuse(
            "E2202",
            f"`{name}` has {found.ndim} dimensions {shape_text(found.shape)}, it is {type_}",
            function,
            param,
        )
    problem = _unfit(found, type_.dtype, hasattr(value, "dtype"))
    if problem is not None:
        code, message = problem
        _refuse(code, f"`{name}` {message}", function, param)
    native = np.array(found, found.dtype.newbyteorder("="))
    return cast(native, type_.dtype)


def _as_numpy(function: TFunction, param: TParam, value: Any) -> Array:
    name = param.local.name
    if np.ma.is_masked(value):
        what = f"`{name}` has masked elements, which have no value"
        _refuse("E2101", what, function, param, help="give them one: `.filled(0)`")
    notes: tuple[str, ...] = ()
    try:
        found: Array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        # Of other libraries' arrays this says what they ask for.
        notes = (str(error).partition("\n")[0],)
        found = np.asarray(None)
    if found.dtype.kind == "O" and any(is_integer(v) and v.bit_length() > 64 for v in found.flat):
        _refuse("E2105", f"`{name}` holds an integer that no dtype has", function, param)
    if found.dtype.kind in _NO_NUMBERS:
        hint = "give a NumPy array, or lists of numbers with rows of one length"
        what = f"`{name}` is no array of numbers"
        _refuse("E2101", what, function, param, notes=notes, help=hint)
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
    pending: list[tuple[TParam, int, Dim, int]] = field(
        default_factory=list[tuple[TParam, int, Dim, int]]
    )

    def bind(self, param: TParam, type_: TensorType, shape: Sequence[int]) -> None:
        for axis, (dim, extent) in enumerate(zip(type_.dims, shape, strict=True)):
            self.pending.append((param, axis, Dim.of(dim), extent))

    def finish(self) -> None:
        """Solve what can be solved, in rounds: `P + 2` waits for nothing, `P * Q` for P or Q."""
        self.pending.sort(key=lambda row: row[2].as_symbol() is None)
        while self.pending:
            left = [row for row in self.pending if not self._solve(*row)]
            if len(left) == len(self.pending):
                param, axis, dim, _ = left[0]
                what = f"axis {axis} of `{param.local.name}`, `{dim}`, does not tell its generics"
                _refuse("E2110", what, self.function, param)
            self.pending = left

    def _solve(self, param: TParam, axis: int, dim: Dim, extent: int) -> bool:
        fit, symbol = fit_extent(dim, extent, self.bound)
        if fit is Fit.DIFFERS:
            self._differ(param, axis, dim, extent)
        if fit is Fit.IMPOSSIBLE:
            what = f"axis {axis} is {extent}, and no {symbol} makes `{dim}` that"
            _refuse("E2202", f"`{param.local.name}`: {what}", self.function, param)
        if symbol is not None:
            self.source[symbol] = param.local.name
        return fit is not Fit.OPEN

    def _differ(self, param: TParam, axis: int, dim: Dim, extent: int) -> NoReturn:
        name = param.local.name
        symbol = dim.as_symbol()
        if symbol is not None:
            there = self.source[symbol]
            place = "on another axis" if there == name else f"in `{there}`"
            message = f"{symbol} is {extent} here and {self.bound[symbol]} {place}"
        elif dim.symbols():
            known = ", ".join(f"{s} = {self.bound[s]}" for s in sorted_symbols(dim.symbols()))
            what = f"`{dim}`, which {_value(dim, self.bound)} for {known}"
            message = f"axis {axis} is {extent}, it must be {what}"
        else:
            message = f"axis {axis} is {extent}, it must be {dim}"
        _refuse("E2202", f"`{name}`: {message}", self.function, param)

    def check(self, facts: Sequence[Relation], written: Sequence[Relation]) -> None:
        """The entry's own `where`."""
        for fact, source in zip(facts, written, strict=True):
            open_ = [s for s in fact.symbols() if s not in self.bound]
            if open_:
                _refuse("E2110", f"no input tells the generic `{open_[0]}`", self.function)
            if not fact.holds(self.bound):
                symbols = sorted_symbols(fact.symbols())
                values = ", ".join(f"{s} is {self.bound[s]}" for s in symbols)
                message = f"`where {source}` of `{_short(self.function)}` does not hold"
                _refuse("E2206", f"{message}: {values}" if values else message, self.function)


def _value(dim: Dim, bound: Mapping[Symbol, int]) -> str:
    try:
        return f"is {dim.evaluate(bound)}"
    except DimError:
        return "divides by zero"


def _short(function: TFunction) -> str:
    return function.key.rpartition("::")[2].rpartition(".")[2]


def _refuse(
    code: str,
    message: str,
    function: TFunction,
    param: TParam | None = None,
    *,
    notes: tuple[str, ...] = (),
    help: str | None = None,
) -> NoReturn:
    span = function.span if param is None else param.local.span
    related = (Related(span, "declared here"),)
    raise LinnetError([Diagnostic(code, message, None, related=related, notes=notes, help=help)])
