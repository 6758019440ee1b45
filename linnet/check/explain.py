"""Why a relation between dimensions is not provable, and what would make it so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from linnet.check.mistake import mistake
from linnet.dims.dims import Symbol
from linnet.dims.prover import Facts, Relation
from linnet.source.suggest import state


@dataclass(frozen=True, slots=True)
class Why:
    """What a finding says of relations that are not provable. `folds` is what it has in common
    with other findings of the same cause, `symbols` what the relations are about. `exchanged`:
    for generics that stand in each other's places, which each should be."""

    notes: tuple[str, ...]
    help: str | None
    folds: tuple[object, ...]
    symbols: frozenset[Symbol] = frozenset()
    exchanged: Mapping[Symbol, Symbol] | None = None


def explain(facts: Facts, relation: Relation, said: str = "") -> Why:
    """Why `relation` does not follow from `facts`; what the message has `said` is not repeated."""
    answer = facts.prove(relation)
    notes: list[str] = []
    help_ = None
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
            help_ = way_out([relation])
    return Why(tuple(notes), help_, (mistake(relation),), relation.symbols())


def way_out(relations: Iterable[Relation]) -> str:
    """The `where` that would settle it."""
    return state(map(str, relations))


def _assumed(facts: Facts, relation: Relation) -> str:
    known = [str(r) for r in facts.mentions(relation.symbols())]
    if known:
        return f"assumed here: {', '.join(known)}"
    names = ", ".join(sorted(f"`{s.name}`" for s in relation.symbols()))
    return f"nothing is assumed about {names} here"
