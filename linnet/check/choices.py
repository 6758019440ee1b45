"""Choices: `if`, and `match` over optionals, blocks that may be absent, and enums."""

from __future__ import annotations

from linnet.check.convert import bad, conform, settle
from linnet.check.equal import same_type
from linnet.check.expr import alone, condition, infer, settled
from linnet.check.hints import others_first
from linnet.check.meanings import declared_at
from linnet.check.scope import Scope, is_error
from linnet.check.typed import (
    Local,
    TExpr,
    TIf,
    TMatchEnum,
    TMatchOptional,
    TSub,
    TSubMember,
)
from linnet.check.types import (
    ERROR,
    EnumType,
    LiteralType,
    OptionalType,
    ScalarType,
    TupleType,
    Type,
    element_dtype,
)
from linnet.check.undeclared import lost
from linnet.source.files import Span
from linnet.source.suggest import did_you_mean, listed
from linnet.syntax import ast


def if_(scope: Scope, e: ast.IfExpr, hint: Type | None) -> TExpr:
    """`if`, whose condition is a `bool` and whose sides have one type."""
    test = condition(scope, e.condition)
    sides = _agree(scope, [(e.then, {}), (e.otherwise, {})], hint, e.span)
    if sides is None or is_error(test.type):
        return bad(e.span)
    return TIf(test, sides[0], sides[1], sides[0].type, e.span)


def _agree(
    scope: Scope, branches: list[tuple[ast.Expr, dict[str, Local]]], hint: Type | None, span: Span
) -> list[TExpr] | None:
    """Branches that must have one type (E2115); each with the locals it brings."""

    def branch(i: int, wish: Type | None) -> TExpr:
        scope.frames.append(branches[i][1])
        value = infer(scope, branches[i][0], wish)
        scope.frames.pop()
        return value

    exprs = [e for e, _ in branches]
    values = others_first(scope, exprs, hint, branch, shapes=True)
    if is_error(*(v.type for v in values)):
        return None
    firm = [v for v in values if not isinstance(v.type, LiteralType)]
    if firm and isinstance(firm[0].type, ScalarType):
        wanted = firm[0].type
    else:
        asked = element_dtype(hint) if not firm else None
        wanted = ScalarType(asked) if asked is not None else None
    if wanted is not None:
        values = [
            conform(scope, v, wanted, "this branch") if isinstance(v.type, LiteralType) else v
            for v in values
        ]
    values = [settle(scope, v) for v in values]
    if is_error(*(v.type for v in values)):
        return None
    for other in values[1:]:
        if not same_type(scope.facts, values[0].type, other.type):
            scope.error(
                "E2115",
                f"the branches have different types: `{values[0].type}` and `{other.type}`",
                other.span,
                related=[(values[0].span, f"this is `{values[0].type}`")],
            )
            return None
    return values


def match_(scope: Scope, e: ast.MatchExpr, hint: Type | None) -> TExpr:
    """`match` of an optional, an enum or a `sub` that may be absent; each case has one arm."""
    if isinstance(e.subject, ast.NameExpr):
        found = scope.lookup(e.subject.name)
        if isinstance(found, TSub):
            scope.read(e.subject.name)
            return _match_sub(scope, e, found, hint)
    subject = settled(scope, e.subject)
    if isinstance(subject.type, OptionalType):
        return _match_optional(scope, e, subject, None, hint)
    if isinstance(subject.type, EnumType):
        return _match_enum(scope, e, subject, subject.type, hint)
    if not is_error(subject.type):
        scope.error(
            "E2117",
            f"`match` looks into an optional or an enum, not `{subject.type}`",
            e.subject.span,
        )
    return _unmatched(scope, e)


