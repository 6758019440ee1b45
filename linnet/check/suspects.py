"""The declarations that a finding may be due to, as keys under which findings fold into one.

param weight: Tensor[N; f32]                       an axis was forgotten here
fn f(x: ...) -> .. { let y[n] = weight[n, 0] .. }  reported: one axis, two indexed
fn g(x: ...) -> .. { return linear(x, weight) }    not: again `weight`, and its one axis
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import combinations

from linnet.check.equal import same_shape
from linnet.check.keys import Constant, Everywhere, Offered, Order, Refused, Sought, Wrong
from linnet.check.scope import Scope
from linnet.check.substitute import Bindings, in_type
from linnet.check.typed import Local, TCall, TExpr, TFunction, TLocal, TMemberDecl
from linnet.check.types import (
    Shape,
    TensorType,
    Type,
    element_dtype,
    present,
    rank_of,
)
from linnet.dims.dims import DimError
from linnet.dims.prover import Facts
from linnet.dtypes import AnyDType, DType
from linnet.source.files import Span

# A call that writes its generics.
_WRITTEN = re.compile(r"[\w.\s]+<")


def of_dtypes(
    scope: Scope, a: AnyDType, b: AnyDType, spans: Iterable[Span], suspects: Iterable[object] = ()
) -> list[object]:
    """What a finding about two dtypes has in common with others: the two, and a thing of one of
    them that `spans` name, or one of `suspects`."""
    pair = frozenset({str(a), str(b)})
    out: list[object] = []
    for thing in {*suspects}.union(*map(scope.named_in, spans)):
        if isinstance(thing, Everywhere):
            out.append(Everywhere((pair, thing.thing)))
        elif isinstance(thing, Constant):
            const = scope.world.consts.found.get(thing.key)
            if const is not None and _dtype(const.type) in (a, b):
                out.append(Everywhere((pair, thing)))
        elif not isinstance(thing, Local | TMemberDecl) or _dtype(thing.type) in (a, b):
            out += [(pair, thing), Sought((Wrong.DTYPE, thing)), Offered((Wrong.MIXED, thing))]
    return out


def of_dtype(scope: Scope, dtype: AnyDType | None, span: Span) -> list[object]:
    """What a finding about one dtype that is of no use has in common with others: a thing of it
    that `span` names."""
    things = [t for t in scope.named_in(span) if isinstance(t, Local | TMemberDecl)]
    found = [t for t in things if dtype is not None and _dtype(t.type) == dtype]
    return [key for t in found for key in ((Wrong.DTYPE, t), Sought((Wrong.MIXED, t)))]


def of_condition(scope: Scope, found: Type, span: Span) -> list[object]:
    """What a finding about a value that is no scalar `bool` has in common with others: a thing of
    its type that `span` names."""
    alike = [t for t in scope.named_in(span) if isinstance(t, Local | TMemberDecl)]
    keys: list[object] = [(Wrong.CONDITION, t) for t in alike if t.type == found]
    keys += of_rank(scope, found, span)
    dtype = _dtype(found)
    return keys if dtype == DType.BOOL else [*keys, *of_dtype(scope, dtype, span)]


def of_literal(scope: Scope, dtype: AnyDType) -> list[object]:
    """What a finding about a literal that its context's dtype does not admit has in common with
    others: a thing of that dtype in the same statement, if that was found wrong."""
    named = scope.named_in(scope.statement) if scope.statement is not None else frozenset[object]()
    things = [t for t in named if isinstance(t, Local | TMemberDecl) and _dtype(t.type) == dtype]
    return [Sought((key, t)) for t in things for key in (Wrong.DTYPE, Wrong.MIXED)]


def of_rank(scope: Scope, found: Type, span: Span) -> list[object]:
    """What a finding about a value with the wrong number of axes has in common with others: a
    thing that `span` names with as many axes."""
    return _of_rank(_with_rank(scope.named_in(span), rank_of(found)))


def of_ranks(
    scope: Scope, found: Type, span: Span, wanted: Type, suspects: Collection[object]
) -> list[object]:
    """What a finding has in common with others about a value whose number of axes is not that of
    `wanted`, which one of `suspects` gave."""
    ranks = rank_of(found), rank_of(wanted)
    if ranks[0] == ranks[1]:
        return []
    keys = [*of_rank(scope, found, span), *_of_rank(_with_rank(suspects, ranks[1]))]
    return [*keys, *_refused(suspects, ranks)]


def of_axes(
    facts: Facts, value: TExpr, found: Shape, wanted: Shape, suspects: Collection[object]
) -> list[object]:
    """What a finding has in common with others about a value whose axes are as many as those of
    `wanted`, and not all equal: the value, if it has a name, and a parameter that none fits."""
    if len(found) != len(wanted):
        return []
    pairs = enumerate(zip(found, wanted, strict=True))
    differ = tuple(i for i, (x, y) in pairs if not same_shape(facts, (x,), (y,)))
    offered = [Offered((Wrong.SHAPE, value.local))] if isinstance(value, TLocal) else []
    return [*offered, *_refused(suspects, differ)]


def of_order(scope: Scope, value: TExpr, wanted: Shape) -> list[object]:
    """What a finding about a result of the wrong shape has in common with others: the order of the
    generics, where two of those that the call writes would do in each other's places."""
    if not isinstance(value, TCall) or value.sub is not None or not _WRITTEN.match(value.span.text):
        return []
    function = scope.world.program.functions[value.callee]
    bound = {g.binder: a for g, a in zip(function.generics, value.generics, strict=True)}
    for a, b in combinations(function.generics, 2):
        places = {a.binder: bound[b.binder], b.binder: bound[a.binder]}
        if a.kind == b.kind and _mended(scope, value, wanted, function, {**bound, **places}):
            order = Order(function.key)
            scope.world.accepted[order] -= 1  # for its arguments it was right
            return [Refused(order, tuple(sorted((a.name, b.name))))]
    return []


