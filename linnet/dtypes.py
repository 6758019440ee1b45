"""The scalar dtypes, and the kinds that a dtype generic may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class DType(Enum):
    """A concrete dtype; the value is its name in the language."""

    BOOL = "bool"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    F64 = "f64"

    def __str__(self) -> str:
        return self.value

    @property
    def bits(self) -> int:
        return 8 if self is DType.BOOL else int(self.value.lstrip("bfiu"))

    @property
    def is_float(self) -> bool:
        return self in FLOATS

    @property
    def is_integer(self) -> bool:
        return self in INTEGERS

    @property
    def is_signed(self) -> bool:
        return self.value.startswith("i")

    def integer_range(self) -> tuple[int, int]:
        """The least and greatest value of an integer dtype."""
        if self.is_signed:
            return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        return 0, (1 << self.bits) - 1


FLOATS = frozenset({DType.F16, DType.BF16, DType.F32, DType.F64})
INTEGERS = frozenset(d for d in DType if d is not DType.BOOL and d not in FLOATS)
BY_NAME = {d.value: d for d in DType}

# What a dtype generic's kind admits.
KINDS: dict[str, frozenset[DType]] = {
    "DType": frozenset(DType),
    "Numeric": FLOATS | INTEGERS,
    "Integer": INTEGERS,
    "Float": FLOATS,
}


@dataclass(frozen=True, slots=True, eq=False)
class DTypeVar:
    """A dtype generic inside the item that declares it. Equal only to itself."""

    name: str
    kind: str

    def __str__(self) -> str:
        return self.name


AnyDType = DType | DTypeVar


def admits(dtype: AnyDType) -> frozenset[DType]:
    """Every concrete dtype that `dtype` may turn out to be."""
    return KINDS[dtype.kind] if isinstance(dtype, DTypeVar) else frozenset({dtype})
