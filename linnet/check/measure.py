"""The size of types: they are compared and printed whole, so it has a limit."""

from __future__ import annotations

from linnet.check.types import OptionalType, StructType, TupleType, Type

MOST = 1000
DEEPEST = 40


def too_large(type_: Type) -> bool:
    """Whether a type is nested too deeply or, written out, has too many parts."""
    waiting = [(type_, 1)]
    count = 0
    while waiting:
        part, depth = waiting.pop()
        count += 1
        if depth > DEEPEST or count > MOST:
            return True
        match part:
            case OptionalType(inner):
                waiting.append((inner, depth + 1))
            case TupleType(items):
                waiting.extend((item, depth + 1) for item in items)
            case StructType(fields=fields):
                waiting.extend((field, depth + 1) for _, field in fields)
            case _:
                pass
    return False
