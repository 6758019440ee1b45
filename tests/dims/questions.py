"""Random questions for the prover, as trees whose meaning is that of Python's own integers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from linnet.dims.dims import Dim, DimError, Symbol, dim_max, dim_min
from linnet.dims.relations import Comparison, Relation

SYMBOLS = tuple(Symbol(name) for name in "ABCN")
COMPARISONS: tuple[Comparison, ...] = ("==", "!=", "<", "<=", ">", ">=")

Env = Mapping[Symbol, int]
Tree = int | Symbol | tuple[str, "Tree", "Tree"]

_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a // b,
    "%": operator.mod,
    "min": min,
    "max": max,
}
_DIMS: dict[str, Callable[[Dim, Dim], Dim]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a // b,
    "%": operator.mod,
    "min": dim_min,
    "max": dim_max,
}
_COMPARED: dict[Comparison, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Claim:
    """A relation between two trees."""

    op: Comparison
    left: Tree
    right: Tree

    def relation(self) -> Relation:
        """It as the prover takes it; `DimError` if a divisor is the literal zero."""
        return Relation(self.op, dim(self.left), dim(self.right))

    def holds(self, env: Env) -> bool | None:
        """Nothing where a divisor is zero: such an assignment is no program."""
        try:
            return _COMPARED[self.op](value(self.left, env), value(self.right, env))
        except ZeroDivisionError:
            return None


def value(tree: Tree, env: Env) -> int:
    """What `tree` means."""
    if isinstance(tree, tuple):
        return _NUMBERS[tree[0]](value(tree[1], env), value(tree[2], env))
    return env[tree] if isinstance(tree, Symbol) else tree


def dim(tree: Tree) -> Dim:
    """The dimension that `tree` is."""
    if isinstance(tree, tuple):
        return _DIMS[tree[0]](dim(tree[1]), dim(tree[2]))
    return Dim.of(tree)


def subtrees(tree: Tree) -> Iterator[Tree]:
    """`tree` and everything in it."""
    yield tree
    if isinstance(tree, tuple):
        yield from subtrees(tree[1])
        yield from subtrees(tree[2])


LEAVES: st.SearchStrategy[Tree] = st.sampled_from([*SYMBOLS, *SYMBOLS, 0, 1, 2, 3, 4, 6, -1])
OPERATIONS = st.sampled_from(["+", "-", "*", "/", "%", "min", "max"])


def trees(most: int) -> st.SearchStrategy[Tree]:
    """Trees with at most so many leaves."""
    return st.recursive(LEAVES, lambda inner: st.tuples(OPERATIONS, inner, inner), max_leaves=most)


@st.composite
def facts(draw: st.DrawFn) -> Claim:
    """What programs state: bounds, multiples, definitions, quotients, ceilings; or anything."""
    symbol, other = draw(st.sampled_from(SYMBOLS)), draw(st.sampled_from(SYMBOLS))
    divisor: Tree = draw(st.sampled_from([*SYMBOLS, 2, 3, 4]))
    match draw(st.integers(0, 8)):
        case 0 | 1:
            return Claim(">", symbol, draw(st.integers(0, 2)))
        case 2 | 3:
            return Claim("==", ("%", draw(trees(2)), divisor), draw(st.sampled_from([0, 0, 0, 1])))
        case 4:
            return Claim("==", symbol, draw(trees(4)))
        case 5:
            return Claim(draw(st.sampled_from(["<", "<=", "!="])), symbol, other)
        case 6:
            return Claim("==", ("/", draw(trees(2)), divisor), draw(trees(2)))
        case 7:
            up: Tree = ("-", ("+", draw(trees(2)), divisor), 1)
            return Claim("==", symbol, ("/", up, divisor))
        case _:
            return Claim(draw(st.sampled_from(COMPARISONS)), draw(trees(3)), draw(trees(3)))


def _lures(x: Tree, y: Tree, n: Tree) -> list[Claim]:
    """Goals that look as if they followed from facts about `x` and `y`."""
    return [
        Claim("==", ("min", x, y), x),
        Claim("==", ("max", x, y), x),
        Claim("==", ("max", x, 0), x),
        Claim("==", ("*", ("/", x, n), n), x),
        Claim("==", ("%", x, n), 0),
        Claim(">=", ("%", x, n), 0),
        Claim("<=", x, y),
        Claim("<=", ("/", x, n), ("/", y, n)),
        Claim(">=", ("/", x, n), 0),
        Claim(">=", ("*", x, y), x),
        Claim(">=", ("-", x, y), n),
        Claim("==", ("*", ("/", x, y), n), ("/", ("*", x, n), y)),
        Claim("==", ("min", ("/", x, n), ("/", y, n)), ("/", ("min", x, y), n)),
        Claim("==", ("/", ("+", x, n), n), ("+", ("/", x, n), 1)),
        Claim("==", ("/", ("-", ("+", x, n), 1), n), ("/", x, n)),
    ]


@st.composite
def questions(draw: st.DrawFn) -> tuple[tuple[Claim, ...], Claim]:
    """Some facts and a goal, which mostly has to do with the facts."""
    assumed = tuple(draw(st.lists(facts(), max_size=4)))
    near: list[Tree] = [t for f in assumed for side in (f.left, f.right) for t in subtrees(side)]
    if near and draw(st.integers(0, 3)):
        x, y = draw(st.sampled_from(near)), draw(st.sampled_from(near))
        divisor: Tree = draw(st.sampled_from([*SYMBOLS, 2, 3]))
        return assumed, draw(st.sampled_from(_lures(x, y, divisor)))
    if assumed and draw(st.booleans()):
        fact = draw(st.sampled_from(assumed))
        op: Comparison = draw(st.sampled_from([fact.op, *COMPARISONS]))
        factor, shift = draw(trees(3)), draw(st.sampled_from([-1, 0, 0, 1]))
        return assumed, Claim(op, ("+", ("*", fact.left, factor), shift), ("*", fact.right, factor))
    return assumed, Claim(draw(st.sampled_from(COMPARISONS)), draw(trees(4)), draw(trees(4)))


def related(assumed: tuple[Claim, ...], goal: Claim) -> tuple[list[Relation], Relation] | None:
    """The question as the prover takes it; nothing if it divides by the literal zero."""
    try:
        return [fact.relation() for fact in assumed], goal.relation()
    except DimError:
        return None
