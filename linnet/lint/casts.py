"""W2011: a cast that converts nothing."""

from __future__ import annotations

from collections.abc import Iterator

from linnet.check.typed import TConst, TDim, TIntrinsic
from linnet.check.walk import expressions
from linnet.lint.subject import Subject
from linnet.source.diagnostics import Diagnostic


def casts(subject: Subject) -> Iterator[Diagnostic]:
    """W2011. A number gets its dtype by its cast."""
    for decl, block in subject.functions():
        for expr in expressions(subject.typed(decl, block).body):
            if not isinstance(expr, TIntrinsic) or expr.name != "cast":
                continue
            (value,) = expr.args
            if value.type == expr.type and not isinstance(value, TConst | TDim):
                message = f"the value is `{value.type}` already"
                help_ = f"write `{value.span.text}`" if "\n" not in value.span.text else None
                yield Diagnostic("W2011", message, expr.span, "a cast to what it is", help=help_)
