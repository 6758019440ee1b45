"""The prover against brute force over small integers, and against z3."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from linnet.dims.dims import (
    Dim,
    DimError,
    Maximum,
    Minimum,
    Quotient,
    Remainder,
    Symbol,
    dim_max,
    dim_min,
    parts,
)
from linnet.dims.prover import Facts, Relation
from linnet.dims.relations import Comparison

SYMBOLS = [Symbol(name) for name in "ABC"]
LARGE: list[int] = [7, 12, 30, 64]
GRIDS: list[range | list[int]] = [range(6), LARGE]
ENVS: list[dict[Symbol, int]] = [
    dict(zip(SYMBOLS, values, strict=True)) for grid in GRIDS for values in product(grid, repeat=3)
]
COMPARISONS: list[Comparison] = ["==", "!=", "<", "<=", ">", ">="]

Tree = int | Symbol | tuple[str, "Tree", "Tree"]

leaves: st.SearchStrategy[Tree] = st.sampled_from([*SYMBOLS, *SYMBOLS, 0, 1, 2, 3, 4, 6, -1])
trees: st.SearchStrategy[Tree] = st.recursive(
    leaves,
    lambda inner: st.tuples(st.sampled_from(["+", "-", "*", "/", "%", "min", "max"]), inner, inner),
    max_leaves=5,
)
# Operations whose sign depends on that of a difference.
differences: st.SearchStrategy[Tree] = st.tuples(
    st.sampled_from(["/", "%", "min", "max"]), leaves, st.tuples(st.just("-"), leaves, leaves)
)


def build(tree: Tree) -> Dim:
    if not isinstance(tree, tuple):
        return Dim.of(tree)
    left, right = build(tree[1]), build(tree[2])
    match tree[0]:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left // right
        case "%":
            return left % right
        case "min":
            return dim_min(left, right)
        case _:
            return dim_max(left, right)


def value(tree: Tree, env: dict[Symbol, int]) -> int:
    """What `tree` means, by Python's own integers."""
    if not isinstance(tree, tuple):
        return env[tree] if isinstance(tree, Symbol) else tree
    left, right = value(tree[1], env), value(tree[2], env)
    match tree[0]:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left // right
        case "%":
            return left % right
        case "min":
            return min(left, right)
        case _:
            return max(left, right)


@st.composite
def dims(draw: st.DrawFn, shapes: st.SearchStrategy[Tree] = trees) -> Dim:
    try:
        return build(draw(shapes))
    except DimError:
        return Dim.of(draw(st.sampled_from(SYMBOLS)))


@st.composite
def relations(draw: st.DrawFn) -> Relation:
    return Relation(draw(st.sampled_from(COMPARISONS)), draw(dims()), draw(dims()))


@st.composite
def typical_facts(draw: st.DrawFn) -> Relation:
    """A fact as programs state them: a lower bound, a multiple, a definition."""
    symbol = Dim.of(draw(st.sampled_from(SYMBOLS)))
    other = draw(st.sampled_from([*SYMBOLS, 2, 3, 4, 6]))
    match draw(st.integers(0, 4)):
        case 0 | 1:
            return Relation(">", symbol, Dim.of(draw(st.integers(0, 2))))
        case 2:
            return Relation("==", symbol % other, Dim.of(draw(st.sampled_from([0, 0, 1]))))
        case 3:
            return Relation("==", symbol, draw(dims()))
        case _:
            return draw(relations())


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[Relation], Relation]:
    """Some facts and a goal, often one that has to do with the facts."""
    facts = draw(st.lists(typical_facts(), max_size=3))
    if draw(st.integers(0, 2)) == 0:
        bound = Dim.of(draw(st.sampled_from([0, 0, 1, -1])))
        return facts, Relation(draw(st.sampled_from(COMPARISONS)), draw(dims(differences)), bound)
    if not facts or draw(st.booleans()):
        return facts, draw(relations())
    fact = draw(st.sampled_from(facts))
    op: Comparison = draw(st.sampled_from([fact.op, *COMPARISONS]))
    factor, shift = draw(dims()), draw(st.sampled_from([-1, 0, 0, 1]))
    return facts, Relation(op, fact.left * factor + shift, fact.right * factor)


def holds(relation: Relation, env: dict[Symbol, int]) -> bool | None:
    """Nothing where a divisor is zero: such an assignment is no program."""
    try:
        return relation.holds(env)
    except DimError:
        return None


