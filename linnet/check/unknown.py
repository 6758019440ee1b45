"""Names that mean nothing here, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

from linnet.check.foreign import DONE, DTYPES, INSTEAD, NOTHING, PACKAGES, REDUCTIONS, UNLIKE
from linnet.check.intrinsics import PRELUDE, intrinsic
from linnet.check.names import Missing
from linnet.check.scope import Scope
from linnet.check.undeclared import lacking, missing
from linnet.packages.library import library_items, plain, spelt
from linnet.source.files import Span
from linnet.source.suggest import closest, did_you_mean

_SUGGESTED = 100
_NAMED = "name the dimension, and declare it as a generic: `<N: Dim>`"
_BY_NAME = "items are imported by name: `use std.nn.linear::{Linear}`"


def unknown_name(
    scope: Scope, name: str, span: Span, member: str | None = None, called: bool = False
) -> None:
    """E1201, unless what the name was to mean was reported already. What is missing once is one
    mistake, however often it is named. `member` is what was asked of it, as in `torch.exp`; it may
    also be `called`."""
    if _reported(scope, name):
        return
    help_ = _meant(scope, name) if member is None else _member(scope, name, member)
    scope.error(
        "E1201",
        f"nothing named `{name}` is declared here",
        span,
        help=help_
        or near(scope, name, [*scope.visible(), *sorted(PRELUDE)])
        or _close(scope, name),
        folds=missing(scope, name),
        about=() if called or member is not None else lacking(scope),
    )


def unknown_dimension(scope: Scope, name: str, span: Span) -> None:
    """E1201 where a dimension is asked for: most likely a generic that is not declared."""
    if _reported(scope, name):
        return
    close = _NAMED if name in NOTHING else near(scope, name, scope.visible())
    scope.error(
        "E1201",
        f"nothing named `{name}` is declared here",
        span,
        help=close or f"a dimension is a generic: declare it, `<{name}: Dim>`",
        folds=missing(scope, name),
        about=lacking(scope),
    )


def _reported(scope: Scope, name: str) -> bool:
    found = scope.lookup(name)
    return isinstance(found, Missing) and found.reported


def near(scope: Scope, name: str, among: Iterable[str]) -> str | None:
    """`did_you_mean` for the first findings of a run. It compares a name with every other, which
    would take the square of the time in a file where each is unknown."""
    return did_you_mean(name, among) if _few(scope) else None


def _few(scope: Scope) -> bool:
    return len(scope.world.sink.found) < _SUGGESTED


def way_out_of(scope: Scope, name: str) -> str | None:
    """How what other languages call `name` is done here, or imported; None if not known."""
    if name in DTYPES:
        return f"the dtype is `{DTYPES[name]}`"
    if name in REDUCTIONS:
        return f"reduce in index notation: `{name}[i] x[b, i]`"
    offered = None if name in UNLIKE else offer(scope, name)
    ways = [offered, DONE.get(name) or INSTEAD.get(name)]
    return ", or ".join(way for way in ways if way) or None


def offer(scope: Scope, name: str) -> str | None:
    """The import that gives the public item `name`, of the library or of this package."""
    module = library_items().get(name) or _of_package(scope).get(name)
    return None if module is None else f"`use {module}::{{{name}}}`"


def _of_package(scope: Scope) -> dict[str, str]:
    """The public items of the other modules of this package that are loaded, with their paths."""
    found: dict[str, str] = {}
    if not _few(scope):
        return found
    package = scope.module.package
    for key, module in scope.world.scopes.items():
        if module.package == package and module is not scope.module:
            path = f"crate{key.removeprefix(package)}"
            found.update({n: path for n, ref in module.items.items() if ref.item.public})
    return found


def _meant(scope: Scope, name: str) -> str | None:
    return way_out_of(scope, name) or _spelt(scope, name)


def _spelt(scope: Scope, name: str) -> str | None:
    """What to import where `name` is written otherwise there: `RMSNorm`, `ReLU`."""
    every = (*library_items(), *_of_package(scope))
    same = spelt(name, every) if len(plain(name)) > 1 else None
    return None if same is None else way_out_of(scope, same)


def _close(scope: Scope, name: str) -> str | None:
    """What to import whose name is near."""
    if not _few(scope):
        return None
    close = closest(name, [*library_items(), *_of_package(scope)])
    return None if close is None else f"did you mean `{close}`: {offer(scope, close)}"


def _member(scope: Scope, name: str, member: str) -> str | None:
    """The way out where `name.member` was written, and nothing is named `name`."""
    if name not in PACKAGES:
        return near(scope, name, scope.visible()) or offer(scope, member) or _meant(scope, name)
    if intrinsic(member) is not None:
        return f"it needs no import: `{member}(...)`"
    return _meant(scope, member) or _close(scope, member) or _BY_NAME
