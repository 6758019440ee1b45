"""Results that hold others, as Python has them: in the forms that inputs have (`parts.py`).

(Tensor[N; f32], i32)      a tuple of two
struct KV { key, value }   a dict with these keys
Tensor[N; f32]?            None, or the value
enum Pooling { Mean, Cls } "Mean", or "Cls"
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from linnet.backends.base import Given
from linnet.check.types import EnumType, OptionalType, StructType, Type
from linnet.lower.bundle import Absent, Bundle, Group, Maybe, Some, Variant, part_types

# By entry and what of its parameters is given, what its result lowers to.
Results: TypeAlias = dict[tuple[str, Given], Bundle]


def structured(type_: Type, bundle: Bundle, arrays: Iterator[Any]) -> Any:
    """A result of `type_` that lowers to `bundle`, whose values are the next of `arrays`."""
    match bundle:
        case Group(items):
            of = zip(part_types(type_), items, strict=True)
            parts = [structured(part, item, arrays) for part, item in of]
            if not isinstance(type_, StructType):
                return tuple(parts)
            names = [name for name, _ in type_.fields]
            return dict(zip(names, parts, strict=True))
        case Some(inner):
            assert isinstance(type_, OptionalType), type_
            return structured(type_.inner, inner, arrays)
        case Maybe(inner=inner):
            assert isinstance(type_, OptionalType), type_
            there = bool(next(arrays))
            value = structured(type_.inner, inner, arrays)  # takes its arrays in any case
            return value if there else None
        case Absent():
            return None
        case Variant(name):
            return name
        case _:
            value = next(arrays)
            return type_.variants[int(value)] if isinstance(type_, EnumType) else value
