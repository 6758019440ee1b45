"""The types that the checker found, by the place of the expression or the name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from linnet.check.typed import (
    Local,
    Program,
    TAssign,
    TExpr,
    TForRange,
    TForSubs,
    TLet,
    TLetTuple,
    TMatchOptional,
    TReturn,
    TStmt,
    TWhile,
)
from linnet.check.types import ERROR, Type
from linnet.check.walk import children
from linnet.source.files import SourceFile, Span


@dataclass(slots=True)
class TypesAt:
    """`exprs` are the types of expressions, the outermost of those at one place; `names` those of
    parameters, locals and members where they are declared. What was a mistake is in neither."""

    exprs: dict[Span, Type] = field(default_factory=dict[Span, Type])
    names: dict[Span, Type] = field(default_factory=dict[Span, Type])

    def smallest(self, file: SourceFile, offset: int) -> tuple[Span, Type] | None:
        """The smallest typed expression around a place."""
        around = [s for s in self.exprs if s.file is file and s.start <= offset <= s.end]
        span = min(around, key=lambda s: s.end - s.start, default=None)
        return None if span is None else (span, self.exprs[span])


def types_of(program: Program) -> TypesAt:
    """The types of a program, which may have errors."""
    types = TypesAt()
    for function in program.functions.values():
        for param in function.params:
            _local(types, param.local)
            if param.default is not None:
                _expr(types, param.default)
        _body(types, function.body)
    for block in program.blocks.values():
        for member in block.members.values():
            types.names[member.span] = member.type
    return types


def _local(types: TypesAt, local: Local) -> None:
    if local.type != ERROR:
        types.names[local.span] = local.type


def _expr(types: TypesAt, expr: TExpr) -> None:
    if expr.type != ERROR:
        types.exprs.setdefault(expr.span, expr.type)
    if isinstance(expr, TMatchOptional):
        _local(types, expr.local)
    for child in children(expr):
        _expr(types, child)


def _body(types: TypesAt, body: Iterable[TStmt]) -> None:
    for stmt in body:
        match stmt:
            case TLet(local=local, value=value):
                _local(types, local)
                _expr(types, value)
            case TLetTuple(locals=locals_, value=value):
                for local in locals_:
                    _local(types, local)
                _expr(types, value)
            case TAssign(value=value) | TReturn(value=value):
                _expr(types, value)
            case TForRange(variable=variable, body=inner):
                _local(types, variable)
                _body(types, inner)
            case TForSubs(body=inner):
                _body(types, inner)
            case TWhile(condition=condition, body=inner):
                _expr(types, condition)
                _body(types, inner)
