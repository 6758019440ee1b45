"""The pass `bind`: dimensions in place of symbols."""

from __future__ import annotations

from linnet.dims.dims import Dim, Symbol
from linnet.ir.core import Module
from linnet.ir.parse import parse
from linnet.ir.passes.bind import bind, values_of
from linnet.ir.passes.inline import inline
from linnet.ir.text import same, show
from linnet.ir.verify import problems, verify

CALLS = """
module f
symbols B, N, M

function f(%x.0: tensor[B, 4; f32]) {
  %y.1: tensor[2 * B, 2; f32] = reshape(%x.0)
  %z.2: tensor[2 * B, 2; f32] = call(%y.1) {callee: g, at: [], generics: [N = 2 * B, M = 2]}
  return %z.2
}

function g(%x.0: tensor[N, M; f32]) {
  %n.1: f32 = dim() {dim: N + M}
  %n.2: tensor[N, M; f32] = broadcast(%n.1) {axes: []}
  %y.3: tensor[N, M; f32] = add(%x.0, %n.2)
  %z.4: tensor[N, M; f32] = call(%y.3) {callee: h, at: [], generics: [N = N]}
  return %z.4
}

function h(%x.0: tensor[N, 2; f32]) {
  %y.1: tensor[N, 2; f32] = indexed(%x.0) {indices: [N, 2], expr: EXPR}
  return %y.1
}
""".replace("EXPR", "add($0[#0:i64, #1:i64]:f32, dim(N):f32):f32")


def written() -> Module:
    return parse(CALLS)


def symbols(module: Module) -> dict[str, Symbol]:
    return {s.name: s for s in module.symbols}


def test_a_call_says_what_the_symbols_of_its_callee_are() -> None:
    module = written()
    own = symbols(module)
    found = values_of(module, {own["B"]: Dim.of(3)})
    assert found["g"] == {own["N"]: Dim.of(6), own["M"]: Dim.of(2)}
    assert found["h"] == {own["N"]: Dim.of(6)}
    assert same(parse(show(module)), module)


def test_numbers_reach_every_function() -> None:
    module = written()
    bound = bind(module, {symbols(module)["B"]: Dim.of(3)})
    verify(bound)
    assert not bound.symbols
    text = show(bound)
    assert "generics" not in text
    assert "%x.0: tensor[6, 2; f32]" in text
    assert "dim() {dim: 8}" in text
    assert "dim(6)" in text and "{indices: [6, 2]" in text


def test_what_is_left_open_is_over_the_symbols_of_the_entry() -> None:
    module = written()
    b = symbols(module)["B"]
    bound = bind(module, {b: Dim.of(b)})
    verify(bound)
    assert bound.symbols == (b,)
    assert "%x.0: tensor[2 * B, 2; f32]" in show(bound)


def test_a_callee_that_is_put_in_place_is_over_the_symbols_of_its_caller() -> None:
    module = written()
    whole = inline(module, lambda f: f.name != "f")
    b = symbols(module)["B"]
    results = [r for op in whole.functions["f"].body for r in op.results]
    used = {symbol for r in results for dim in r.type.shape for symbol in dim.symbols()}
    assert used == {b}
    assert not [p for p in problems(whole) if p.startswith("f:")]


def test_arguments_fit_the_callee_under_what_the_call_says() -> None:
    text = show(written()).replace("generics: [N = 2 * B, M = 2]", "generics: [N = B, M = 2]")
    assert any("arguments of g" in problem for problem in problems(parse(text)))
