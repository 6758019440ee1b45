"""Random programs whose shapes are plausible and often wrong, and what Python says of each.

Every step knows what it does to arrays. `Program.outcome` runs them for given numbers. It gives
the value, or says that a claim does not hold (`WrongError`: the checker had to refuse the
program), or that there is no program for these numbers (`AbsentError`: a `where` does not hold,
an argument or a new tensor has a negative extent; lowering refuses such numbers).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

Array = np.ndarray
Env = dict[str, int]
T = TypeVar("T")

HELPERS = """
fn tail<K: Dim, N: Dim>(x: Tensor[N; i64]) -> Tensor[K; i64] where K <= N {
    return x[N - K :]
}
fn halves<N: Dim>(x: Tensor[2 * N; i64]) -> Tensor[N; i64] {
    return x[:N] - x[N:]
}
fn groups<G: Dim, N: Dim>(x: Tensor[N; i64]) -> Tensor[N / G, G; i64] where G > 0, N % G == 0 {
    return reshape(x, [N / G, G])
}
fn drop<N: Dim>(x: Tensor[N + 1; i64]) -> Tensor[N; i64] {
    return x[1:] + x[0]
}
fn rows<*S: Shape, N: Dim>(x: Tensor[*S, N; i64]) -> Tensor[*S; i64] {
    let y[*s] = sum[n] x[*s, n]
    return y
}
struct Part<N: Dim, M: Dim> where M <= N { whole: Tensor[N; i64] at: i64 }
fn part<N: Dim, M: Dim>(p: Part<N, M>) -> Tensor[M; i64] where M <= N {
    return p.whole[N - M :] + p.at
}
"""


class WrongError(Exception):
    """A claim of the program does not hold."""


class AbsentError(Exception):
    """Numbers for which the program is refused when they are bound."""


def number(dim: str, env: Env) -> int:
    """What a dimension means, by Python's own integers."""
    try:
        return int(eval(dim.replace("/", "//"), {"min": min, "max": max}, dict(env)))
    except ZeroDivisionError:
        raise WrongError(f"`{dim}` divides by zero") from None


def shape(dims: Sequence[str], env: Env) -> list[int]:
    return [number(d, env) for d in dims]


def made(dims: Sequence[str], env: Env) -> list[int]:
    """The extents of a tensor that is made anew."""
    extents = shape(dims, env)
    if any(n < 0 for n in extents):
        raise AbsentError(f"{dims} is negative")
    return extents


def claim(holds: bool, what: str) -> None:
    if not holds:
        raise WrongError(what)


@dataclass(frozen=True)
class Value:
    """A name of the program, its extents as the generator believes them to be."""

    name: str
    dims: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """A `let`. `make` says what it gives, from the values before it."""

    name: str
    text: str
    annotation: tuple[str, ...] | None
    make: Callable[[Env, dict[str, Array]], Array]
    left: str = ""

    def __str__(self) -> str:
        type_ = f": {tensor(self.annotation)}" if self.annotation is not None else ""
        return f"let {self.name}{self.left}{type_} = {self.text}"


@dataclass
class Program:
    where: list[str]
    params: list[Value]
    steps: list[Step] = field(default_factory=list[Step])
    values: list[Value] = field(default_factory=list[Value])
    result: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        params = ", ".join(f"{p.name}: {tensor(p.dims)}" for p in self.params)
        where = f" where {', '.join(self.where)}" if self.where else ""
        body = "\n    ".join([*map(str, self.steps), f"return {self.values[-1].name}"])
        head = f"fn f<A: Dim, B: Dim, C: Dim>({params}) -> {tensor(self.result)}{where}"
        return f"{HELPERS}\n{head} {{\n    {body}\n}}\n"

    def arguments(self, env: Env) -> list[Array]:
        """Arguments for the given numbers."""
        shapes = [made(p.dims, env) for p in self.params]
        return [np.arange(np.prod(s), dtype=np.int64).reshape(s) % 7 - 2 for s in shapes]

    def outcome(self, env: Env) -> Array:
        """What `f` gives under `env`; the first of `WrongError` and `AbsentError` instead."""
        self._assume(env)
        for dim in (d for p in self.params for d in p.dims):
            number(dim, env)
        values = dict(zip((p.name for p in self.params), self.arguments(env), strict=True))
        for step in self.steps:
            value = step.make(env, values)
            if step.annotation is not None:
                claim(shape(step.annotation, env) == list(value.shape), str(step))
            values[step.name] = value
        value = values[self.values[-1].name]
        claim(shape(self.result, env) == list(value.shape), "the result")
        return value

    def _assume(self, env: Env) -> None:
        """`AbsentError` if a relation is false, else `WrongError` if one divides by zero."""
        undefined: WrongError | None = None
        for relation in self.where:
            try:
                holds = number(f"({relation})", env)
            except WrongError as wrong:
                undefined = wrong
                continue
            if not holds:
                raise AbsentError(relation)
        if undefined is not None:
            raise undefined

    def add(
        self,
        dims: tuple[str, ...],
        text: str,
        make: Callable[[Env, dict[str, Array]], Array],
        annotation: tuple[str, ...] | None = None,
        left: str = "",
    ) -> None:
        name = f"v{len(self.steps)}"
        self.steps.append(Step(name, text, annotation, make, left))
        self.values.append(Value(name, annotation if annotation is not None else dims))


