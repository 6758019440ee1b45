"""The size of types: they are compared and printed whole, so it has a limit."""

from __future__ import annotations

from collections.abc import Iterator

from linnet.check.scope import Scope
from linnet.check.types import (
    GenericArg,
    LiteralType,
    OptionalType,
    ScalarType,
    StructType,
    TensorType,
    TupleType,
    Type,
)
from linnet.dims.dims import Dim
from linnet.source.files import Span

MOST = 1000
# Of a value: a list of parts that is written out may be long.
MOST_OF_VALUE = 20_000
_DEEPEST = 40
# Of the operations in a dimension, written out; those of a polynomial count as nothing.
_LONGEST = 200


def refused(scope: Scope, type_: Type, span: Span, most: int = MOST) -> bool:
    """Whether it is reported that `type_` is too large; it may have so many parts at most."""
    excess = None if isinstance(type_, ScalarType) else _excess(type_, most)
    if excess is None:
        return False
    scope.error("E1104", excess, span, "too large")
    return True


def _excess(type_: Type, most: int) -> str | None:
    """In which way a type, written out, is too large."""
    waiting = [(type_, 1)]
    count = 0
    while waiting:
        part, depth = waiting.pop()
        count += 1
        if depth > _DEEPEST or count > most:
            return f"a type with more than {most} parts, or nested deeper than {_DEEPEST}"
        if any(map(long, _dims(part))):
            limits = f"more than {_LONGEST} operations, or nested deeper than {_DEEPEST}"
            return f"a dimension with {limits}"
        match part:
            case OptionalType(inner):
                waiting.append((inner, depth + 1))
            case TupleType(items):
                waiting.extend((item, depth + 1) for item in items)
            case StructType(fields=fields):
                waiting.extend((field, depth + 1) for _, field in fields)
            case _:
                pass
    return None


def _dims(type_: Type) -> Iterator[GenericArg]:
    match type_:
        case TensorType(dims):
            yield dims
        case LiteralType(value) if value is not None:
            yield value
        case StructType(args=args):
            yield from args
        case _:
            pass


def long(arg: GenericArg) -> bool:
    """Whether a dimension, or one of a shape, is too large."""
    dims = arg if isinstance(arg, tuple) else (arg,)
    whole = [d for d in dims if isinstance(d, Dim)]
    return any(d.depth > _DEEPEST or d.size > _LONGEST for d in whole)
