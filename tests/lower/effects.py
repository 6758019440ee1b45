"""Random entries of a block with states, each with a plain meaning of its own.

An expression is its text and a function of the machine that it runs on; so is a statement. All
numbers are i64 and wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

BLOCKS = """
struct Pair { low: i64 high: i64 }
fn twice(x: i64, plus: i64? = none) -> i64 {
    return x * 2 + match plus { some(p) => p  none => 1 }
}
block Cell {
    state s: i64
    pub fn push(by: i64) -> i64 { s = s * 10 + by
        return s }
    pub fn look() -> i64 { return s }
}
block Model {
    sub one: Cell
    sub cells: [Cell; 3]
    state t: i64
    fn inc(by: i64) -> i64 { t = t * 10 + by
        return t }
    fn both(a: i64, b: i64 = 2) -> i64 {
        let first = inc(a) - one.push(b)
        return first + t
    }
    pub entry f(x: i64) -> i64 {
BODY
    }
}
"""
STATES = ("t", "one.s", "cells.0.s", "cells.1.s", "cells.2.s")


def wrap(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


@dataclass
class Machine:
    """The variables and the states."""

    names: dict[str, int]
    states: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATES, 0))

    def push(self, path: str, by: int) -> int:
        self.states[path] = wrap(self.states[path] * 10 + by)
        return self.states[path]

    def both(self, a: int, b: int = 2) -> int:
        first = self.push("t", a) - self.push("one.s", b)
        return wrap(first + self.states["t"])


Meaning = Callable[[Machine], int]
Act = Callable[[Machine], None]


@dataclass(frozen=True)
class Expr:
    text: str
    of: Meaning


@dataclass(frozen=True)
class Stmt:
    text: str
    run: Act


def quotient(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY: dict[str, Callable[[int, int], int]] = {
    "({} + {})": lambda a, b: a + b,
    "({} - {})": lambda a, b: a - b,
    "({} * {})": lambda a, b: a * b,
    "({} / {})": quotient,
    "({} % {})": lambda a, b: a - quotient(a, b) * b,
    "min({}, {})": min,
    "twice({}, some({}))": lambda a, b: wrap(a * 2) + b,
}
COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b, "==": lambda a, b: a == b, ">=": lambda a, b: a >= b,
}  # fmt: skip


@dataclass
class Maker:
    """Draws statements; `names` are the locals in scope, `vars` those that may be assigned."""

    draw: Any
    count: int = 0

    def one_of(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    # --- expressions

    def number(self, names: list[str], depth: int) -> Expr:
        kind = self.draw(st.integers(0, 9)) if depth else 9
        if kind < 3:
            form = self.one_of(sorted(BINARY))
            return self.pair(form, names, depth, lambda _, a, b: wrap(BINARY[form](a, b)))
        if kind == 3:
            a, b, c = self.truth(names, depth - 1), *self.two(names, depth)
            text = f"(if {a.text} {{ {b.text} }} else {{ {c.text} }})"
            return Expr(text, lambda m: b.of(m) if a.of(m) else c.of(m))
        if kind == 4:
            a, b, c = self.truth(names, depth - 1), *self.two(names, depth)
            text = f"select({a.text}, {b.text}, {c.text})"
            return Expr(text, lambda m: chosen(m, a, b, c))
        if kind == 5:
            a = self.number(names, depth - 1)
            path = self.one_of(["t", "one.s"])
            name = {"t": "inc", "one.s": "one.push"}[path]
            return Expr(f"{name}({a.text})", lambda m: m.push(path, a.of(m)))
        if kind == 6:
            return self.pair("both({}, {})", names, depth, Machine.both)
        if kind == 7:
            return self.pair("both(b = {}, a = {})", names, depth, lambda m, b, a: m.both(a, b))
        if kind == 8:
            a = self.number(names, depth - 1)
            return Expr(f"both({a.text})", lambda m: m.both(a.of(m)))
        return self.leaf(names)

    def leaf(self, names: list[str]) -> Expr:
        k = self.draw(st.integers(0, 9))
        name = self.one_of(["t", "one.look()", *names])
        if name == "t" or k < 2:
            return Expr("t", lambda m: m.states["t"])
        if name == "one.look()":
            return Expr(name, lambda m: m.states["one.s"])
        return Expr(name, lambda m: m.names[name])

    def two(self, names: list[str], depth: int) -> tuple[Expr, Expr]:
        return self.number(names, depth - 1), self.number(names, depth - 1)

    def pair(
        self, form: str, names: list[str], depth: int, of: Callable[[Machine, int, int], int]
    ) -> Expr:
        a, b = self.two(names, depth)

        def meaning(m: Machine) -> int:
            first = a.of(m)
            return of(m, first, b.of(m))

        return Expr(form.format(a.text, b.text), meaning)

    def truth(self, names: list[str], depth: int) -> Expr:
        kind = self.draw(st.integers(0, 3)) if depth > 0 else 0
        if kind < 2:
            op = self.one_of(sorted(COMPARE))
            return self.pair(f"{{}} {op} {{}}", names, 1, lambda _, a, b: COMPARE[op](a, b))
        a, b = self.truth(names, depth - 1), self.truth(names, depth - 1)
        if kind == 2:
            return Expr(f"({a.text} && {b.text})", lambda m: a.of(m) and b.of(m))
        return Expr(f"({a.text} || !({b.text}))", lambda m: a.of(m) or not b.of(m))

    # --- statements

    def body(self, names: list[str], vars_: list[str], depth: int, most: int = 4) -> list[Stmt]:
        names, vars_ = list(names), list(vars_)
        found: list[Stmt] = []
        for _ in range(self.draw(st.integers(1, most))):
            kind = self.draw(st.integers(0, 8 if depth else 5))
            found.append(self.statement(kind, names, vars_, depth))
        return found

    def statement(self, kind: int, names: list[str], vars_: list[str], depth: int) -> Stmt:
        value = self.number(names, 3)
        if kind == 0:
            return Stmt(f"t = {value.text}", lambda m: m.states.update(t=value.of(m)))
        if kind == 1 and vars_:
            return self.bind("", self.one_of(vars_), value)
        if kind == 2:
            other, (a, b) = self.number(names, 2), (self.fresh(), self.fresh())
            names += [a, b]
            text = f"let p{a} = Pair {{ high: {value.text}, low: {other.text} }}\n"
            text += f"let ({a}, {b}) = (p{a}.low, p{a}.high)"

            def split(m: Machine) -> None:
                high = value.of(m)
                m.names |= {a: other.of(m), b: high}

            return Stmt(text, split)
        if kind == 6:
            return self.ranged(names, vars_, depth)
        if kind == 7:
            return self.repeated(names, vars_, depth)
        if kind == 8:
            return self.over_cells(names, vars_)
        name = self.fresh()
        names.append(name)
        keyword = self.one_of(["let", "var"])
        if keyword == "var":
            vars_.append(name)
        return self.bind(f"{keyword} ", name, value)

    def bind(self, keyword: str, name: str, value: Expr) -> Stmt:
        return Stmt(
            f"{keyword}{name} = {value.text}", lambda m: m.names.update({name: value.of(m)})
        )

    def ranged(self, names: list[str], vars_: list[str], depth: int) -> Stmt:
        i, stop = self.fresh(), self.draw(st.integers(0, 3))
        inner = self.body([*names, i], vars_, depth - 1)

        def loop(m: Machine) -> None:
            for k in range(1, stop):
                m.names[i] = k
                run_all(inner, m)

        return Stmt(f"static for {i} in 1..{stop} {{\n{lines(inner)}\n}}", loop)

    def repeated(self, names: list[str], vars_: list[str], depth: int) -> Stmt:
        k, condition = self.fresh(), self.truth(names, 2)
        inner = self.body([*names, k], vars_, depth - 1)
        text = (
            f"var {k} = 0\nwhile {k} < 3 && {condition.text} {{\n{lines(inner)}\n{k} = {k} + 1\n}}"
        )

        def loop(m: Machine) -> None:
            m.names[k] = 0
            while m.names[k] < 3 and condition.of(m):
                run_all(inner, m)
                m.names[k] += 1

        return Stmt(text, loop)

    def over_cells(self, names: list[str], vars_: list[str]) -> Stmt:
        value = self.number(names, 2)
        target = self.one_of(["t", *vars_])
        cell = self.fresh()
        change = f"{cell}.push({value.text}) - {cell}.look() / 2"
        text = f"static for {cell} in cells {{ {target} = {change} }}"

        def loop(m: Machine) -> None:
            for k in range(3):
                path = f"cells.{k}.s"
                found = wrap(m.push(path, value.of(m)) - quotient(m.states[path], 2))
                (m.states if target == "t" else m.names)[target] = found

        return Stmt(text, loop)


def chosen(m: Machine, condition: Expr, a: Expr, b: Expr) -> int:
    """`select`: all three are evaluated."""
    first, second, third = condition.of(m), a.of(m), b.of(m)
    return second if first else third


def run_all(body: Sequence[Stmt], m: Machine) -> None:
    for stmt in body:
        stmt.run(m)


def lines(body: Sequence[Stmt]) -> str:
    return "\n".join(stmt.text for stmt in body)


@dataclass(frozen=True)
class Entry:
    """`text` defines `Model`; what its entry `f` gives is `result`."""

    text: str
    body: tuple[Stmt, ...]
    result: Expr

    def run(self, x: int, states: dict[str, int]) -> int:
        """The result for `x`; `states` are left as it leaves them."""
        machine = Machine({"x": x}, states)
        run_all(self.body, machine)
        return self.result.of(machine)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """A random entry."""
    maker = Maker(draw)
    body = maker.body(["x"], [], 2, 6)
    result = maker.number(["x"], 3)
    text = BLOCKS.replace("BODY", f"{lines(body)}\nreturn {result.text}")
    return Entry(text, tuple(body), result)
