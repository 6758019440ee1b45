"""Random index notation over i64, each with a plain meaning: a function of one point.

What it is made of has forms for one element and forms that have none, at any depth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.lower.effects import quotient, wrap

FUNCTIONS = """
enum Kind { Even, Odd, Negative }
struct Pair { low: i64 high: i64 }
fn steps(x: i64) -> i64 {
    var y = x
    var k = 0
    while k < abs(x % 4) { y = y * 3 + k  k = k + 1 }
    return y
}
fn ranged(x: i64) -> i64 { var y = x static for k in 0..3 { y = y * 2 - k } return y }
fn ordered(x: i64, y: i64) -> Pair { return Pair { low: min(x, y), high: max(x, y) } }
fn spread(x: i64, y: i64) -> i64 { let p = ordered(x, y) return p.high * 2 - p.low }
fn swapped(x: i64, y: i64) -> (i64, i64) { return (y, x) }
fn apart(x: i64, y: i64) -> i64 { let (a, b) = swapped(x, y) return a * 10 + b }
fn kind(x: i64) -> Kind {
    return if x < 0 { Kind.Negative } else { if x % 2 == 0 { Kind.Even } else { Kind.Odd } }
}
fn by(k: Kind, x: i64) -> i64 { return match k { Even => x + 1  Odd => x * 3  Negative => -x } }
fn small(x: i64) -> i64? { return if abs(x % 7) < 3 { some(x * 2) } else { none } }
fn or(x: i64?, y: i64) -> i64 { return match x { some(v) => v  none => y } }
fn carried(x: i64) -> i64 {
    var best: i64? = none
    static for k in 0..4 { best = if (x + k) % 3 == 0 { some(x * k) } else { best } }
    return or(best, -1)
}
fn scaled(t: Tensor[3, 2; i64], k: i64, x: i64) -> i64 {
    let r = t[k, :] * x
    let both = concat(r, cumsum(r, axis = 0), axis = 0)
    return sum[n] both[n]
}
"""


@dataclass(frozen=True)
class Element:
    """`of` gives its value where the indices have these values."""

    text: str
    of: Callable[[dict[str, int]], int]


@dataclass(frozen=True)
class Notation:
    text: str
    args: tuple[np.ndarray, ...]
    value: np.ndarray


def steps(x: int) -> int:
    y = x
    for k in range(abs(remainder(x, 4))):
        y = wrap(y * 3 + k)
    return y


def remainder(a: int, b: int) -> int:
    return a - quotient(a, b) * b


def ranged(x: int) -> int:
    for k in range(3):
        x = wrap(x * 2 - k)
    return x


def by_kind(x: int, y: int) -> int:
    return wrap(-y if x < 0 else y + 1 if x % 2 == 0 else y * 3)


def small(x: int, y: int) -> int:
    return wrap(x * 2) if abs(remainder(x, 7)) < 3 else y


def carried(x: int) -> int:
    found = [wrap(x * k) for k in range(4) if remainder(wrap(x + k), 3) == 0]
    return found[-1] if found else -1


ONE: dict[str, Callable[[int], int]] = {
    "steps({})": steps,
    "ranged({})": ranged,
    "carried({})": carried,
    "(-{})": lambda x: wrap(-x),
}
TWO: dict[str, Callable[[int, int], int]] = {
    "({} + {})": lambda a, b: wrap(a + b),
    "({} * {})": lambda a, b: wrap(a * b),
    "({} % {})": lambda a, b: a if b == 0 else remainder(a, b),
    "spread({}, {})": lambda a, b: wrap(max(a, b) * 2 - min(a, b)),
    "ordered({}, {}).low": min,
    "apart({}, {})": lambda a, b: wrap(b * 10 + a),
    "by(kind({}), {})": by_kind,
    "(match kind({0}) {{ Even => {1} + 1  Odd => {1} * 3  Negative => -{1} }})": by_kind,
    "or(small({}), {})": small,
    "(match small({0}) {{ some(v) => v  none => {1} }})": small,
}


@dataclass
class Maker:
    draw: Any
    arrays: dict[str, np.ndarray]
    count: int = 0

    def element(self, indices: tuple[str, ...], depth: int) -> Element:
        kind = self.draw(st.integers(0, 9)) if depth else 9
        if kind < 2:
            form = self.draw(st.sampled_from(sorted(ONE)))
            a = self.element(indices, depth - 1)
            return Element(form.format(a.text), lambda p: ONE[form](a.of(p)))
        if kind < 5:
            form = self.draw(st.sampled_from(sorted(TWO)))
            a, b = (self.element(indices, depth - 1) for _ in range(2))
            return Element(form.format(a.text, b.text), lambda p: TWO[form](a.of(p), b.of(p)))
        if kind == 5:
            a, b, c = (self.element(indices, depth - 1) for _ in range(3))
            text = f"(if {a.text} > 2 {{ {b.text} }} else {{ {c.text} }})"
            return Element(text, lambda p: b.of(p) if a.of(p) > 2 else c.of(p))
        if kind == 6:
            a, b = (self.element(indices, depth - 1) for _ in range(2))
            x, at = self.arrays["x"], f"{a.text} + x[{indices[0]}] * 0"  # known to a run alone
            text = f"(if {a.text} >= 0 && {a.text} < 3 {{ x[{at}] }} else {{ {b.text} }})"
            return Element(text, lambda p: int(x[a.of(p)]) if 0 <= a.of(p) < 3 else b.of(p))
        if kind == 7:
            a, b = (self.element(indices, depth - 1) for _ in range(2))
            rows = self.arrays["t"]
            text = f"scaled(t, abs({a.text} % 3), {b.text})"

            def scaled(p: dict[str, int]) -> int:
                r = [int(v) * b.of(p) for v in rows[abs(remainder(a.of(p), 3))]]
                return wrap(3 * r[0] + 2 * r[1])

            return Element(text, scaled)
        if kind == 8 and len(indices) < 4:
            self.count += 1
            k = f"k{self.count}"
            a = self.element((*indices, k), depth - 1)
            text = f"(sum[{k}] x[{k}] * {a.text})"
            x = self.arrays["x"]
            return Element(
                text, lambda p: wrap(sum(int(x[n]) * a.of({**p, k: n}) for n in range(len(x))))
            )
        return self.leaf(indices)

    def leaf(self, indices: tuple[str, ...]) -> Element:
        kind = self.draw(st.integers(0, 3))
        i = self.draw(st.sampled_from(indices))
        if kind == 0:
            value = self.draw(st.integers(0, 5))
            return Element(str(value), lambda _: value)
        if kind == 1:
            t = self.arrays["t"]
            return Element(f"t[{i}, 1]", lambda p: int(t[p[i], 1]))
        x = self.arrays["x"]
        return Element(f"x[{i}]", lambda p: int(x[p[i]]))


@st.composite
def notations(draw: Any) -> Notation:
    numbers = st.integers(-4, 9)
    x = np.array(draw(st.lists(numbers, min_size=3, max_size=3)))
    t = np.array(draw(st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=3, max_size=3)))
    maker = Maker(draw, {"x": x, "t": t})
    indices = draw(st.sampled_from([("i",), ("i", "j")]))
    body = maker.element(indices, 3)
    used = " + ".join(f"x[{i}] * 0" for i in indices)
    shape = ", ".join("N" for _ in indices)
    text = f"""{FUNCTIONS}
fn f<N: Dim>(x: Tensor[N; i64], t: Tensor[3, 2; i64]) -> Tensor[{shape}; i64] where N == 3 {{
    let y[{", ".join(indices)}] = {body.text} + {used}
    return y
}}
"""
    extents = (3,) * len(indices)
    value = np.zeros(extents, np.int64)
    for where in np.ndindex(*extents):
        value[where] = body.of(dict(zip(indices, where, strict=True)))
    return Notation(text, (x, t), value)
