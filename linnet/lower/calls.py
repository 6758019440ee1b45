"""Lowering calls."""

from __future__ import annotations

from dataclasses import replace

from linnet.check.typed import TCall, TFunction
from linnet.check.walk import as_written
from linnet.lower.bindings import Bound, arguments, sub_bindings
from linnet.lower.bundle import Bundle, Group, fill, leaves, question, resolved, skeleton
from linnet.lower.context import BlockRef, Call, Context
from linnet.lower.presence import Presence, below


def lower_call(at: Context, expr: TCall) -> Bundle:
    """Lower a call of a function, of a method of this block, or of one of a sub block."""
    callee = at.program.functions[expr.callee]
    path, scope, presence = target(at, expr)
    scope = scope | arguments(callee.generics, expr.generics, at.scope, expr.span)
    call = Call(callee, scope, presence, (), at.numbers)
    return _emit(at, call, path, _arguments(at, expr, callee, scope))


def _emit(at: Context, call: Call, path: tuple[str, ...], args: tuple[Bundle, ...]) -> Bundle:
    """A library op is called with its optionals known: it is one thing with them and another
    without, and so are its kernels."""
    unknown = question(Group(args)) if call.function.kind == "op" else None
    if unknown is not None:
        sides = [tuple(resolved(a, unknown, there) for a in args) for there in (True, False)]
        return at.branch(
            unknown.there,
            lambda: _emit(at, call, path, sides[0]),
            lambda: _emit(at, call, path, sides[1]),
        )
    lowered = at.functions.lowered(replace(call, args=tuple(map(skeleton, args))))
    names = dict(lowered.generics)
    operands = [
        at.out.coerce(value, wanted.type.under(names))
        for arg, param in zip(args, lowered.params, strict=True)
        for value, wanted in zip(leaves(arg), leaves(param), strict=True)
    ]
    types = [v.type.under(names) for v in leaves(lowered.result)]
    attrs: dict[str, object] = {"callee": lowered.name, "at": path}
    if names:
        attrs["generics"] = lowered.generics
    return fill(lowered.result, iter(at.out.emit("call", operands, types, attrs)))


def _arguments(at: Context, expr: TCall, callee: TFunction, scope: Bound) -> tuple[Bundle, ...]:
    """The arguments as they are written, then the defaults of those that are not."""
    found: dict[int, Bundle] = {}
    for i in as_written(expr.args):
        given = expr.args[i]
        assert given is not None
        found[i] = at.expr(given)
    with at.within(scope):
        for i, param in enumerate(callee.params):
            if i not in found:
                assert param.default is not None, callee.key
                found[i] = at.expr(param.default)
    return tuple(found[i] for i in range(len(callee.params)))


def target(at: Context, expr: TCall) -> tuple[tuple[str, ...], Bound, Presence]:
    """The block that a call is on: its path from here, its generics, its optionals."""
    if expr.own:
        own = at.block
        assert own is not None
        return (), {g.binder: at.scope[g.binder] for g in own.generics}, at.presence
    if expr.sub is None:
        return (), {}, ()
    if expr.sub.loop is not None:
        ref = at.blocks[expr.sub.loop]
    else:
        assert at.block is not None and expr.sub.name is not None
        ref = BlockRef((expr.sub.name,), at.block.subs[expr.sub.name])
    block = at.program.blocks[ref.sub.block]
    bound = sub_bindings(block, ref.sub, at.scope)
    return ref.at, bound, below(at.presence, ref.sub.name)
