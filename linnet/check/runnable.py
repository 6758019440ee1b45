"""What is typed but cannot be run yet (E2190), told by the check and not only when it is run.

Every function is gone through as lowering would, with what is known before a run of optionals and
enums in place of values. A finding of a function is one place, whoever calls it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linnet.check.elements import Elements
from linnet.check.presence import (
    VALUE,
    Enum,
    Form,
    Given,
    Group,
    MismatchError,
    Optional,
    chosen,
    form_of,
    loosened,
    merged,
    renamed,
)
from linnet.check.typed import (
    Local,
    Program,
    TAccess,
    TAssign,
    TBinary,
    TCall,
    TConst,
    TExpr,
    TField,
    TForRange,
    TForSubs,
    TFunction,
    TIf,
    TIndexed,
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
from linnet.check.types import StructType
from linnet.check.walk import Faults, Uses, assigned, children
from linnet.dims.prover import Facts
from linnet.graphs import depth_first
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import Span

# Calls that give optionals or enums on are followed so far.
_DEEPEST = 20


def check_runnable(program: Program, calls: Mapping[str, Mapping[str, Span]], sink: Sink) -> None:
    """Report what no backend could run; the program has no errors so far."""
    every = Functions(program, sink)
    order, _ = depth_first(program.functions, lambda key: calls.get(key, {}))
    for key in order:
        if key in program.functions:  # a `const` calls too
            every.default(program.functions[key])


class Functions:
    """The functions of the program, each for what is known of its arguments."""

    def __init__(self, program: Program, sink: Sink) -> None:
        self.program = program
        self.uses = Uses()
        self.faults = Faults(program)
        self._sink = sink
        self._said: set[tuple[Span, str]] = set()
        self._results: dict[tuple[str, tuple[Form, ...]], Form] = {}
        self._depth = 0

    def refuse(self, span: Span, message: str, label: str, help: str) -> None:
        """Report E2190, once a place."""
        if (span, message) not in self._said:
            self._said.add((span, message))
            self._sink.add(Diagnostic("E2190", message, span, label, help=help))

    def default(self, function: TFunction) -> Form:
        """The result for arguments of which nothing is known but that lowering will know."""
        entry = function.kind == "entry"
        forms = [form_of(p.local.type, entry) for p in function.params]
        try:
            return self.result(function, forms)
        except RecursionError:
            message = f"the calls of `{function.key}` are nested too deeply"
            help_ = "let one function do the work of several"
            self._sink.add(Diagnostic("E1104", message, function.span, help=help_))
            return form_of(function.result)
        finally:
            self._depth = 0

    def result(self, function: TFunction, args: Sequence[Form]) -> Form:
        """The result of a call. Calls that differ only in what decides about their arguments
        are one; what the function itself decides by is another thing in each call."""
        names: dict[Given, Given] = {}
        own = tuple(renamed(a, lambda g: names.setdefault(g, Given(-1 - len(names)))) for a in args)
        key = (function.key, own)
        if key not in self._results:
            if self._depth == _DEEPEST:
                return form_of(function.result)
            self._depth += 1
            self._results[key] = Body(self, function, own).run()
            self._depth -= 1
        back = {inner: outer for outer, inner in names.items()}
        return renamed(self._results[key], lambda g: back.setdefault(g, Given()))


class Body:
    """One function, gone through for what is known of its arguments."""

    def __init__(self, functions: Functions, function: TFunction, args: Sequence[Form]) -> None:
        self.functions = functions
        self.function = function
        block = functions.program.blocks[function.block] if function.block else None
        self.facts = Facts((*(block.facts if block else ()), *function.facts))
        pairs = zip(function.params, args, strict=True)
        self.env: dict[Local, Form] = {p.local: form for p, form in pairs}
        self._members: dict[str, Form] = {}

    def run(self) -> Form:
        """The result."""
        result: Form = VALUE
        for stmt in self.function.body:
            if isinstance(stmt, TReturn):
                result = self.form(stmt.value)
            else:
                self._stmt(stmt)
        return result

    def _stmt(self, stmt: TStmt) -> None:
        match stmt:
            case TLet():
                self.env[stmt.local] = self.form(stmt.value)
            case TLetTuple():
                group = self.form(stmt.value)
                assert isinstance(group, Group)
                self.env.update(zip(stmt.locals, group.items, strict=True))
            case TAssign():
                form = self.form(stmt.value)
                if isinstance(stmt.target, Local):
                    self.env[stmt.target] = form
            case TForSubs() | TForRange() | TWhile():
                self._loop(stmt)
            case TReturn():
                self.form(stmt.value)

    def _loop(self, stmt: TForSubs | TForRange | TWhile) -> None:
        carried = {v: loosened(self.env[v]) for v in assigned(stmt.body) if v in self.env}
        self.env.update(carried)
        if isinstance(stmt, TWhile):
            self.form(stmt.condition)
        elif isinstance(stmt, TForRange):
            self.env[stmt.variable] = VALUE
        for inner in stmt.body:
            self._stmt(inner)
        for local, before in carried.items():
            try:
                merged(self.env[local], before)
            except MismatchError:
                self.functions.refuse(
                    stmt.span,
                    f"`{local.name}` holds an optional that a loop makes be there or not",
                    "assigned in this loop",
                    "keep a value and a `bool` that says whether it counts",
                )
            self.env[local] = before

    def form(self, expr: TExpr) -> Form:
        """What is known of `expr` before a run."""
        match expr:
            case TLocal():
                return self.env[expr.local] if expr.local in self.env else form_of(expr.type)
            case TMember() | TSubMember():
                if expr.name not in self._members:
                    self._members[expr.name] = form_of(expr.type)
                return self._members[expr.name]
            case TIf():
                return self._if(expr)
            case TMatchOptional() | TMatchEnum():
                return self._match(expr)
            case TSome():
                return Optional(True, self.form(expr.value))
            case TNone():
                return Optional(False, VALUE)
            case TTuple(items) | TStruct(items):
                return Group(tuple(map(self.form, items)))
            case TField():
                return self._field(expr)
            case TVariant():
                return Enum(expr.name)
            case TCall():
                return self._call(expr)
            case TAccess() | TReduce():
                Elements(self).inside(expr)
                return VALUE
            case TIndexed():
                Elements(self, expr.indices).start(expr.body)
                return VALUE
            case _:
                for child in children(expr):
                    self.form(child)
                return VALUE

    def _field(self, expr: TField) -> Form:
        base, type_ = self.form(expr.base), expr.base.type
        assert isinstance(base, Group) and isinstance(type_, StructType)
        return base.items[[name for name, _ in type_.fields].index(expr.name)]

    def _call(self, expr: TCall) -> Form:
        callee = self.functions.program.functions[expr.callee]
        args: list[Form] = []
        for param, arg in zip(callee.params, expr.args, strict=True):
            given = arg if arg is not None else param.default
            assert given is not None, callee.key
            args.append(self.form(given))
        return self.functions.result(callee, args)

    def _if(self, expr: TIf) -> Form:
        known = decided(expr.condition)
        if known is not None:
            return self.form(expr.then if known else expr.otherwise)
        self.form(expr.condition)
        return self._either(expr, [self.form(expr.then), self.form(expr.otherwise)])

    def _either(self, expr: TIf | TMatchEnum, forms: Sequence[Form]) -> Form:
        """One of `forms`, as a run decides."""
        result = forms[0]
        try:
            for form in forms[1:]:
                result = merged(result, form)
        except MismatchError:
            self.functions.refuse(
                expr.span,
                "an optional that is there or not depending on a runtime condition",
                "the branches differ in which optionals are there",
                "keep a value and a `bool` that says whether it counts",
            )
        return result

    def _match(self, expr: TMatchOptional | TMatchEnum) -> Form:
        subject = self.form(expr.subject)
        if isinstance(expr, TMatchOptional):
            assert isinstance(subject, Optional)
            if subject.there is False:
                return self.form(expr.none)
            self.env[expr.local] = subject.inner
            some = self.form(expr.some)
            if subject.there is True:
                return some
            return chosen(some, self.form(expr.none))
        assert isinstance(subject, Enum)
        arms = dict(expr.arms)
        if isinstance(subject.variant, str):
            return self.form(arms[subject.variant])
        forms = [self.form(arm) for arm in arms.values()]
        if subject.variant is None:
            return self._either(expr, forms)
        result = forms[0]
        for form in forms[1:]:
            result = chosen(result, form)
        return result


def decided(condition: TExpr) -> bool | None:
    """What a condition is, if literals alone decide it."""
    match condition:
        case TConst(bool() as value):
            return value
        case TUnary("!"):
            inner = decided(condition.operand)
            return None if inner is None else not inner
        case TBinary("&&" | "||" as op, left, right):
            decisive = op == "||"
            first = decided(left)
            return decisive if first is decisive else None if first is None else decided(right)
        case _:
            return None
