"""Which library op a lowered function is, under the names that the op declares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from linnet.check.typed import TBlock, TFunction
from linnet.check.types import OptionalType
from linnet.check.types import Type as CheckType
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DTypeVar
from linnet.ir.core import Value
from linnet.ir.library import Absent as NotPassed
from linnet.ir.library import Argument, GenericArg, Known, LibraryOp, Parts
from linnet.lower.bindings import Bound
from linnet.lower.bundle import Absent, Bundle, Group, Maybe, Some, Variant, part_names, part_types


def library_op(
    function: TFunction, block: TBlock | None, scope: Bound, args: Sequence[Bundle]
) -> LibraryOp | None:
    """The op that `function` is, if it is one, under these generics and with these arguments."""
    if function.kind != "op":
        return None
    every = (*(block.generics if block else ()), *function.generics)
    numbers = count()
    return LibraryOp(
        function.key,
        tuple((g.name, _generic(scope, g.binder)) for g in every),
        tuple(
            (p.local.name, _argument(arg, p.local.type, numbers))
            for p, arg in zip(function.params, args, strict=True)
        ),
    )


def _generic(scope: Bound, binder: Symbol | DTypeVar) -> GenericArg:
    arg = scope[binder]
    if not isinstance(arg, tuple):
        return arg
    dims = tuple(d for d in arg if isinstance(d, Dim))
    assert len(dims) == len(arg), binder
    return dims


def _argument(bundle: Bundle, type_: CheckType, numbers: Iterator[int]) -> Argument:
    match bundle:
        case Value():
            return next(numbers)
        case Variant():
            return Known(bundle.name)
        case Absent():
            return NotPassed()
        case Maybe():
            raise AssertionError("an op that is called with an optional only a run knows of")
        case Some(inner):
            assert isinstance(type_, OptionalType), type_
            return _argument(inner, type_.inner, numbers)
        case Group(items):
            parts = zip(part_names(type_), items, part_types(type_), strict=True)
            return Parts(tuple((n, _argument(x, t, numbers)) for n, x, t in parts))
