"""Which argument of a call is for which parameter."""

from __future__ import annotations

from linnet.check.keys import Parameters, Refused
from linnet.check.scope import Scope
from linnet.source.suggest import did_you_mean, listed
from linnet.syntax import ast


def place_arguments(
    scope: Scope,
    e: ast.CallExpr,
    names: list[str],
    callee: str,
    too_many: str | None = None,
    item: str | None = None,
) -> list[ast.Argument | None] | None:
    """Arguments by parameter; None for a parameter without one. E2102 for what does not fit, with
    the way out for `too_many`. `item` is the key of a function that is declared: it may lack what
    its calls give it."""
    lost = [Parameters(item)] if item is not None else []
    placed: list[ast.Argument | None] = [None] * len(names)
    named = False
    for i, arg in enumerate(e.args):
        if arg.name is None:
            if named:
                help_ = "move it to the front, or name it"
                message = "positional arguments come before named ones"
                scope.error("E2102", message, arg.span, help=help_)
                return None
            if i >= len(names):
                plural = "" if len(names) == 1 else "s"
                scope.error(
                    "E2102",
                    f"`{callee}` takes {len(names)} argument{plural}, {len(e.args)} are given",
                    arg.span,
                    help=too_many or _taken(names),
                    folds=[Refused(list_, len(e.args)) for list_ in lost],
                    follows=lost,
                )
                return None
            placed[i] = arg
            continue
        named = True
        if arg.name.text not in names:
            scope.error(
                "E2102",
                f"`{callee}` has no parameter `{arg.name.text}`",
                arg.name.span,
                help=did_you_mean(arg.name.text, names) or _taken(names),
                folds=[Refused(list_, arg.name.text) for list_ in lost],
                follows=lost,
            )
            return None
        at = names.index(arg.name.text)
        if placed[at] is not None:
            message = f"`{arg.name.text}` is given twice"
            scope.error("E2102", message, arg.span, help="leave one of them out")
            return None
        placed[at] = arg
    scope.world.accepted.update(lost)
    return placed


def _taken(names: list[str]) -> str:
    return f"its parameters: {listed(names)}" if names else "it takes no arguments"
