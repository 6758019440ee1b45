"""Types of IR values: a scalar dtype, or `tensor[dims; dtype]`. A dtype or dimension may
still be a symbol (a generic that nobody bound)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import AnyDType, DType


@dataclass(frozen=True, slots=True)
class Type:
    """`dims` is None for a scalar."""

    dtype: AnyDType
    dims: tuple[Dim, ...] | None = None

    @property
    def rank(self) -> int:
        return len(self.dims or ())

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The extents; none for a scalar."""
        return self.dims or ()

    def with_dims(self, dims: tuple[Dim, ...] | None) -> Type:
        return Type(self.dtype, dims)

    def under(self, names: Mapping[Symbol, Dim]) -> Type:
        """The type with dimensions in place of symbols."""
        if not self.dims or not names:
            return self
        return self.with_dims(tuple(d.substitute(names) for d in self.dims))

    def with_dtype(self, dtype: AnyDType) -> Type:
        return Type(dtype, self.dims)

    def __str__(self) -> str:
        if self.dims is None:
            return str(self.dtype)
        return f"tensor[{', '.join(map(str, self.dims))}; {self.dtype}]"


BOOL = Type(DType.BOOL)
I64 = Type(DType.I64)
