"""The types that the checker found, by the place of the expression or the name."""

from __future__ import annotations

from dataclasses import dataclass, field

from linnet.check.typed import (
    Local,
    Program,
    TExpr,
    TForRange,
    TLet,
    TLetTuple,
    TMatchOptional,
    TStmt,
)
from linnet.check.types import ERROR, Type
from linnet.check.walk import inside, statements, values
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
        for stmt in statements(function.body):
            for local in _locals(stmt):
                _local(types, local)
            for value in values(stmt):
                _expr(types, value)
    for block in program.blocks.values():
        for member in block.members.values():
            types.names[member.span] = member.type
    return types


def _local(types: TypesAt, local: Local) -> None:
    if local.type != ERROR:
        types.names[local.span] = local.type


def _expr(types: TypesAt, expr: TExpr) -> None:
    for found in inside(expr):
        if found.type != ERROR:
            types.exprs.setdefault(found.span, found.type)
        if isinstance(found, TMatchOptional):
            _local(types, found.local)


def _locals(stmt: TStmt) -> tuple[Local, ...]:
    """What a statement declares."""
    match stmt:
        case TLet(local=local) | TForRange(variable=local):
            return (local,)
        case TLetTuple(locals=locals_):
            return locals_
        case _:
            return ()