def _match_sub(scope: Scope, e: ast.MatchExpr, sub: TSub, hint: Type | None) -> TExpr:
    if not sub.optional:
        message = f"`{sub.name}` is always there"
        help_ = "call a method of it; a block that may be absent is a `sub` of type `Block<...>?`"
        related = declared_at(sub)
        scope.error("E2117", message, e.subject.span, related=related, help=help_)
        return _unmatched(scope, e)
    subject = TSubMember(sub.name, OptionalType(TupleType(())), e.subject.span)
    return _match_optional(scope, e, subject, sub, hint)


def _match_optional(
    scope: Scope, e: ast.MatchExpr, subject: TExpr, sub: TSub | None, hint: Type | None
) -> TExpr:
    """Of a value, or of the optional `sub`: the pattern's name is then the block."""
    assert isinstance(subject.type, OptionalType)
    what = f"`{subject.type}`" if sub is None else f"the block `{sub.name}`"
    some = none = None
    for arm in e.arms:
        match arm.pattern:
            case ast.SomePattern() if some is None:
                some = arm
            case ast.NonePattern() if none is None:
                none = arm
            case ast.VariantPattern():
                scope.error("E2117", f"this pattern cannot match {what}", arm.pattern.span)
                return _unmatched(scope, e)
            case _:
                scope.error("E2117", "an earlier arm matches this already", arm.pattern.span)
                return _unmatched(scope, e)
    if some is None or none is None:
        missing = "some(v)" if some is None else "none"
        scope.error("E2118", f"`match` misses `{missing}`", e.span, help=f"add `{missing} => ...`")
        return _unmatched(scope, e)
    assert isinstance(some.pattern, ast.SomePattern)
    scope.frames.append({})
    name = some.pattern.name
    local = scope.declare(name.text, subject.type.inner, False, name.span)
    scope.frames.pop()
    if sub is not None:
        scope.subs[local] = sub.name
    sides = _agree(scope, [(some.value, {local.name: local}), (none.value, {})], hint, e.span)
    if sides is None:
        return bad(e.span)
    return TMatchOptional(subject, local, sides[0], sides[1], sides[0].type, e.span)


def _match_enum(
    scope: Scope, e: ast.MatchExpr, subject: TExpr, enum: EnumType, hint: Type | None
) -> TExpr:
    seen: dict[str, ast.Expr] = {}
    for arm in e.arms:
        if not isinstance(arm.pattern, ast.VariantPattern):
            scope.error("E2117", f"this pattern cannot match `{enum}`", arm.pattern.span)
            return _unmatched(scope, e)
        name = arm.pattern.name
        if name.text not in enum.variants:
            close = did_you_mean(name.text, enum.variants)
            help_ = close or f"its variants: {listed(enum.variants)}"
            message = f"`{enum}` has no variant `{name.text}`"
            folds = [lost(scope, "variant", enum.key, name.text)]
            scope.error("E2107", message, name.span, help=help_, folds=folds)
            return _unmatched(scope, e)
        if name.text in seen:
            scope.error("E2117", "an earlier arm matches this already", name.span)
            return _unmatched(scope, e)
        seen[name.text] = arm.value
    missing = [v for v in enum.variants if v not in seen]
    if missing:
        scope.error("E2118", f"`match` misses {listed(missing, True)}", e.span)
        return _unmatched(scope, e)
    sides = _agree(scope, [(v, {}) for v in seen.values()], hint, e.span)
    if sides is None:
        return bad(e.span)
    arms = tuple(zip(seen, sides, strict=True))
    return TMatchEnum(subject, arms, sides[0].type, e.span)


def _unmatched(scope: Scope, e: ast.MatchExpr) -> TExpr:
    """After a report, with what is wrong in the arms."""
    for arm in e.arms:
        frame: dict[str, Local] = {}
        if isinstance(arm.pattern, ast.SomePattern):
            name = arm.pattern.name
            frame[name.text] = Local(name.text, ERROR, False, name.span)
        scope.frames.append(frame)
        alone(scope, [arm.value])
        scope.frames.pop()
    return bad(e.span)