def tensor(dims: tuple[str, ...]) -> str:
    return f"Tensor[{', '.join(dims)}; i64]" if dims else "i64"


# --- drawing -------------------------------------------------------------------


class Draw:
    """Typed access to hypothesis."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def one(self, choices: Sequence[T]) -> T:
        return self._draw(st.sampled_from(choices))

    def chance(self, of: int) -> bool:
        return self._draw(st.integers(1, of)) == 1


ATOMS = ["A", "A", "B", "B", "C", "1", "2", "3"]
RELATIONS = [
    "A > 0", "B > 0", "C > 0", "A > 1", "A <= B", "B <= A", "C < B", "A % B == 0", "A % 2 == 0",
    "B % 2 == 0", "A == B", "A == 2 * B", "A == B * C", "A == B + C", "C == A / B", "B >= 2",
    "A + B <= C", "C == min(A, B)", "A % 3 == 0", "A != 0", "A * B > 0", "B == 2", "A >= 2 * C",
]  # fmt: skip
FORMS = [
    "{0} + {1}", "{0} - {1}", "{0} * {1}", "2 * {0}", "{0} / 2", "{0} / {1}", "{0} % {1}",
    "min({0}, {1})", "max({0}, {1})", "{0} - 1", "{0} + 1", "({0} + {1} - 1) / {1}",
    "{0} / {1} * {1}", "{0} - {0} % {1}",
]  # fmt: skip


def dimension(draw: Draw) -> str:
    atom = draw.one(ATOMS)
    if draw.chance(2):
        return atom
    return draw.one(FORMS).format(atom, draw.one(ATOMS))


def near(draw: Draw, dim: str) -> str:
    """`dim` written otherwise, or something that is not quite it."""
    if draw.chance(2):
        return dim
    other = draw.one(ATOMS)
    same = [
        f"({dim}) + {other} - {other}", f"({dim}) * 1", f"({dim}) * {other} / {other}",
        f"({dim}) / 2 * 2", f"min({dim}, ({dim}) + {other})", f"max(({dim}), 0)",
        f"({dim}) / {other} * {other}", f"({dim}) / 2 + ({dim}) / 2", "A", "B", "C",
        f"({dim}) - ({dim}) % {other}", f"min({dim}, {other})",
    ]  # fmt: skip
    return draw.one(same)


def within(draw: Draw, dim: str) -> str:
    """A bound that may well lie in an axis of `dim`."""
    other = draw.one(ATOMS)
    forms = [
        "0", "1", other, dim, f"({dim}) - 1", f"({dim}) / 2", f"({dim}) - {other}",
        f"min({dim}, {other})", f"({dim}) % {other}", f"({dim}) / {other}",
        f"max(({dim}) - {other}, 0)",
    ]  # fmt: skip
    return draw.one(forms)


@st.composite
def programs(draw_: Any) -> Program:
    draw = Draw(draw_)
    where = [draw.one(RELATIONS) for _ in range(draw.one([0, 1, 1, 2, 2, 3]))]
    ranks = [draw.one([1, 1, 2, 2, 3]) for _ in range(2)]
    params = [Value(f"x{i}", tuple(dimension(draw) for _ in range(r))) for i, r in enumerate(ranks)]
    program = Program(list(dict.fromkeys(where)), params)
    program.values.extend(params)
    for _ in range(draw.one([1, 1, 2, 2, 3])):
        draw.one(STEPS)(draw, program, draw.one(program.values))
    if not program.steps:
        concat(draw, program, program.values[0])
    last = program.values[-1].dims
    program.result = tuple(near(draw, d) if draw.chance(3) else d for d in last)
    return program


# --- steps ---------------------------------------------------------------------


def annotate(draw: Draw, program: Program, x: Value) -> None:
    """The same value, said to be of another shape."""
    program.add(
        x.dims, x.name, lambda env, v: v[x.name], tuple(near(draw, d) for d in x.dims)
    )  # fmt: skip


def cut(draw: Draw, program: Program, x: Value) -> None:
    """A slice, or a single position, of the first axis."""
    if not x.dims:
        return
    dim, rest = x.dims[0], "".join([", :"] * (len(x.dims) - 1))
    start, stop = within(draw, dim), draw.one([dim, dim, within(draw, dim)])
    step = draw.one([1, 1, 2, 3])
    if draw.chance(3):

        def position(env: Env, v: dict[str, Array]) -> Array:
            at = number(start, env)
            claim(0 <= at < len(v[x.name]), f"{start} is a position")
            return v[x.name][at]

        program.add(x.dims[1:], f"{x.name}[{start}{rest}]", position)
        return

    def part(env: Env, v: dict[str, Array]) -> Array:
        a, b, extent = number(start, env), number(stop, env), len(v[x.name])
        claim(a >= 0 and b <= extent and (b - a + step - 1) // step >= 0, f"{start}:{stop}")
        return v[x.name][a:b:step]

    count = f"({stop} - ({start}) + {step - 1}) / {step}"
    text = f"{x.name}[{start} : {stop}{f' : {step}' if step > 1 else ''}{rest}]"
    program.add((count, *x.dims[1:]), text, part)


def reshape(draw: Draw, program: Program, x: Value) -> None:
    dims = list(x.dims) or ["1"]
    at = draw.one(range(len(dims)))
    by = draw.one(ATOMS)
    if draw.chance(2):
        dims[at : at + 1] = [f"({dims[at]}) / {by}", by]
    elif len(dims) > 1:
        merged = slice(max(at - 1, 0), at + 1)
        dims[merged] = [" * ".join(f"({d})" for d in dims[merged])]
    aim = tuple(near(draw, d) if draw.chance(3) else d for d in dims)

    def make(env: Env, v: dict[str, Array]) -> Array:
        extents = shape(aim, env)
        claim(int(np.prod(extents, dtype=np.int64)) == v[x.name].size, f"{aim} has as many")
        return v[x.name].reshape(made(aim, env))

    program.add(aim, f"reshape({x.name}, [{', '.join(aim)}])", make)


def meet(a: Sequence[int], b: Sequence[int]) -> None:
    """Broadcasting: equal, or 1. Whether the 1 is written is for the checker to see."""
    for x, y in zip(reversed(a), reversed(b), strict=False):
        claim(x == y or 1 in (x, y), f"{a} and {b} broadcast")


def add(draw: Draw, program: Program, x: Value) -> None:
    y = draw.one(program.values)

    def make(env: Env, v: dict[str, Array]) -> Array:
        meet(v[x.name].shape, v[y.name].shape)
        return v[x.name] + v[y.name]

    longer, shorter = (x.dims, y.dims) if len(x.dims) >= len(y.dims) else (y.dims, x.dims)
    tail = zip(longer[len(longer) - len(shorter) :], shorter, strict=True)
    dims = (*longer[: len(longer) - len(shorter)], *(b if a == "1" else a for a, b in tail))
    program.add(dims, f"{x.name} + {y.name}", make)


def stretch(draw: Draw, program: Program, x: Value) -> None:
    dims = (draw.one(ATOMS), *(near(draw, d) if draw.chance(3) else d for d in x.dims))

    def make(env: Env, v: dict[str, Array]) -> Array:
        extents, own = shape(dims, env), v[x.name].shape
        for n, m in zip(reversed(own), reversed(extents), strict=False):
            claim(n in (m, 1), f"{own} becomes {extents}")
        return np.broadcast_to(v[x.name], made(dims, env))

    program.add(dims, f"broadcast_to({x.name}, [{', '.join(dims)}])", make)


def concat(draw: Draw, program: Program, x: Value) -> None:
    if not x.dims:
        return
    extra = dimension(draw)
    dims = (extra, *(near(draw, d) if draw.chance(4) else d for d in x.dims[1:]))

    def make(env: Env, v: dict[str, Array]) -> Array:
        fresh = np.full(made(dims, env), 3, np.int64)
        claim(fresh.shape[1:] == v[x.name].shape[1:], "the other axes agree")
        return np.concatenate([v[x.name], fresh])

    text = f"concat({x.name}, fill<i64>([{', '.join(dims)}], 3), axis = 0)"
    program.add((f"{x.dims[0]} + {extra}", *x.dims[1:]), text, make)


def shared_index(draw: Draw, program: Program, x: Value) -> None:
    """One index on two axes; some of the others are summed over."""
    y = draw.one(program.values)
    if not x.dims or not y.dims or len(x.dims) + len(y.dims) > 5:
        return
    left = [f"i{k}" for k in range(len(x.dims))]
    right = [f"j{k}" for k in range(len(y.dims))]
    at, to = draw.one(range(len(left))), draw.one(range(len(right)))
    right[to] = left[at]
    every = list(dict.fromkeys([*left, *right]))
    bound = [i for i in every if draw.chance(2)]
    kept = [i for i in every if i not in bound]
    letters = {name: chr(97 + k) for k, name in enumerate(every)}

    def make(env: Env, v: dict[str, Array]) -> Array:
        claim(v[x.name].shape[at] == v[y.name].shape[to], f"`{left[at]}` has one extent")
        parts = ("".join(letters[i] for i in part) for part in (left, right, kept))
        return np.einsum("{},{}->{}".format(*parts), v[x.name], v[y.name])

    extents = dict(zip([*right, *left], [*y.dims, *x.dims], strict=True))
    body = f"{x.name}[{', '.join(left)}] * {y.name}[{', '.join(right)}]"
    text = f"sum[{', '.join(bound)}] {body}" if bound else body
    name = f"[{', '.join(kept)}]" if kept else ""
    program.add(tuple(extents[i] for i in kept), text, make, left=name)


def fixed_position(draw: Draw, program: Program, x: Value) -> None:
    """A constant position in index notation."""
    if len(x.dims) < 2:
        return
    at = within(draw, x.dims[0])
    names = [f"i{k}" for k in range(len(x.dims) - 1)]

    def make(env: Env, v: dict[str, Array]) -> Array:
        claim(0 <= number(at, env) < len(v[x.name]), f"{at} is a position")
        return v[x.name][number(at, env)]

    text = f"{x.name}[{', '.join([at, *names])}]"
    program.add(x.dims[1:], text, make, left=f"[{', '.join(names)}]")


def count(draw: Draw, program: Program, x: Value) -> None:
    """`iota`, and a compile-time integer as a value."""
    dim, other = dimension(draw), dimension(draw)

    def make(env: Env, v: dict[str, Array]) -> Array:
        extent = made((dim,), env)[0]
        return np.arange(extent, dtype=np.int64) + number(other, env)

    program.add((dim,), f"iota({dim}) + ({other})", make)


def call(draw: Draw, program: Program, x: Value) -> None:
    if len(x.dims) != 1:
        return
    draw.one(CALLS)(draw, program, x)


def natural(dim: str, env: Env) -> int:
    """A generic argument."""
    value = number(dim, env)
    claim(value >= 0, f"`{dim}` is a dimension")
    return value


def call_tail(draw: Draw, program: Program, x: Value) -> None:
    size = within(draw, x.dims[0])

    def make(env: Env, v: dict[str, Array]) -> Array:
        k = natural(size, env)
        claim(k <= len(v[x.name]), "K <= N")
        return v[x.name][len(v[x.name]) - k :]

    program.add((size,), f"tail<{size}>({x.name})", make)


def call_halves(draw: Draw, program: Program, x: Value) -> None:
    def make(env: Env, v: dict[str, Array]) -> Array:
        half, rest = divmod(len(v[x.name]), 2)
        claim(rest == 0, "the extent is even")
        return v[x.name][:half] - v[x.name][half:]

    program.add((f"({x.dims[0]}) / 2",), f"halves({x.name})", make)


def call_groups(draw: Draw, program: Program, x: Value) -> None:
    size = draw.one(["2", "B", "C", "A", "3", "B - 1"])

    def make(env: Env, v: dict[str, Array]) -> Array:
        g, n = natural(size, env), len(v[x.name])
        claim(g > 0 and n % g == 0, "G > 0, N % G == 0")
        return v[x.name].reshape(n // g, g)

    program.add((f"({x.dims[0]}) / ({size})", size), f"groups<{size}>({x.name})", make)


def call_drop(draw: Draw, program: Program, x: Value) -> None:
    def make(env: Env, v: dict[str, Array]) -> Array:
        claim(len(v[x.name]) > 0, "N + 1 is the extent")
        return v[x.name][1:] + v[x.name][0]

    program.add((f"{x.dims[0]} - 1",), f"drop({x.name})", make)


def call_part(draw: Draw, program: Program, x: Value) -> None:
    n, m = near(draw, x.dims[0]), within(draw, x.dims[0])

    def make(env: Env, v: dict[str, Array]) -> Array:
        whole, size = natural(n, env), natural(m, env)
        claim(size <= whole, "M <= N")
        claim(whole == len(v[x.name]), "the field is of N")
        return v[x.name][whole - size :] + 1

    text = f"part(Part<{n}, {m}> {{ whole: {x.name}, at: 1 }})"
    program.add((m,), text, make)


def sum_rows(draw: Draw, program: Program, x: Value) -> None:
    if x.dims:
        program.add(x.dims[:-1], f"rows({x.name})", lambda env, v: np.asarray(v[x.name].sum(-1)))


Rule = Callable[[Draw, Program, Value], None]
CALLS: list[Rule] = [call_tail, call_halves, call_groups, call_drop, call_part]
STEPS: list[Rule] = [
    annotate, cut, cut, cut, reshape, reshape, add, stretch, concat, shared_index, shared_index,
    fixed_position, count, call, call, call, sum_rows,
]  # fmt: skip