def _mended(scope: Scope, call: TCall, wanted: Shape, function: TFunction, bound: Bindings) -> bool:
    """Whether every axis of the result that is not as `wanted` would be that if `bound` were the
    generics. What the others should be may have been told by this value."""
    try:
        other = in_type(function.result, bound)
    except DimError:
        return False
    if not isinstance(call.type, TensorType) or not isinstance(other, TensorType):
        return False
    if not len(call.type.dims) == len(other.dims) == len(wanted):
        return False
    return all(
        same_shape(scope.facts, (found,), (axis,)) or same_shape(scope.facts, (mended,), (axis,))
        for found, mended, axis in zip(call.type.dims, other.dims, wanted, strict=True)
    )


def of_extent(indexed: TExpr) -> list[object]:
    """What a finding about an index beyond an axis of `indexed` has in common with others: it may
    be that `indexed` has the wrong shape."""
    return [Sought((Wrong.SHAPE, indexed.local))] if isinstance(indexed, TLocal) else []


def _refused(suspects: Collection[object], how: object) -> list[Refused]:
    parameters = [s.thing for s in suspects if isinstance(s, Everywhere)]
    return [Refused(p, how) for p in parameters if isinstance(p, Local)]


def of_count(scope: Scope, found: Type, span: Span) -> list[object]:
    """What a finding about a value with the wrong number of elements has in common with others: a
    thing of another rank than is asked for elsewhere. Two wrong numbers may be two mistakes."""
    things = _with_rank(scope.named_in(span), rank_of(found))
    keys: list[object] = [Sought((Wrong.RANK, thing)) for thing in things]
    return keys + [Offered((Wrong.COUNT, thing)) for thing in things if thing not in scope.sources]


def _of_rank(things: Iterable[object]) -> list[object]:
    return [key for t in things for key in ((Wrong.RANK, t), Sought((Wrong.COUNT, t)))]


def _with_rank(things: Iterable[object], rank: int | None) -> list[Local | TMemberDecl]:
    declared = [thing for thing in things if isinstance(thing, Local | TMemberDecl)]
    return [] if rank is None else [thing for thing in declared if rank_of(thing.type) == rank]


def _dtype(type_: Type) -> AnyDType | None:
    return element_dtype(present(type_))
