"""What a run and a call know: the extents of symbols, paths, values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from linnet.backends.contract import RuntimeFault
from linnet.backends.interpret.liveness import Deaths
from linnet.dims.dims import Dim, DimError, Symbol
from linnet.dims.evaluate import evaluate
from linnet.dtypes import AnyDType, DType
from linnet.ir.core import Module, Operation
from linnet.ir.extents import Fit, fit_extent
from linnet.ir.types import Type

Path = tuple[str, ...]

Array: TypeAlias = Any
"""A tensor of the framework that interprets; it has `shape`, `dtype` and, without axes, a truth."""


def concrete(dtype: AnyDType) -> DType:
    """`dtype` if it is bound."""
    if isinstance(dtype, DType):
        return dtype
    raise RuntimeFault(f"the dtype generic `{dtype}` has no value")


@dataclass(frozen=True, slots=True)
class Framework:
    """What differs between the frameworks that interpret.

    `operations`: by name, all but those with regions and calls; each gives a list of its own.
    `dtypes`: what the `dtype` of an array is for each dtype. `counter`: an integer as an i64
    scalar. `zeros`: a state that nobody wrote.
    """

    operations: Mapping[str, Callable[[Frame, Operation, list[Array]], list[Array]]]
    dtypes: Mapping[DType, Any]
    counter: Callable[[int], Array]
    zeros: Callable[[tuple[int, ...], DType], Array]


@dataclass(frozen=True, slots=True)
class Run:
    """What a whole run shares. `kernels` run the functions of their names in place of the
    bodies."""

    framework: Framework
    module: Module
    deaths: Deaths
    symbols: Mapping[Symbol, int]
    weights: Mapping[str, Array]
    state: MutableMapping[str, Array]
    kernels: Mapping[str, Callable[[list[Array]], list[Array]]] = field(
        default_factory=dict[str, "Callable[[list[Array]], list[Array]]"]
    )


@dataclass(slots=True)
class Frame:
    """One call of a function: its values, the block it is called on, the `each` loops around."""

    run: Run
    prefix: Path
    values: dict[int, Array]
    loops: dict[str, int] = field(default_factory=dict[str, int])

    def path(self, parts: Sequence[str | int]) -> Path:
        """A path of this block from the root, `$var` replaced by the number it stands for."""
        own = (str(p) for p in parts)
        return (*self.prefix, *(str(self.loops[p]) if p.startswith("$") else p for p in own))

    def extent(self, dim: Dim) -> int:
        """The number that `dim` is in this run."""
        try:
            return evaluate(dim, self.run.symbols)
        except (KeyError, DimError) as error:
            raise RuntimeFault(f"the dimension `{dim}` has no value here ({error})") from None

    def shape(self, type_: Type) -> tuple[int, ...]:
        """The extents of a value of `type_`."""
        return tuple(self.extent(d) for d in type_.shape)


def bind_symbols(
    types: Sequence[Type],
    values: Sequence[Array],
    known: Mapping[Symbol, int],
    dtypes: Mapping[DType, Any],
) -> dict[Symbol, int]:
    """The symbols under which the shapes of `values` are those of `types`; a fault if none are."""
    bound = dict(known)
    if len(types) != len(values):
        raise RuntimeFault(f"{len(values)} arguments for {len(types)} parameters")
    pending: list[tuple[Dim, int]] = []
    for position, (type_, value) in enumerate(zip(types, values, strict=True)):
        if value.ndim != type_.rank or value.dtype != dtypes[concrete(type_.dtype)]:
            raise RuntimeFault(
                f"argument {position} is {value.dtype}{list(value.shape)}, the entry takes {type_}"
            )
        pending += zip(type_.shape, value.shape, strict=True)
    while pending:
        left = [(dim, extent) for dim, extent in pending if not _solve(dim, extent, bound)]
        if len(left) == len(pending):
            break  # what is left open by the arguments stays open until something asks for it
        pending = left
    return bound


def _solve(dim: Dim, extent: int, bound: dict[Symbol, int]) -> bool:
    """Bind or check what `dim == extent` says; False if it does not say enough yet."""
    fit, symbol = fit_extent(dim, extent, bound)
    if fit is Fit.DIFFERS:
        expected = dim.substitute({s: Dim.of(n) for s, n in bound.items()})
        raise RuntimeFault(f"`{dim}` is {expected} here and {extent} there", "E2202")
    if fit is Fit.IMPOSSIBLE:
        raise RuntimeFault(f"no `{symbol}` makes `{dim}` equal to {extent}", "E2202")
    return fit is not Fit.OPEN
