"""From what a caller gives for generics to what they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from linnet.check.measure import long
from linnet.check.substitute import in_arg, in_type
from linnet.check.typed import TBlock, TGeneric, TSub
from linnet.check.types import GenericArg, Type
from linnet.dims.dims import Dim, DimError, Symbol
from linnet.dtypes import BY_NAME, KINDS, DType, DTypeVar
from linnet.lower.fail import fail
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from linnet.source.files import Span
from linnet.source.shown import shown
from linnet.source.suggest import closest

GenericValue = int | str | DType | Dim | Sequence[int | Dim]
"""What a caller may give: a number, the name of a dtype, the extents of a pack."""

# No extent is larger: no address is.
LARGEST = 2**63 - 1

Bound = dict[Symbol | DTypeVar, GenericArg]
"""Every generic in scope, bound to what it is here."""


def bind(
    generics: Sequence[TGeneric], given: Mapping[str, GenericValue], *, whole: bool = False
) -> Bound:
    """Bind `generics` to the values given by name, else their defaults, else, unless `whole`
    is asked for, themselves."""
    bound: Bound = {}
    for generic in generics:
        if generic.name in given:
            bound[generic.binder] = _argument(generic, given[generic.name])
        elif generic.default is not None:
            bound[generic.binder] = _default(generic, generic.default, bound)
        elif whole or generic.kind == "Shape":
            fail(
                "E2111",
                f"no value for the generic `{generic.name}`",
                generic.span,
                label="declared here, without a default",
                help=f"bind `{generic.name}`",
            )
        else:
            bound[generic.binder] = _itself(generic)
    return bound


def bind_open(generics: Sequence[TGeneric], given: Mapping[str, GenericValue]) -> Bound:
    """As `bind`, and packs without a value stand for themselves as well."""
    packs = [g for g in generics if g.kind == "Shape" and g.name not in given]
    rest = [g for g in generics if g not in packs]
    bound: Bound = {}
    for pack in packs:
        assert isinstance(pack.binder, Symbol)
        bound[pack.binder] = (pack.binder,)
    return bound | bind(rest, given)


def _default(generic: TGeneric, default: GenericArg, bound: Bound) -> GenericArg:
    if isinstance(default, Dim):
        return extent_under(default, bound, generic.span, f"the default of `{generic.name}`")
    return in_arg(default, bound)


def _itself(generic: TGeneric) -> GenericArg:
    binder = generic.binder
    return Dim.of(binder) if isinstance(binder, Symbol) else binder


def _argument(generic: TGeneric, value: GenericValue) -> GenericArg:
    wanted = misfit(generic, value)
    if wanted is not None:
        fail(
            misfit_code(generic, value),
            f"`{generic.name}` is {wanted}, not `{value}`",
            generic.span,
        )
    if isinstance(value, int | Dim):
        return Dim.of(value)
    if isinstance(value, str | DType):
        return BY_NAME[str(value)]
    return tuple(Dim.of(extent) for extent in value)


def misfit(generic: TGeneric, value: object) -> str | None:
    """What `generic` takes, in words, if `value` is nothing of that."""
    match generic.kind:
        case "Dim":
            fits = isinstance(value, Dim) and value.as_int() is None
            number = value.as_int() if isinstance(value, Dim) else value
            if isinstance(number, int) and not isinstance(number, bool):
                fits = 0 <= number <= LARGEST
            return None if fits else "a dimension, an integer from 0 to 2^63 - 1"
        case "Shape":
            fits = isinstance(value, Sequence) and not isinstance(value, str)
            return None if fits else "a shape pack, a sequence of extents"
        case kind:
            fits = isinstance(value, str | DType) and BY_NAME.get(str(value)) in KINDS[kind]
            names = ", ".join(d.value for d in DType if d in KINDS[kind])
            return None if fits else f"{kind}, one of {names}"


def misfit_code(generic: TGeneric, value: object) -> str:
    """The code of a value that is a `misfit`: a dtype of another kind has its own."""
    return "E2112" if generic.kind in KINDS and str(value) in BY_NAME else "E2111"


def unknown_names(generics: Sequence[TGeneric], given: Iterable[str]) -> list[str]:
    """The names in `given` that are none of the generics."""
    names = {g.name for g in generics}
    return [name for name in given if name not in names]


def unknown_generic(
    name: str,
    nobody: str,
    declared: Iterable[str],
    *,
    near: str | None = None,
    code: str = "E2111",
    place: Span | None = None,
) -> Diagnostic:
    """The report of a value for a generic that is not `declared`. `nobody` begins the sentence,
    "`Model` has no generic"; `near` is the one that was meant, if that is known."""
    declared = list(declared)
    near = near or closest(name, declared)
    note = f"known here: {', '.join(declared)}" if declared else "there are none here"
    hint = None if near is None else f"did you mean {shown(near)}?"
    return Diagnostic(code, f"{nobody} {shown(name)}", place, notes=(note,), help=hint)


def refuse_unknown(generics: Sequence[TGeneric], given: Iterable[str], owner: str) -> None:
    """Refuse values for generics that `owner` does not have."""
    unknown = unknown_names(generics, given)
    names = [g.name for g in generics]
    if unknown:
        raise LinnetError([unknown_generic(n, f"`{owner}` has no generic", names) for n in unknown])


def arguments(
    generics: Sequence[TGeneric], args: Sequence[GenericArg], scope: Bound, span: Span
) -> Bound:
    """The generics of what is used at `span` bound to `args`, which are written over `scope`."""
    bound = {g.binder: in_arg(a, scope) for g, a in zip(generics, args, strict=True)}
    for generic in generics:
        if long(bound[generic.binder]):
            message = f"`{generic.name}` is too long a dimension here"
            help_ = "bind the generics of the root to numbers"
            fail("E1104", message, span, label="by way of other generics", help=help_)
    return bound


def sub_bindings(block: TBlock, sub: TSub, scope: Bound) -> Bound:
    """The generics of the block that `sub` is, as the enclosing block binds them."""
    try:
        bound = arguments(block.generics, sub.args, scope, sub.span)
    except DimError as error:
        fail("E2205", str(error), sub.span)
    for generic, arg in zip(block.generics, bound.values(), strict=True):
        if isinstance(arg, Dim):
            check_extent(arg, sub.span, f"`{generic.name}` of `{sub.name}`")
    return bound


def sub_count(sub: TSub, scope: Bound) -> Dim | None:
    """How many blocks a sub array has; None for a single sub."""
    if sub.count is None:
        return None
    return extent_under(sub.count, scope, sub.span, f"the length of `{sub.name}`")


def type_under(type_: Type, scope: Bound, span: Span) -> Type:
    """`type_` under `scope`, no extent of it divided by zero."""
    try:
        return in_type(type_, scope)
    except DimError as error:
        fail("E2205", str(error), span)


def extent_under(dim: Dim, scope: Bound, span: Span, what: str = "a dimension") -> Dim:
    """`dim` under `scope`, as an extent: never negative, never divided by zero."""
    try:
        result = in_arg(dim, scope)
    except DimError as error:
        fail("E2205", str(error), span)
    assert isinstance(result, Dim)
    check_extent(result, span, what)
    return result


def check_extent(dim: Dim, span: Span, what: str = "a dimension") -> None:
    """Refuse a negative extent."""
    number = dim.as_int()
    if number is not None and number < 0:
        fail("E2208", f"{what} is {number}", span, label="negative with these generics")
