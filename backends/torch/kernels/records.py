"""How the records of this folder are written: a function, what it is called with, and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from linnet.backends.code import Code, call, name
from linnet.backends.kernels import CallSite, Kernel, Preparing, Tier
from linnet.backends.torch.dtypes import TORCH
from linnet.backends.torch.semantics import position
from linnet.dtypes import DType

Condition: TypeAlias = Callable[[CallSite], str | None]
"""None where it holds, else why the kernel is not for this call."""
Emit: TypeAlias = Callable[[CallSite, Sequence[Code]], Sequence[Code]]
Function: TypeAlias = str | Callable[..., Any]
"""A function of this project, or the text of one of the framework's, `F.silu`."""

NUMBERS = ("at", "eps", "scale", "slot")
"""What ops call their scalars, which the functions here take as tensors or as Python numbers."""

SIXTEEN_BITS = (DType.F16, DType.BF16)
WIDE = (DType.F32, DType.F64)


@dataclass(frozen=True, slots=True)
class Extent:
    """A dimension of the op that is a number at the call."""

    generic: str


@dataclass(frozen=True, slots=True)
class Element:
    """A dtype of the op as the framework names it, `torch.bfloat16`."""

    generic: str


@dataclass(frozen=True, slots=True)
class Position:
    """A parameter of the op that says where to read, of which none below zero is counted from the
    end."""

    parameter: str


@dataclass(frozen=True, slots=True)
class Word:
    """Text that stands in the call as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Made:
    """What was prepared."""


Argument: TypeAlias = str | Extent | Element | Position | Word
"""What a function is called with; a string is a parameter of the op."""


def kernel(
    op: str,
    name: str,
    tier: Tier,
    emit: Emit,
    *conditions: Condition,
    why: str,
    in_place: str | None = None,
    emit_in_place: Emit | None = None,
    preparing: Preparing | None = None,
) -> Kernel:
    """The record of a kernel that applies where all conditions hold, the first reason first.
    `why` is what it is good for."""

    def applies(site: CallSite) -> str | None:
        reasons = (condition(site) for condition in conditions)
        return next((reason for reason in reasons if reason is not None), None)

    return Kernel(op, name, tier, applies, emit, in_place, emit_in_place, NUMBERS, preparing, why)


def calling(function: Function, *arguments: Argument, **named: Argument) -> Emit:
    """An `emit` that calls `function`. An optional that is absent is passed as `None`."""

    def emit(site: CallSite, operands: Sequence[Code]) -> Sequence[Code]:
        return [call_of(function, site, operands, *arguments, **named)]

    return emit


def preparing(
    make: Function, made_of: Sequence[Argument], function: Function, *arguments: Argument | Made
) -> Preparing:
    """`make(*made_of)` once, then `function` with that where `Made` stands among `arguments`."""

    def emit(site: CallSite, operands: Sequence[Code]) -> Code:
        return call_of(make, site, operands, *made_of)

    def emit_with(site: CallSite, operands: Sequence[Code], made: Code) -> Sequence[Code]:
        known = [Word(made.text) if isinstance(a, Made) else a for a in arguments]
        return [call_of(function, site, operands, *known)]

    return Preparing(tuple(a for a in made_of if isinstance(a, str)), emit, emit_with)


def call_of(
    function: Function,
    site: CallSite,
    operands: Sequence[Code],
    *arguments: Argument,
    **named: Argument,
) -> Code:
    """The call that `calling` emits. `None`s at the end are left to the function's defaults."""
    passed = [written(site, operands, a) for a in arguments]
    while passed and passed[-1].text == "None":
        passed.pop()
    by_name = {key: written(site, operands, a) for key, a in named.items()}
    return call(function, *passed, **by_name)


def written(site: CallSite, operands: Sequence[Code], argument: Argument) -> Code:
    """One argument as an expression."""
    match argument:
        case str():
            return site.pick(argument, operands) or name("None")
        case Extent():
            return name(str(extent(site, argument.generic)))
        case Element():
            return name(str(TORCH[dtype(site, argument.generic)]))
        case Position():
            return call(position, written(site, operands, argument.parameter))
        case Word():
            return name(argument.text)


def extent(site: CallSite, generic: str) -> int:
    """The number that a dimension of the op is at a call where `known` holds."""
    found = site.extent(generic)
    assert found is not None, f"`{generic}` is {site.generic(generic)} at a call of `{site.op}`"
    return found


def dtype(site: CallSite, generic: str) -> DType:
    """The dtype that a generic of the op is at a call where `of_dtype` holds."""
    found = site.generic(generic)
    assert isinstance(found, DType), f"`{generic}` is {found} at a call of `{site.op}`"
    return found


# --- conditions --------------------------------------------------------------


def of_dtype(generic: str, *allowed: DType) -> Condition:
    """The generic is one of these dtypes."""

    def condition(site: CallSite) -> str | None:
        found = site.generic(generic)
        if found in allowed:
            return None
        return f"`{generic}` is {found}, not {' or '.join(sorted(map(str, allowed)))}"

    return condition


def known(*generics: str) -> Condition:
    """These dimensions are numbers."""

    def condition(site: CallSite) -> str | None:
        unknown = next((g for g in generics if site.extent(g) is None), None)
        if unknown is None:
            return None
        return f"`{unknown}` is {site.generic(unknown)}, which is not a number yet"

    return condition


def device(site: CallSite) -> str:
    """The kind of device, `cuda` of `cuda:0`."""
    return site.device.partition(":")[0]


def on(kind: str, why: str) -> Condition:
    """The device is of this kind; else `why` not."""
    return lambda site: None if device(site) == kind else f"the device is {device(site)}: {why}"


def not_on(kind: str, why: str) -> Condition:
    """The device is of any other kind; else `why` not."""
    return lambda site: None if device(site) != kind else f"the device is {kind}: {why}"
