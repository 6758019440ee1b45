"""How the inputs of an entry are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from linnet.check.typed import TFunction, TParam
from linnet.source.diagnostics import Diagnostic, Related
from linnet.source.errors import LinnetError


@dataclass(frozen=True, slots=True)
class Place:
    """An input of an entry, or a part of one: `path` is `cache.key`, or `pair.0` of a tuple."""

    function: TFunction
    param: TParam
    path: str

    def part(self, name: str) -> Place:
        """The part called `name`."""
        return Place(self.function, self.param, f"{self.path}.{name}")

    def refuse(
        self, code: str, message: str, *, notes: tuple[str, ...] = (), help: str | None = None
    ) -> NoReturn:
        """Raise a finding about it."""
        refuse(code, message, self.function, self.param, notes=notes, help=help)


def refuse(
    code: str,
    message: str,
    function: TFunction,
    param: TParam | None = None,
    *,
    notes: tuple[str, ...] = (),
    help: str | None = None,
) -> NoReturn:
    """Raise a finding about an input, or the inputs, of `function`."""
    span = function.span if param is None else param.local.span
    related = (Related(span, "declared here"),)
    raise LinnetError([Diagnostic(code, message, None, related=related, notes=notes, help=help)])
