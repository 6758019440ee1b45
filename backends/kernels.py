"""Kernels as records: for which calls of which op there is one, and what it does to the numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from linnet.dims.dims import Dim
from linnet.ir.library import Absent, Argument, GenericArg, Known, LibraryOp
from linnet.ir.places import Place
from linnet.ir.types import Type

T = TypeVar("T")

Tier = Literal["exact", "equivalent", "fast", "approximate"]
TIERS: tuple[Tier, ...] = ("exact", "equivalent", "fast", "approximate")
"""What a kernel may do to the numbers, and the policies, strictest first."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call of a library op in a lowered entry, its types and generics as far as known.

    `callee` is the module's function that is called, `caller` the one that calls it. Calls of one
    callee differ in nothing but `caller`, `place` and `count`: how many times one run of the
    entry makes this one (a `while` counted once). A kernel asks by the names that the op
    declares; a name that it does not have is a `LookupError`.
    """

    signature: LibraryOp
    callee: str
    caller: str
    operands: tuple[Type, ...]
    results: tuple[Type, ...]
    place: Place | None
    count: int
    device: str = "cpu"

    @property
    def op(self) -> str:
        """The identity of the op, `std.nn.linear::linear`."""
        return self.signature.name

    def generic(self, name: str) -> GenericArg:
        """What a generic of the op is here: a dimension, the extents of a pack, a dtype."""
        return self.signature.generic(name)

    def extent(self, name: str) -> int | None:
        """The number that a dimension is; None where it is none yet."""
        found = self.generic(name)
        return found.as_int() if isinstance(found, Dim) else None

    def argument(self, name: str) -> Argument:
        """What is passed for a parameter of the op; `pair.first` is a part of one."""
        return self.signature.argument(name)

    def present(self, name: str) -> bool:
        """Whether something is passed for an optional parameter."""
        return not isinstance(self.argument(name), Absent)

    def variant(self, name: str) -> str | None:
        """The variant of an enum, where it is known."""
        found = self.argument(name)
        return found.variant if isinstance(found, Known) else None

    def type(self, name: str) -> Type | None:
        """The type of the operand that is passed for a parameter; None where there is none."""
        return self.pick(name, self.operands)

    def pick(self, name: str, operands: Sequence[T]) -> T | None:
        """Of what a backend has for each operand, that for a parameter; None where there is
        none."""
        found = self.argument(name)
        return operands[found] if isinstance(found, int) else None


@dataclass(frozen=True, slots=True)
class Preparing:
    """Work that a kernel does once, where its operands are parameters of the model.

    `operands` are the parameters of the op whose operands are to be parameters of the model. Of
    the call site and all operands, `emit` gives what is made of these, and of no others;
    `emit_with` gives the results as the kernel's `emit` does, bit for bit, from what was made.
    """

    operands: tuple[str, ...]
    emit: Callable[[CallSite, Sequence[Any]], Any]
    emit_with: Callable[[CallSite, Sequence[Any], Any], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A way to run an op other than its body.

    `applies` gives None for yes, else why not. `emit` is called with the call site and what the
    backend has for each operand, in order, and gives one of the same for each result: arrays
    where the backend interprets, expressions where it writes source.

    `in_place` is the parameter whose operand `emit_in_place` overwrites instead of making a new
    result of its shape and dtype: for where nothing reads the operand afterwards and it shares no
    memory with what something reads. What it gives is the operand, changed. Both are None where
    there is no such form. `numbers` are the scalar parameters for which a Python number will do.
    `preparing` is the form for a model that is loaded with work on parameters done beforehand.
    `why` says, for `linnet explain`, what it is good for: "reads packed bytes in place".
    """

    op: str
    name: str
    tier: Tier
    applies: Callable[[CallSite], str | None]
    emit: Callable[[CallSite, Sequence[Any]], Sequence[Any]]
    in_place: str | None = None
    emit_in_place: Callable[[CallSite, Sequence[Any]], Sequence[Any]] | None = None
    numbers: tuple[str, ...] = ()
    preparing: Preparing | None = None
    why: str = ""

    def number_operands(self, site: CallSite) -> frozenset[int]:
        """The operands, scalars all, for which a Python number will do."""
        named = [site.argument(n) for n, _ in site.signature.params if n in self.numbers]
        return frozenset(k for k in named if isinstance(k, int) and site.operands[k].dims is None)


@dataclass(frozen=True, slots=True)
class Considered:
    """A kernel that is not for a call, and why."""

    kernel: Kernel
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What a call site gets: a kernel, or the op's own body where it is None. `after` are the
    kernels that apply too and stand behind it."""

    site: CallSite
    kernel: Kernel | None
    reason: str
    considered: tuple[Considered, ...]
    after: tuple[Kernel, ...] = ()

    @property
    def chosen(self) -> str:
        return "body" if self.kernel is None else self.kernel.name
