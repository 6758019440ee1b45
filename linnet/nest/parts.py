"""Inputs that hold others: tuples, structs, optionals and enums, as Python has them.

(Tensor[N; f32], i32)      a tuple or list of two
struct KV { key, value }   a mapping with these keys, or a named tuple with these fields
Tensor[N; f32]?            None, or the value
enum Pooling { Mean, Cls } "Mean", or "Cls"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from linnet.check.types import (
    EnumType,
    OptionalType,
    ScalarType,
    StructType,
    TensorType,
    TupleType,
    Type,
)
from linnet.dtypes import DType
from linnet.nest.refusal import Place
from linnet.source.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Part:
    """A tensor or scalar of an input."""

    place: Place
    type: ScalarType | TensorType
    value: Any


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether an optional is there."""

    place: Place
    there: bool


def parts(place: Place, type_: Type, value: Any) -> Iterator[Part | Choice]:
    """What an input of `type_` is made of, in the order in which lowering has it; a `LinnetError`
    of a value that is not made like that."""
    match type_:
        case OptionalType(inner):
            yield Choice(place, value is not None)
            if value is not None:
                yield from parts(place, inner, value)
        case TupleType(items):
            values = _items(place, type_, value)
            for i, item in enumerate(items):
                yield from parts(place.part(str(i)), item, values[i])
        case StructType(fields=fields):
            named = _fields(place, type_, value)
            for name, field in fields:
                yield from parts(place.part(name), field, named.get(name))
        case EnumType(variants=variants):
            yield Part(place, ScalarType(DType.I64), variants.index(_variant(place, type_, value)))
        case ScalarType() | TensorType():
            yield Part(place, type_, value)
        case _:
            raise AssertionError(type_)


def _items(place: Place, type_: TupleType, value: Any) -> list[Any]:
    count = len(type_.items)
    if not isinstance(value, tuple | list):
        place.refuse("E2101", f"`{place.path}` is a tuple of {count}", help="give it as a tuple")
    values = list(cast("tuple[Any, ...] | list[Any]", value))
    if len(values) != count:
        place.refuse("E2101", f"`{place.path}` is a tuple of {count}, not of {len(values)}")
    return values


def _fields(place: Place, type_: StructType, value: Any) -> Mapping[str, Any]:
    names = [name for name, _ in type_.fields]
    has = f"`{type_}` has {', '.join(names) or 'no fields'}"
    as_dict: Any = getattr(value, "_asdict", None)
    if callable(as_dict):
        value = as_dict()
    if not isinstance(value, Mapping):
        place.refuse("E2101", f"`{place.path}` is a `{type_}`", notes=(has,), help="give a dict")
    named = cast("Mapping[Any, Any]", value)
    for key in named:
        if key not in names:
            hint = did_you_mean(str(key), names)
            place.refuse("E2102", f"`{place.path}` has no field `{key}`", notes=(has,), help=hint)
    optional = {name for name, field in type_.fields if isinstance(field, OptionalType)}
    missing = [name for name in names if name not in named and name not in optional]
    if missing:
        text = ", ".join(f"`{name}`" for name in missing)
        place.refuse("E2102", f"no value for {text} of `{place.path}`", notes=(has,))
    return named


def _variant(place: Place, type_: EnumType, value: Any) -> str:
    has = f"`{type_}` has {', '.join(type_.variants)}"
    if not isinstance(value, str):
        hint = "give the name of a variant as a text"
        place.refuse("E2101", f"`{place.path}` is a `{type_}`", notes=(has,), help=hint)
    if value not in type_.variants:
        hint = did_you_mean(value, type_.variants)
        place.refuse("E2107", f"`{place.path}`: no variant `{value}`", notes=(has,), help=hint)
    return value
