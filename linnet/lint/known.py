"""W2009 and W2010: what the prover knows without being told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from linnet.check.generics import divides, in_order
from linnet.check.typed import TBinary, TConst, TDim, TExpr
from linnet.check.types import ScalarType
from linnet.check.walk import expressions
from linnet.dims.dims import Dim
from linnet.dims.prover import Facts, Relation
from linnet.dtypes import DType
from linnet.lint.subject import Subject
from linnet.source.diagnostics import Diagnostic
from linnet.syntax import ast

_NATURAL = ScalarType(DType.I64)


def comparisons(subject: Subject) -> Iterator[Diagnostic]:
    """W2009, of comparisons in which a dimension takes part: one of numbers alone is a setting."""
    for decl, block in subject.functions():
        function = subject.typed(decl, block)
        facts = subject.facts(function)
        for expr in expressions(function.body):
            relation = _relation(expr)
            if relation is None:
                continue
            for known, word in ((relation, "true"), (relation.negated(), "false")):
                if facts.implies(known):
                    message = f"`{expr.span.text}` is always {word}"
                    help_ = f"here `{known}` holds for all sizes: leave the comparison out"
                    yield Diagnostic("W2009", message, expr.span, help=help_)
                    break


def _relation(expr: TExpr) -> Relation | None:
    if not isinstance(expr, TBinary) or expr.op not in ast.COMPARISONS:
        return None
    left, right = _dim(expr.left), _dim(expr.right)
    if left is None or right is None or not left.symbols() | right.symbols():
        return None
    return Relation(expr.op, left, right)


def _dim(expr: TExpr) -> Dim | None:
    """The compile-time integer that an i64 is, if it is one."""
    if expr.type != _NATURAL:
        return None
    match expr:
        case TDim(dim):
            return dim
        case TConst(int() as value):
            return Dim.of(value)
        case _:
            return None


def relations(subject: Subject) -> Iterator[Diagnostic]:
    """W2010. A relation without which another could not be divided is never left out, though it
    followed from that."""
    program = subject.program
    for item in subject.tree.items:
        if isinstance(item, ast.BlockDecl):
            own = program.blocks[f"{subject.key}::{item.name.text}"].facts
            yield from _redundant(item.where, own, ())
    for decl, block in subject.functions():
        function = subject.typed(decl, block)
        outer = () if function.block is None else program.blocks[function.block].facts
        yield from _redundant(decl.where, function.facts, outer)


def _redundant(
    where: tuple[ast.Expr, ...], own: tuple[Relation, ...], outer: Iterable[Relation]
) -> Iterator[Diagnostic]:
    """The relations that follow from the block's and the rest; of two that say the same, the
    second is one too many."""
    kept = list(zip(in_order(where), own, strict=True))
    for expr, relation in sorted(kept, key=lambda pair: pair[0].span.start, reverse=True):
        rest = [pair for pair in kept if pair[0] is not expr]
        usable = [r for e, r in rest if divides(expr) or not divides(e)]
        if Facts((*outer, *usable)).implies(relation):
            kept = rest
            message = f"`{expr.span.text}` follows from what else is assumed"
            yield Diagnostic("W2010", message, expr.span, help="leave it out")