@given(trees)
@settings(max_examples=400, deadline=None)
def test_canonical_form_keeps_the_value(tree: Tree) -> None:
    try:
        dim = build(tree)
    except DimError:
        return
    for env in ENVS[::7]:
        try:
            expected = value(tree, env)
        except ZeroDivisionError:
            continue
        assert dim.evaluate(env) == expected


@given(dims(), st.tuples(dims(), dims()))
@settings(max_examples=300, deadline=None)
def test_substitution_is_evaluation_of_the_parts(dim: Dim, values: tuple[Dim, Dim]) -> None:
    mapping = dict(zip(SYMBOLS, values, strict=False))
    for env in ENVS[::11]:
        try:
            inner = {**env, **{s: d.evaluate(env) for s, d in mapping.items()}}
            expected = dim.evaluate(inner)
            assert dim.substitute(mapping).evaluate(env) == expected
        except DimError:
            continue


@given(dims())
@settings(max_examples=300, deadline=None)
def test_text_reads_back_as_the_same_dimension(dim: Dim) -> None:
    names: dict[str, Any] = {s.name: Dim.of(s) for s in SYMBOLS}
    text = str(dim).replace("/", "//")
    assert Dim.of(eval(text, {"min": dim_min, "max": dim_max, **names})) == dim


@given(questions())
@example(([], Relation(">=", build(("min", SYMBOLS[0], ("-", SYMBOLS[1], SYMBOLS[2]))), Dim.of(0))))
@settings(max_examples=600, deadline=None)
def test_verdicts_agree_with_brute_force(question: tuple[list[Relation], Relation]) -> None:
    relations, goal = question
    found = Facts(relations).prove(goal)
    possible = [env for env in ENVS if all(holds(r, env) for r in relations)]
    truths = {holds(goal, env) for env in possible} - {None}
    if found.verdict == "proven":
        assert truths <= {True}
        assert found.counterexample is None
    if found.verdict == "refuted":
        assert truths <= {False}
    if found.counterexample is not None:
        assert all(holds(r, found.counterexample) for r in relations)
        assert holds(goal, found.counterexample) is False


@given(st.lists(typical_facts(), max_size=3), dims())
@settings(max_examples=300, deadline=None)
def test_normal_forms_keep_the_value(relations: list[Relation], dim: Dim) -> None:
    facts = Facts(relations)
    normal = facts.normalize(dim)
    assert normal.symbols() <= set(SYMBOLS)
    for env in ENVS:
        if all(holds(r, env) for r in relations):
            try:
                assert normal.evaluate(env) == dim.evaluate(env)
            except DimError:
                continue


@given(questions())
@settings(max_examples=60, deadline=None)
def test_z3_finds_nothing_against_a_verdict(question: tuple[list[Relation], Relation]) -> None:
    z3 = pytest.importorskip("z3")
    relations, goal = question
    verdict = Facts(relations).prove(goal).verdict
    if verdict == "unknown":
        return
    solver = z3.Solver()
    solver.set("timeout", 300)
    against = goal.negated() if verdict == "proven" else goal
    numbers = {s: z3.Int(s.name) for s in SYMBOLS}
    solver.add(*(n >= 0 for n in numbers.values()))
    for relation in (*relations, against):
        solver.add(_z3_relation(z3, solver, relation, numbers))
    assert solver.check() != z3.sat


def _z3_relation(z3: Any, solver: Any, relation: Relation, numbers: dict[Symbol, Any]) -> Any:
    left = _z3_dim(z3, solver, relation.left, numbers)
    right = _z3_dim(z3, solver, relation.right, numbers)
    match relation.op:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right


def _z3_dim(z3: Any, solver: Any, dim: Dim, numbers: dict[Symbol, Any]) -> Any:
    total = z3.IntVal(0)
    for monomial, c in dim.terms:
        term = z3.IntVal(c)
        for atom in monomial:
            if isinstance(atom, Symbol):
                term = term * numbers[atom]
                continue
            inner = [_z3_dim(z3, solver, d, numbers) for d in parts(atom)]
            term = term * _z3_atom(z3, solver, atom, inner)
        total = total + term
    return total


def _z3_atom(z3: Any, solver: Any, atom: object, inner: list[Any]) -> Any:
    if isinstance(atom, Quotient | Remainder):
        num, den = inner
        solver.add(den != 0)
        # z3 rounds so that the remainder is not negative; floor division does not.
        quotient = z3.If(den > 0, num / den, (-num) / (-den))
        return quotient if isinstance(atom, Quotient) else num - den * quotient
    assert isinstance(atom, Minimum | Maximum)
    least = isinstance(atom, Minimum)
    result = inner[0]
    for value in inner[1:]:
        result = z3.If((value < result) if least else (value > result), value, result)
    return result
