"""What no backend can run yet is found by the check, at the place that lowering would name."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic

FUNCTIONS = """
module m
enum Kind { Plus, Minus }
struct Two { a: f32?  b: f32? }
fn loops(x: f32) -> f32 { var y = x while y < 10.0 { y = y * 2.0 } return y }
fn pair(x: f32) -> f32 { let (a, b) = (x, x) return a * b }
fn row(table: Tensor[3, 2; f32], k: i32) -> f32 { return (table[k, :])[0] }
fn look<N: Dim>(table: Tensor[N; f32], k: i32) -> f32 { return table[k] }
fn by(kind: Kind, a: Tensor[4; f32]) -> Tensor[4; f32] {
    let y[i] = match kind { Plus => a[i]  Minus => -a[i] }
    return y
}
fn value(x: f32?) -> f32 { return match x { some(v) => v  none => 0.0 } }
fn same(x: f32?) -> f32? { return x }
fn turned(x: f32?) -> f32? { return match x { some(_v) => none  none => some(1.0) } }
fn twice(x: f32?) -> f32? { return match x { some(v) => some(v * 2.0)  none => none } }
"""
HEAD = """
pub fn f<N: Dim>(a: Tensor[4; f32], t: Tensor[N; f32], ids: Tensor[4; i32], c: bool, o: f32?)
    -> Tensor[4; f32] {
"""

# What is refused, and the place.
REFUSED = [
    ("let y[i] = value(some(a[i])) return y", "some(a[i])"),
    ("let y[i] = loops(a[i]) return y", "loops(a[i])"),
    ("let y[i] = pair(a[i]) return y", "pair(a[i])"),
    ("let u = fill<f32>([3, 2], 1.0) let y[i] = row(u, ids[i]) return y", "(table..."),
    ("let y[i] = if ids[i] < 4 { t[ids[i]] } else { 0.0 } return y", "ids[i]"),
    ("let y[i] = if c && t[ids[i]] > 0.0 { a[i] } else { 0.0 } return y", "ids[i]"),
    ("let y[i] = if a[i] > 0.0 { look(t, ids[i]) } else { 0.0 } return y", "k"),
    ("let y[i] = if a[i] > 0.0 { loops(1.0) } else { 0.0 } return y", "loops(1.0)"),
    ("let k = if c { Kind.Plus } else { Kind.Minus } return by(k, a)", "kind"),
    ("let y: f32? = if c { some(1.0) } else { none } return a * value(y)", "if c..."),
    ("let y = if c { o } else { none } return a * value(y)", "if c..."),
    ("let y = if c { o } else { turned(o) } return a * value(y)", "if c..."),
    ("let y = if c { twice(o) } else { twice(none) } return a * value(y)", "if c..."),
    (
        "let y = if c { Two { a: o, b: none } } else { Two { a: o, b: o } } return a * value(y.b)",
        "if c...",
    ),
    (
        "var y: f32? = none static for i in 0..3 { y = some(1.0) } return a * value(y)",
        "static for...",
    ),
    ("var y = o while c { y = none } return a * value(y)", "while..."),
]

ACCEPTED = [
    "let y[i] = if ids[i] < 4 { a[ids[i]] } else { 0.0 } return y",
    "let y[i] = t[ids[i]] return y",
    "let y[i] = if a[i] > 0.0 { look(a, ids[i]) } else { 0.0 } return y",
    "let y[i] = loops(1.0) * a[i] return y",
    "return by(Kind.Plus, a)",
    "let k = if c { Kind.Plus } else { Kind.Minus } return match k { Plus => a  Minus => -a }",
    "let y = if c { o } else { same(o) } return a * value(y)",
    "let y = if c { twice(none) } else { none } return a * value(y)",
    "let y: f32? = if true { some(1.0) } else { none } return a * value(y)",
    "let y = if c { twice(some(1.0)) } else { some(2.0) } return a * value(y)",
    "let y = if c { Two { a: o, b: none } } else { Two { a: o, b: none } } return a * value(y.b)",
    "var y: f32? = some(1.0) static for i in 0..3 { y = twice(y) } return a",
    "var y = o while c { y = o } return a * value(y)",
]


def findings(folder: Path, body: str) -> list[Diagnostic]:
    path = folder / "m.linnet"
    path.write_text(FUNCTIONS + HEAD + body + "\n}\n")
    return [d for d in check_paths([path]).sink if d.severity == "error"]


@pytest.mark.parametrize(("body", "place"), REFUSED)
def test_refused_at_its_place(tmp_path: Path, body: str, place: str) -> None:
    (found,) = findings(tmp_path, body)
    assert found.code == "E2190" and found.help and found.span is not None
    text = found.span.text
    assert text.startswith(place[:-3]) if place.endswith("...") else text == place


def test_every_refusal_has_a_way_out() -> None:
    cases = Path(__file__).parents[1] / "golden" / "check"
    found = [d for case in cases.glob("E2190_*") for d in check_paths([case]).sink]
    assert len(found) > 3
    for finding in found:
        assert finding.help, finding.message


@pytest.mark.parametrize("body", ACCEPTED)
def test_accepted(tmp_path: Path, body: str) -> None:
    assert findings(tmp_path, body) == []
