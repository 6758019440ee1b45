"""Types after checking. A shape is a tuple of `Dim`s and pack `Symbol`s (`*S`)."""

from __future__ import annotations

from dataclasses import dataclass

from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import AnyDType

Shape = tuple[Dim | Symbol, ...]


@dataclass(frozen=True, slots=True)
class ScalarType:
    dtype: AnyDType

    def __str__(self) -> str:
        return str(self.dtype)


@dataclass(frozen=True, slots=True)
class TensorType:
    dims: Shape
    dtype: AnyDType

    def __str__(self) -> str:
        return f"Tensor[{show_shape(self.dims)}; {self.dtype}]"


@dataclass(frozen=True, slots=True)
class OptionalType:
    inner: Type

    def __str__(self) -> str:
        return f"{self.inner}?"


@dataclass(frozen=True, slots=True)
class TupleType:
    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


GenericArg = Dim | Shape | AnyDType
"""What a generic is bound to: a `Dim`, a shape for a pack, a dtype."""


@dataclass(frozen=True, slots=True)
class StructType:
    """`key` names the struct (`pkg.module::Name`); `fields` are under its `args` already."""

    key: str
    args: tuple[GenericArg, ...]
    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        name = self.key.rpartition("::")[2]
        return name + (f"<{', '.join(map(show_arg, self.args))}>" if self.args else "")


@dataclass(frozen=True, slots=True)
class EnumType:
    key: str
    variants: tuple[str, ...]

    def __str__(self) -> str:
        return self.key.rpartition("::")[2]


@dataclass(frozen=True, slots=True)
class LiteralType:
    """A compile-time number that has not met its dtype: `value` is a `Dim` for an integer
    that is known symbolically, None for a float."""

    value: Dim | None

    def __str__(self) -> str:
        return "a compile-time integer" if self.value is not None else "a float literal"


@dataclass(frozen=True, slots=True)
class ErrorType:
    """The type of what was reported already; silences whatever depends on it."""

    def __str__(self) -> str:
        return "an unknown type"


Type = (
    ScalarType
    | TensorType
    | OptionalType
    | TupleType
    | StructType
    | EnumType
    | LiteralType
    | ErrorType
)

ERROR = ErrorType()


def show_shape(dims: Shape) -> str:
    return ", ".join(f"*{d.name}" if isinstance(d, Symbol) else str(d) for d in dims)


def show_arg(arg: GenericArg) -> str:
    return f"[{show_shape(arg)}]" if isinstance(arg, tuple) else str(arg)


def present(type_: Type) -> Type:
    """The type of a value that may be absent where it is there."""
    return type_.inner if isinstance(type_, OptionalType) else type_


def rank_of(type_: Type) -> int | None:
    """The number of axes of a scalar or tensor that may be absent; None of any other."""
    plain = present(type_)
    if isinstance(plain, ScalarType):
        return 0
    return len(plain.dims) if isinstance(plain, TensorType) else None


def element_dtype(type_: Type | None) -> AnyDType | None:
    """The dtype of a scalar or tensor type; None of any other."""
    return type_.dtype if isinstance(type_, ScalarType | TensorType) else None
