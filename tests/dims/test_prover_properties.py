"""Dimensions keep their value whatever is done to them."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from linnet.dims import dims as dimensions
from linnet.dims.dims import Dim, DimError, Symbol, dim_max, dim_min
from linnet.dims.evaluate import evaluate
from linnet.dims.prover import Facts

from .questions import SYMBOLS, Claim, Tree, dim, facts, trees, value

GRIDS: list[list[int]] = [[0, 1, 2, 3, 4, 5], [7, 12, 30, 64]]
ENVS: list[dict[Symbol, int]] = [
    dict(zip(SYMBOLS, values, strict=True)) for grid in GRIDS for values in product(grid, repeat=4)
]


@st.composite
def dims(draw: st.DrawFn) -> Dim:
    try:
        return dim(draw(trees(5)))
    except DimError:
        return Dim.of(draw(st.sampled_from(SYMBOLS)))


@given(trees(5))
@settings(max_examples=400, deadline=None)
def test_canonical_form_keeps_the_value(tree: Tree) -> None:
    try:
        canonical = dim(tree)
    except DimError:
        return
    for env in ENVS[::29]:
        try:
            expected = value(tree, env)
        except ZeroDivisionError:
            continue
        assert evaluate(canonical, env) == expected


@given(dims(), st.tuples(dims(), dims()))
@settings(max_examples=300, deadline=None)
def test_substitution_is_evaluation_of_the_parts(whole: Dim, values: tuple[Dim, Dim]) -> None:
    mapping = dict(zip(SYMBOLS, values, strict=False))
    for env in ENVS[::47]:
        try:
            inner = {**env, **{s: evaluate(d, env) for s, d in mapping.items()}}
            expected = evaluate(whole, inner)
            assert evaluate(whole.substitute(mapping), env) == expected
        except DimError:
            continue


@given(trees(6))
@example(("*", ("+", SYMBOLS[0], SYMBOLS[0]), ("+", SYMBOLS[0], SYMBOLS[1])))
@settings(max_examples=200, deadline=None)
def test_a_product_that_is_not_written_out_keeps_value_and_text(tree: Tree) -> None:
    names: dict[str, Any] = {s.name: Dim.of(s) for s in SYMBOLS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dimensions, "_MOST_TERMS", 1)
        try:
            short = dim(tree)
        except DimError:
            return
        text = str(short).replace("/", "//")
        assert Dim.of(eval(text, {"min": dim_min, "max": dim_max, **names})) == short
        for env in ENVS[::61]:
            try:
                expected = value(tree, env)
            except ZeroDivisionError:
                continue
            assert evaluate(short, env) == expected


@given(dims())
@settings(max_examples=300, deadline=None)
def test_text_reads_back_as_the_same_dimension(whole: Dim) -> None:
    names: dict[str, Any] = {s.name: Dim.of(s) for s in SYMBOLS}
    text = str(whole).replace("/", "//")
    assert Dim.of(eval(text, {"min": dim_min, "max": dim_max, **names})) == whole


@given(st.lists(facts(), max_size=3), dims())
@settings(max_examples=300, deadline=None)
def test_normal_forms_keep_the_value(assumed: list[Claim], whole: Dim) -> None:
    try:
        known = Facts(fact.relation() for fact in assumed)
    except DimError:
        return
    normal = known.normalize(whole)
    assert normal.symbols() <= set(SYMBOLS)
    for env in ENVS[::3]:
        if all(fact.holds(env) for fact in assumed):
            try:
                assert evaluate(normal, env) == evaluate(whole, env)
            except DimError:
                continue
