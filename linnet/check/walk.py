"""Going through typed expressions and statements, and questions that need a look at everything
inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from linnet.check.typed import (
    AtDynamic,
    IndexVar,
    Local,
    Program,
    TAccess,
    TAssign,
    TBinary,
    TCall,
    TConst,
    TDim,
    TExpr,
    TField,
    TForRange,
    TForSubs,
    TIf,
    TIndex,
    TIndexed,
    TIntrinsic,
    TLet,
    TLetTuple,
    TLocal,
    TMatchEnum,
    TMatchOptional,
    TMember,
    TNone,
    TReduce,
    TReturn,
    TSome,
    TStmt,
    TStruct,
    TSubMember,
    TTuple,
    TUnary,
    TVariant,
    TWhile,
)


def children(expr: TExpr) -> Iterator[TExpr]:
    """The expressions directly inside `expr`."""
    match expr:
        case TUnary():
            yield expr.operand
        case TBinary():
            yield from (expr.left, expr.right)
        case TIf():
            yield from (expr.condition, expr.then, expr.otherwise)
        case TMatchOptional():
            yield from (expr.subject, expr.some, expr.none)
        case TMatchEnum():
            yield expr.subject
            yield from (arm for _, arm in expr.arms)
        case TSome():
            yield expr.value
        case TTuple():
            yield from expr.items
        case TStruct():
            yield from expr.values
        case TField():
            yield expr.base
        case TCall():
            yield from (a for a in expr.args if a is not None)
        case TIntrinsic():
            yield from expr.args
        case TIndex():
            yield expr.base
            yield from (i.at for i in expr.items if isinstance(i, AtDynamic))
        case TIndexed() | TReduce():
            yield expr.body
        case TAccess():
            yield expr.base
            yield from (p for p in expr.positions if not isinstance(p, IndexVar))
        case TConst() | TDim() | TLocal() | TMember() | TSubMember() | TNone() | TVariant():
            pass


def inside(expr: TExpr) -> Iterator[TExpr]:
    """The expression and all inside it, each before what it holds."""
    waiting = [expr]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(children(found))


def statements(body: Iterable[TStmt]) -> Iterator[TStmt]:
    """Every statement of a body, each before those in it."""
    for stmt in body:
        yield stmt
        if isinstance(stmt, TForSubs | TForRange | TWhile):
            yield from statements(stmt.body)


def values(stmt: TStmt) -> tuple[TExpr, ...]:
    """The expressions that a statement evaluates, without those of the statements in it."""
    match stmt:
        case TLet() | TLetTuple() | TAssign() | TReturn():
            return (stmt.value,)
        case TWhile():
            return (stmt.condition,)
        case TForSubs() | TForRange():
            return ()


def expressions(body: Iterable[TStmt]) -> Iterator[TExpr]:
    """Every expression of a body, those inside others too."""
    return (e for stmt in statements(body) for value in values(stmt) for e in inside(value))


def as_written(exprs: Sequence[TExpr | None]) -> list[int]:
    """The numbers of the expressions that are there, in the order in which the source has them:
    named arguments and fields stand in any."""
    given = [(e.span.start, i) for i, e in enumerate(exprs) if e is not None]
    return [i for _, i in sorted(given)]


class Uses:
    """The indices and locals that occur free in an expression, remembered."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, frozenset[IndexVar | Local]] = {}

    def of(self, expr: TExpr) -> frozenset[IndexVar | Local]:
        """The free indices and locals of `expr`, which must outlive this."""
        found = self._known.get(id(expr))
        if found is None:
            found = self._known[id(expr)] = self._compute(expr)
        return found

    def _compute(self, expr: TExpr) -> frozenset[IndexVar | Local]:
        used: set[IndexVar | Local] = set()
        for child in children(expr):
            used |= self.of(child)
        if isinstance(expr, TLocal):
            used.add(expr.local)
        elif isinstance(expr, TAccess):
            used.update(p for p in expr.positions if isinstance(p, IndexVar))
        elif isinstance(expr, TIndexed | TReduce):
            used.difference_update(expr.indices)
        return frozenset(used)


class Faults:
    """Whether evaluating an expression where the program would not could be noticed: it reads at
    a runtime position, changes a state, or may not end. What is known of functions is kept."""

    __slots__ = ("_known", "_program")

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[str, bool] = {}

    def of(self, expr: TExpr) -> bool:
        """The answer for `expr`."""
        called: set[str] = set()
        return _may_fault(expr, called) or any(self._function(key) for key in called)

    def _function(self, key: str) -> bool:
        if key not in self._known:
            self._known[key] = self._reaches_fault(key)
        return self._known[key]

    def _reaches_fault(self, key: str) -> bool:
        seen: set[str] = set()
        waiting = {key}
        while waiting:
            name = waiting.pop()
            seen.add(name)
            called: set[str] = set()
            if self._known.get(name) or _body_may_fault(self._program.functions[name].body, called):
                return True
            waiting |= {c for c in called - seen if self._known.get(c) is not False}
        return False


def _may_fault(expr: TExpr, called: set[str]) -> bool:
    """Whether `expr` itself may be noticed; what it calls is added to `called`."""
    found = False
    match expr:
        case TAccess():
            found = any(not isinstance(p, IndexVar | TConst | TDim) for p in expr.positions)
        case TIndex():
            found = any(isinstance(i, AtDynamic) for i in expr.items)
        case TCall():
            called.add(expr.callee)
        case _:
            pass
    return found or any(_may_fault(child, called) for child in children(expr))


def _body_may_fault(body: Iterable[TStmt], called: set[str]) -> bool:
    return any(_stmt_may_fault(stmt, called) for stmt in statements(body))


def _stmt_may_fault(stmt: TStmt, called: set[str]) -> bool:
    if isinstance(stmt, TWhile) or (isinstance(stmt, TAssign) and isinstance(stmt.target, str)):
        return True
    return any(_may_fault(value, called) for value in values(stmt))


def assigned(body: Iterable[TStmt]) -> list[Local]:
    """The locals from outside that `body` assigns, in the order in which it does."""
    found: dict[Local, None] = {}
    own: set[Local] = set()
    for stmt in body:
        match stmt:
            case TLet():
                own.add(stmt.local)
            case TLetTuple():
                own.update(stmt.locals)
            case TAssign():
                if isinstance(stmt.target, Local):
                    found.setdefault(stmt.target)
            case TForSubs() | TForRange() | TWhile():
                found.update(dict.fromkeys(assigned(stmt.body)))
            case TReturn():
                pass
    return [v for v in found if v not in own]
