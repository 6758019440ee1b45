"""Keys of findings: those that share one are one mistake, and fold into the first of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from linnet.check.typed import Local
from linnet.dims.dims import Symbol
from linnet.dtypes import DTypeVar


class Wrong(Enum):
    """What a finding says is wrong of a thing that it names."""

    RANK = auto()
    COUNT = auto()  # of elements
    SHAPE = auto()  # its axes are as many as is asked for
    DTYPE = auto()  # nothing admits it here
    MIXED = auto()  # it meets another dtype
    CONDITION = auto()  # it stands where a scalar `bool` does


@dataclass(frozen=True, slots=True)
class Everywhere:
    """A declaration that findings of several items may be due to."""

    thing: object


@dataclass(frozen=True, slots=True)
class Constant:
    """A `const`, by its key."""

    key: str


@dataclass(frozen=True, slots=True)
class Offered:
    """What others may share with a finding, though it does not itself ask who shares it."""

    key: object


@dataclass(frozen=True, slots=True)
class Sought:
    """What a finding asks others for, who find nothing of it under this."""

    key: object


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a function, by its key: as many as some call gives it arguments."""

    item: str


@dataclass(frozen=True, slots=True)
class Generics:
    """The generics of an item, by its key: as many as are written at some use of it."""

    item: str


@dataclass(frozen=True, slots=True)
class Order:
    """The order of an item's generics: as most of its uses write them."""

    item: str


@dataclass(frozen=True, slots=True)
class Refused:
    """In which way arguments for `parameter`, a generic or a list of them, do not fit it. Where
    none fits, it is that which is wrong."""

    parameter: Local | Symbol | DTypeVar | Parameters | Generics | Order
    how: object
