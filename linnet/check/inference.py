"""Generic arguments: those written, and what the types of arguments tell about the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations

from linnet.check import expr, typeexpr
from linnet.check.dimexpr import check_kind, generic_arg, natural_arg, of_another_kind, whose
from linnet.check.hints import known_part
from linnet.check.keys import Generics, Order, Refused
from linnet.check.scope import Scope, is_error
from linnet.check.substitute import in_dim, in_type
from linnet.check.typed import TExpr, TGeneric, TNone
from linnet.check.types import (
    GenericArg,
    LiteralType,
    OptionalType,
    ScalarType,
    Shape,
    StructType,
    TensorType,
    TupleType,
    Type,
    show_arg,
)
from linnet.dims.dims import Dim, DimError, Symbol
from linnet.dims.prover import Relation
from linnet.dtypes import DType, DTypeVar
from linnet.source.files import Span
from linnet.syntax import ast

Conform = Callable[[TExpr], TExpr]


class Inference:
    """Finds generic arguments from those written and from the types of arguments."""

    def __init__(
        self,
        scope: Scope,
        item: str,
        generics: tuple[TGeneric, ...],
        written: tuple[ast.Expr, ...] | None,
        span: Span,
    ) -> None:
        self.scope = scope
        self.item = item
        self.generics = generics
        self.span = span
        self.written = len(written or ())
        self.bound: dict[Symbol | DTypeVar, GenericArg] = {}
        self.open = {g.binder: g for g in generics}
        self.solved: list[Symbol] = []
        # Dimensions and what they have to be, where more than one generic is not known yet.
        self.waiting: list[tuple[Dim, Dim]] = []
        # Why the one unknown of an equation does not follow; no number fits an impossible one.
        self.unsolved: dict[Symbol, str] = {}
        self.impossible: set[Symbol] = set()
        self.failed = False
        # Whether a type that would tell about generics was reported already.
        self.doubtful = False
        # Of each value what it is for, and what reports that it does not fit.
        self.values: list[tuple[Type, TExpr, Conform]] = []
        # What the types of values told.
        self.told: set[Symbol | DTypeVar] = set()
        self._write(written or ())

    def _write(self, written: tuple[ast.Expr, ...]) -> None:
        list_ = Generics(self.item)
        if len(written) > len(self.generics):
            self.scope.error(
                "E2111",
                f"{len(self.generics)} generic arguments are expected, {len(written)} are given",
                written[len(self.generics)].span,
                help=typeexpr.in_order(self.generics),
                folds=[Refused(list_, len(written))],
                follows=[list_],
            )
            self.failed = True
            return
        if written:
            self.scope.world.accepted[list_] += 1
        if self._in_disorder(written):
            self.failed = True
            return
        for generic, arg in zip(self.generics, written, strict=False):
            value = generic_arg(self.scope, generic, arg)
            if value is None or not natural_arg(self.scope, generic, value, arg.span):
                self.failed = True
            else:
                self.bind(generic.binder, value)
                self.scope.world.accepted[generic.binder] += 1

    def _in_disorder(self, written: tuple[ast.Expr, ...]) -> bool:
        """Whether it is reported that several arguments are of another kind than is asked for:
        their order is wrong, or that of the generics if it is so at most uses."""
        pairs = list(zip(self.generics, written, strict=False))
        wrong = [(g, a) for g, a in pairs if of_another_kind(self.scope, g, a)]
        if len(wrong) < 2:
            return False
        kinds = ", ".join(f"{g.name}: {g.kind}" for g in self.generics)
        self.scope.error(
            "E2111",
            f"these generic arguments are not of the kinds of `<{kinds}>`",
            wrong[0][1].span.to(wrong[-1][1].span),
            related=[(wrong[0][0].span, f"`{wrong[0][0].name}` is declared here")],
            help="is one in another's place?",
            folds=[Refused(Order(self.item), tuple(sorted(g.name for g, _ in wrong)))],
        )
        return True

    def bind(self, binder: Symbol | DTypeVar, value: GenericArg) -> None:
        self.bound[binder] = value
        self.open.pop(binder, None)

    def _tell(self, binder: Symbol | DTypeVar, value: GenericArg) -> None:
        self.bind(binder, value)
        self.told.add(binder)

    def argument(self, e: ast.Expr, wanted: Type, conform: Conform) -> TExpr:
        """The argument's value; what its type tells about the generics is noted. `conform` reports
        a value that does not fit."""
        try:
            now = in_type(wanted, self.bound)
        except DimError:  # A divisor became 0; `sound` reports the `where` that it breaks.
            now = wanted
        if isinstance(e, ast.NoneLit) and isinstance(now, OptionalType):
            return TNone(now, e.span)
        value = expr.infer(self.scope, e, known_part(now, self.open))
        if is_error(value.type):
            self.failed = True
        elif not isinstance(value.type, LiteralType):
            self.unify(wanted, value.type)
            self.values.append((wanted, value, conform))
        return value

    def _settle(self) -> None:
        """Takes up the equations, as long as one tells about a generic. What an argument says
        outright goes before: if they contradict each other, it is the equation that is wrong."""
        before = len(self.waiting) + 1
        while len(self.waiting) < before:
            waiting, self.waiting = self.waiting, []
            before = len(waiting)
            for pattern, found in waiting:
                self._equate(pattern, found)

    def unify(self, pattern: Type, found: Type) -> None:
        """Bind generics of `pattern` so that it may become `found`; checked by `conform` later."""
        match pattern, found:
            case ((ScalarType(p) | TensorType(_, p)), (ScalarType(f) | TensorType(_, f))):
                if isinstance(p, DTypeVar) and p in self.open:
                    self._tell(p, f)
                dims = pattern.dims if isinstance(pattern, TensorType) else ()
                self._unify_shape(dims, found.dims if isinstance(found, TensorType) else ())
            case OptionalType(p), OptionalType(f):
                self.unify(p, f)
            case TupleType(ps), TupleType(fs):
                for p, f in zip(ps, fs, strict=False):
                    self.unify(p, f)
            case StructType(), StructType() if pattern.key == found.key:
                for p, f in zip(pattern.args, found.args, strict=True):
                    self._unify_arg(p, f)
            case _:
                pass

    def _unify_arg(self, pattern: GenericArg, found: GenericArg) -> None:
        if isinstance(pattern, Dim) and isinstance(found, Dim):
            self._unify_dim(pattern, found)
        elif isinstance(pattern, tuple) and isinstance(found, tuple):
            self._unify_shape(pattern, found)
        elif isinstance(pattern, DTypeVar) and pattern in self.open:
            self._tell(pattern, found)

    def wanted(self, pattern: Type) -> Type | None:
        """`pattern` under the generic arguments. None where it divides by a generic that is 0, or
        has an axis of less than 0: the `where` does not hold then, and that is what to say."""
        try:
            wanted = in_type(pattern, self.bound)
        except DimError:
            return None
        dims = wanted.dims if isinstance(wanted, TensorType) else ()
        numbers = [d.as_int() or 0 for d in dims if isinstance(d, Dim)]
        return None if any(n < 0 for n in numbers) else wanted

    def _wrong_rank(self, pattern: Type, found: Type) -> bool:
        """Whether a value of type `found` has too few or too many axes for `pattern`, whatever
        the generics that are not known yet."""
        match pattern, found:
            case ((ScalarType() | TensorType()), (ScalarType() | TensorType())):
                wanted = self._spread(pattern.dims) if isinstance(pattern, TensorType) else []
                dims = found.dims if isinstance(found, TensorType) else ()
                packs = len(self._open_packs(wanted))
                if not packs and any(isinstance(d, Symbol) and d not in wanted for d in dims):
                    return True
                return len(dims) < len(wanted) - packs or (not packs and len(dims) > len(wanted))
            case OptionalType(p), OptionalType(f):
                return self._wrong_rank(p, f)
            case TupleType(ps), TupleType(fs):
                return any(self._wrong_rank(p, f) for p, f in zip(ps, fs, strict=False))
            case _:
                return False

    def _spread(self, pattern: Shape) -> list[Dim | Symbol]:
        """`pattern` with the axes of the packs that are known."""
        spread: list[Dim | Symbol] = []
        for p in pattern:
            bound = self.bound.get(p) if isinstance(p, Symbol) else None
            spread.extend(bound if isinstance(bound, tuple) else (p,))
        return spread

    def _open_packs(self, spread: list[Dim | Symbol]) -> list[int]:
        return [i for i, p in enumerate(spread) if isinstance(p, Symbol) and p in self.open]

    def _unify_shape(self, pattern: Shape, found: Shape) -> None:
        spread = self._spread(pattern)
        packs = self._open_packs(spread)
        if len(packs) == 1:
            at, tail = packs[0], len(spread) - packs[0] - 1
            if len(found) < at + tail:
                return
            pack = spread[at]
            assert isinstance(pack, Symbol)
            self._tell(pack, found[at : len(found) - tail])
            spread = spread[:at] + list(found[at : len(found) - tail]) + spread[at + 1 :]
        if len(spread) == len(found):
            for p, f in zip(spread, found, strict=True):
                if isinstance(p, Dim) and isinstance(f, Dim):
                    self._unify_dim(p, f)

    def _unify_dim(self, pattern: Dim, found: Dim) -> None:
        symbol = pattern.as_symbol()
        if symbol is not None and symbol in self.open:
            self._tell(symbol, found)
        elif any(s in self.open for s in pattern.symbols()):
            self.waiting.append((pattern, found))

    def _equate(self, pattern: Dim, found: Dim) -> None:
        unknown = [s for s in pattern.symbols() if s in self.open]
        if len(unknown) == 1:
            try:
                self._solve(unknown[0], in_dim(pattern, self.bound), found)
            except DimError:
                return
        elif unknown:
            self.waiting.append((pattern, found))

    def _solve(self, symbol: Symbol, pattern: Dim, found: Dim) -> None:
        """From `a * N + b == found`, N where the division is provably exact."""
        offset = pattern.substitute({symbol: Dim.of(0)})
        factor = pattern.substitute({symbol: Dim.of(1)}) - offset
        if symbol in factor.symbols() or pattern != factor * Dim.of(symbol) + offset:
            return
        rest = found - offset
        if factor.as_int() == 1:
            self._tell(symbol, rest)
            self.solved.append(symbol)
            return
        positive = Relation(">", factor, Dim.of(0))
        if self.scope.facts.implies(positive):
            answer = rest // factor
            exact = Relation("==", answer * factor, rest)
            if self.scope.facts.implies(exact):
                self._tell(symbol, self.scope.facts.normalize(answer))
                self.solved.append(symbol)
            elif self.scope.facts.prove(exact).verdict == "refuted":
                self.impossible.add(symbol)
                self.unsolved[symbol] = f"no `{symbol}` makes `{pattern}` equal to `{found}`"
            else:
                needed = Relation("==", rest % factor, Dim.of(0))
                self.unsolved[symbol] = _without(needed, symbol, pattern, found)
        elif factor != Dim.of(0):
            self.unsolved[symbol] = _without(positive, symbol, pattern, found)

    def finish(self) -> dict[Symbol | DTypeVar, GenericArg] | None:
        """All generic arguments, with defaults, each of its kind; None after a report. Whether
        the `where` holds is for `sound` to say."""
        if self.failed:
            return None
        self._settle()
        if not self._take_defaults():
            return None
        missing = [g for g in self.generics if g.binder in self.open]
        if missing and (self.doubtful or self._refused_for_rank()):
            return None
        if missing:
            names = ", ".join(whose(self.scope, g) for g in missing)
            binders = [g.binder for g in missing if isinstance(g.binder, Symbol)]
            fruitless = not self.impossible.isdisjoint(binders)
            self.scope.error(
                "E2110",
                f"{names} cannot be inferred from the arguments",
                self.span,
                related=[(missing[0].span, "declared here")],
                notes=[self.unsolved[b] for b in binders if b in self.unsolved],
                help=None if fruitless else self._way_out(),
            )
            return None
        for generic in self.generics:
            value = self.bound[generic.binder]
            if isinstance(value, DType | DTypeVar) and not check_kind(
                self.scope, generic, value, self.span
            ):
                return None
        return self.bound

    def _way_out(self) -> str:
        """The generic arguments as they are to be written; `?` where nothing tells one."""
        callee = re.match(r"[\w.]+(?=[<(])", self.span.text)
        # Fewer were written than there are: those may have been meant for others than the first.
        bound = {**self.bound, **self.without(None).bound}
        known = [bound.get(g.binder) for g in self.generics]
        every = ", ".join("?" if value is None else show_arg(value) for value in known)
        call = f"{callee[0]}<{every}>(...)" if callee else f"<{every}>"
        return f"write the generic arguments: `{call}`"

    def without(self, value: TExpr | None) -> Inference:
        """What is found if `value` tells nothing, or if nothing is written (None)."""
        other = Inference(self.scope, self.item, self.generics, None, self.span)
        own = {g.binder for g in self.generics} if value is None else self.told
        other.bound = {b: arg for b, arg in self.bound.items() if b not in own}
        other.open = {g.binder: g for g in self.generics if g.binder not in other.bound}
        for pattern, told, _ in self.values:
            if told is not value:
                other.unify(pattern, told.type)
        other._settle()
        return other

    def sound(self, facts: tuple[Relation, ...], conforming: bool) -> bool:
        """Prove `facts`, the `where` of the item, and that dimensions are no less than 0. Where the
        values are not `conforming`, nothing is said of generics that they told."""
        if not conforming:
            facts = tuple(f for f in facts if self.told.isdisjoint(f.symbols()))
        folds = self._exchanged(facts)
        proven = typeexpr.obligations(self.scope, self.item, facts, self.bound, self.span, folds)
        if proven and conforming and self.written > 1:
            self.scope.world.accepted[Order(self.item)] += 1
        return proven and (not conforming or self._naturals())

    def _exchanged(self, facts: tuple[Relation, ...]) -> Iterator[Refused]:
        """Which two of the written arguments would do in each other's places."""
        for a, b in combinations(self.generics[: self.written], 2):
            places = {a.binder: self.bound[b.binder], b.binder: self.bound[a.binder]}
            if a.kind == b.kind and typeexpr.holds(self.scope, facts, {**self.bound, **places}):
                yield Refused(Order(self.item), tuple(sorted((a.name, b.name))))
                return

    def _refused_for_rank(self) -> bool:
        """Whether values are reported that tell nothing because of their number of axes."""
        wrong = [(v, conform) for p, v, conform in self.values if self._wrong_rank(p, v.type)]
        final = [conform(value) for value, conform in wrong]
        return is_error(*(v.type for v in final))

    def _take_defaults(self) -> bool:
        """Whether every default that is needed has a value; it may name generics before it."""
        for generic in self.generics:
            if generic.binder in self.open and generic.default is not None:
                value = typeexpr.default_arg(
                    self.scope, generic, generic.default, self.bound, self.span
                )
                if value is None:
                    return False
                self.bind(generic.binder, value)
        return True

    def _naturals(self) -> bool:
        """Whether the generics that an equation gave are dimensions: from `N + 1 == M` follows
        a negative N where M is 0."""
        solved = [g for g in self.generics if g.binder in self.solved]
        return all(natural_arg(self.scope, g, self.bound[g.binder], self.span) for g in solved)


def _without(needed: Relation, symbol: Symbol, pattern: Dim, found: Dim) -> str:
    """Why `pattern == found` does not tell what `symbol` is."""
    gives = f"`{pattern}` has to be `{found}`, which gives `{symbol}` where `{needed}`"
    return f"{gives}: that is not provable here"
