"""Why a relation between dimensions is not provable, and what would make it so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from linnet.check.mistake import mistake, primitive
from linnet.dims.atoms import Quotient, sorted_dims
from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Facts, Relation
from linnet.source.suggest import state


@dataclass(frozen=True, slots=True)
class Why:
    """What a finding says of relations that are not provable. `settled` are the relations that
    would make it right if they can hold, `folds` is what it has in common with other findings of
    the same cause, `symbols` what the relations are about. `exchanged`: for generics that stand in
    each other's places, which each should be."""

    notes: tuple[str, ...]
    settled: tuple[Relation, ...]
    folds: tuple[object, ...]
    symbols: frozenset[Symbol] = frozenset()
    exchanged: Mapping[Symbol, Symbol] | None = None


def explain(facts: Facts, relation: Relation, said: str = "") -> Why:
    """Why `relation` does not follow from `facts`; what the message has `said` is not repeated."""
    answer = facts.prove(relation)
    notes: list[str] = []
    settled: tuple[Relation, ...] = ()
    if answer.verdict == "refuted":
        notes.append(f"`{relation}` can never hold")
    elif f"`{relation}`" not in said:
        notes.append(f"`{relation}` is not provable")
    if answer.verdict != "refuted" and answer.counterexample:
        case = ", ".join(f"{s.name} = {n}" for s, n in answer.counterexample.items())
        notes.append(f"it is false when {case}")
    if relation.symbols():
        notes.append(_assumed(facts, relation))
        if answer.verdict != "refuted":
            settled = settling(facts, relation)
    return Why(tuple(notes), settled, (mistake(relation),), relation.symbols())


def settling_too(facts: Facts, first: Why, others: Iterable[Relation]) -> tuple[Relation, ...]:
    """The least to state from which `others` follow as well as what `first` is about; nothing where
    one of them can never hold."""
    chosen = first.settled
    for relation in others if chosen else ():
        if facts.prove(relation).verdict == "refuted":
            return ()
        if not facts.adding(chosen).implies(relation):
            chosen += settling(facts, relation)
    return chosen


def way_out(relations: Iterable[Relation]) -> str | None:
    """The `where` that would settle it; None where it would only do so for an extent of 0."""
    relations = list(relations)
    if not relations or any(r.op == "==" and _only_zero(r) for r in relations):
        return None
    return state(dict.fromkeys(map(str, relations)))


def settling(facts: Facts, relation: Relation) -> tuple[Relation, ...]:
    """The least to state from which `relation` follows: `D % 2 == 0` for
    `N * D == 2 * N * (D / 2)`, and otherwise what is left without common factors."""
    if relation.op != "==":
        return (relation,)
    apart = relation.left - relation.right
    quotients = [a for d in sorted_dims(map(Dim.atom, apart.atoms())) if (a := d.as_atom())]
    exact = [Relation("==", q.num % q.den, Dim.of(0)) for q in quotients if isinstance(q, Quotient)]
    for chosen in (*([e] for e in exact), exact[1:] and exact):
        possible = chosen and not any(facts.implies(e.negated()) for e in chosen)
        if possible and facts.adding(chosen).implies(relation):
            return tuple(chosen)
    least = primitive(apart)
    if len(least.terms) < 2 or least in (apart, -apart):
        return (relation,)
    left = Dim({m: c for m, c in least.terms if c > 0})
    return (Relation("==", left, left - least),)


def _only_zero(relation: Relation) -> bool:
    """Whether two sides can only be equal if something that is counted is 0, as `2 * N == N`."""
    apart = relation.left - relation.right
    counted = relation.left.as_int() is None and relation.right.as_int() is None
    plain = all(isinstance(a, Symbol) for a in apart.atoms())
    return counted and plain and len({c > 0 for _, c in apart.terms}) == 1


def _assumed(facts: Facts, relation: Relation) -> str:
    known = [str(r) for r in facts.mentions(relation.symbols())]
    if known:
        return f"assumed here: {', '.join(known)}"
    names = ", ".join(sorted(f"`{s.name}`" for s in relation.symbols()))
    return f"nothing is assumed about {names} here"
