"""W2012: `1 / N * x`, which is no float division: `1 / N` is the integer 0 where N is above 1."""

from __future__ import annotations

from collections.abc import Iterator

from linnet.check.typed import TConst, TDim, TExpr, TFunction, TQuotient
from linnet.check.types import ScalarType
from linnet.check.walk import expressions, inside
from linnet.dims.dims import Dim
from linnet.dims.prover import Facts, Relation
from linnet.dtypes import BY_NAME, FLOATS, admits
from linnet.lint.subject import Subject
from linnet.source.diagnostics import Diagnostic
from linnet.source.files import Span
from linnet.syntax import ast
from linnet.syntax.nodes import nodes


def quotients(subject: Subject) -> Iterator[Diagnostic]:
    """W2012. A cast around a quotient of sizes says that the whole number is meant, as in
    `cast<f32>(D / 2)`; a number divided by a size is hardly ever meant so."""
    file = subject.tree.span.file
    found = {s: q for s, q in subject.program.quotients.items() if s.file is file}
    if found:
        yield from dict.fromkeys(_rounded(subject, found))


def _rounded(subject: Subject, found: dict[Span, TQuotient]) -> Iterator[Diagnostic]:
    whole: dict[str, Span] = {}  # the values of constants that are integers until they are used
    for item in subject.tree.items:
        match item:
            case ast.ConstDecl(type=None):
                whole[item.name.text] = item.value.span
            case ast.ConstDecl(type=type_) if type_ and _is_float(type_, item.value):
                yield from _in_place(found, item.value.span, type_.span.text, Facts(()))
            case _:
                pass
    for decl, block in subject.functions():
        function = subject.typed(decl, block)
        facts = subject.facts(function)
        for expr in _floats(function):
            place = whole.get(expr.span.text, expr.span)
            yield from _in_place(found, place, str(expr.type), facts)


def _is_float(type_: ast.TypeExpr, value: ast.Expr) -> bool:
    """Whether a constant is a float that is made by arithmetic alone."""
    dtype = BY_NAME.get(type_.span.text)
    plain = not any(isinstance(n, ast.CallExpr | ast.IfExpr) for n in nodes(value))
    return dtype is not None and dtype.is_float and plain


def _floats(function: TFunction) -> Iterator[TExpr]:
    """The compile-time integers of a function that become floats."""
    defaults = (e for p in function.params if p.default is not None for e in inside(p.default))
    for expr in (*defaults, *expressions(function.body)):
        if isinstance(expr, TDim | TConst):
            type_ = expr.type
            if isinstance(type_, ScalarType) and admits(type_.dtype) <= FLOATS:
                yield expr


def _in_place(
    found: dict[Span, TQuotient], place: Span, dtype: str, facts: Facts
) -> Iterator[Diagnostic]:
    """The quotients in `place`, a float of `dtype`, that do not always come out."""
    cast = place.text.startswith("cast<")
    for span, quotient in found.items():
        if not place.start <= quotient.sign.start < place.end:
            continue
        if cast and quotient.num.symbols():
            continue
        if not facts.implies(Relation("==", quotient.num % quotient.den, Dim.of(0))):
            message = f"`{span.text}` is a quotient of integers, rounded before it is a float"
            help_ = f"divide floats: `{_of_floats(span, quotient, dtype)}`"
            yield Diagnostic("W2012", message, span, _worth(quotient), help=help_)


def _of_floats(span: Span, quotient: TQuotient, dtype: str) -> str:
    text, at = span.text, quotient.sign.start - span.start
    num = text[:at].rstrip()
    rest = text[len(num) :]
    bare = num[1:-1] if num.startswith("(") and num.count("(") == 1 else num
    return f"{num}.0{rest}" if num.isdigit() else f"cast<{dtype}>({bare}){rest}"


def _worth(quotient: TQuotient) -> str:
    num, den = quotient.num.as_int(), quotient.den.as_int()
    if num is None or num < 0:
        return "rounded toward zero"
    if den is None:
        return f"0 where `{quotient.den}` is above {num}"
    return f"this is {num // den if den > 0 else -(num // -den)}"
