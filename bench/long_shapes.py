"""Sources in which one thing grows: each function gives a module with `count` of that thing.

The checker accepts every one of them, so that a measurement is not one of findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

VECTOR = "Tensor[N; f32]"
CHAINED = f"<N: Dim>(x: {VECTOR}) -> {VECTOR}"


def module(*items: str) -> str:
    return "module long\n\n" + "\n".join(items)


def function(head: str, lines: Iterable[str], result: str) -> str:
    """A function from its head, all before the brace, its statements and its result."""
    return f"fn {head} {{\n" + "".join(f"    {s}\n" for s in lines) + f"    return {result}\n}}\n"


def block(members: Iterable[str], methods: Iterable[str]) -> str:
    return (
        "pub block B<N: Dim> {\n"
        + "".join(f"    {m}\n" for m in members)
        + "\n".join([*methods, "}\n"])
    )


def generics(names: Iterable[str]) -> str:
    return ", ".join(f"{n}: Dim" for n in names)


def axes_of(names: Iterable[str]) -> str:
    """A parameter for each of some generics."""
    return ", ".join(f"x{i}: Tensor[{n}; f32]" for i, n in enumerate(names))


def body(count: int) -> str:
    """Statements of one function, each made of the one before."""
    lines = [f"let a{i + 1} = a{i} * 2.0 + x" for i in range(count)]
    return module("pub " + function(f"f{CHAINED}", ["let a0 = x", *lines], f"a{count}"))


def points(count: int) -> str:
    """Definitions in index notation in one function, each made of the one before."""
    lines = [f"let a{i + 1}[n] = a{i}[n] * x[n]" for i in range(count)]
    return module("pub " + function(f"f{CHAINED}", ["let a0 = x", *lines], f"a{count}"))


def calls(count: int) -> str:
    """Calls in one function, each with a `where` to prove."""
    lines = [f"let a{i + 1} = g(a{i})" for i in range(count)]
    asked = function(f"g{CHAINED} where N > 1", [], "x")
    return module(
        asked, "pub " + function(f"f{CHAINED} where N > 2", ["let a0 = x", *lines], f"a{count}")
    )


def parameters(count: int) -> str:
    """Parameters of one function, all read, and a call of it."""
    params = ", ".join(f"x{i}: {VECTOR}" for i in range(count))
    lines = [f"let a{i + 1} = a{i} * x{i}" for i in range(count)]
    called = function(f"f<N: Dim>({params}) -> {VECTOR}", ["let a0 = x0", *lines], f"a{len(lines)}")
    return module(called, "pub " + function(f"g{CHAINED}", [], f"f({', '.join(['x'] * count)})"))


def members(count: int) -> str:
    """Members of one block, all read."""
    lines = [f"let a{i + 1} = a{i} * w{i}" for i in range(count)]
    method = "pub " + function(f"forward(x: {VECTOR}) -> {VECTOR}", ["let a0 = x", *lines], "a0")
    method = method.replace("return a0", f"return a{count}")
    return module(block((f"param w{i}: {VECTOR}" for i in range(count)), [method]))


def methods(count: int) -> str:
    """Methods of one block, each of which calls the one before."""
    head = f"(x: {VECTOR}) -> {VECTOR}"
    made = [function(f"m{i + 1}{head}", [], f"m{i}(x)") for i in range(count)]
    ends = function(f"m0{head}", [], "x * w"), "pub " + function(f"f{head}", [], f"m{count}(x)")
    return module(block([f"param w: {VECTOR}"], [ends[0], *made, ends[1]]))


def subs(count: int) -> str:
    """Blocks in one block, called in turn."""
    head = f"(x: {VECTOR}) -> {VECTOR}"
    layer = block([f"param w: {VECTOR}"], ["pub " + function(f"forward{head}", [], "x * w")])
    lines = [f"let a{i + 1} = l{i}.forward(a{i})" for i in range(count)]
    method = "pub " + function(f"forward{head}", ["let a0 = x", *lines], f"a{count}")
    outer = block((f"sub l{i}: L<N>" for i in range(count)), [method])
    return module(layer.replace("block B", "block L"), outer)


def arms(count: int) -> str:
    """Arms of one `match`."""
    variants = ", ".join(f"v{i}" for i in range(count))
    cases = "\n".join(f"        v{i} => x * {i}.0" for i in range(count))
    head = f"f<N: Dim>(how: E, x: {VECTOR}) -> {VECTOR}"
    return module(
        f"pub enum E {{ {variants} }}\n",
        "pub " + function(head, [], f"match how {{\n{cases}\n    }}"),
    )


def fields(count: int) -> str:
    """Fields of one struct, each given and read; there may be no more than a thousand."""
    declared = "\n".join(f"    a{i}: {VECTOR}" for i in range(count))
    given = ", ".join(f"a{i}: x" for i in range(count))
    lines = [f"let b{i + 1} = b{i} * s.a{i}" for i in range(count)]
    return module(
        f"pub struct S<N: Dim> {{\n{declared}\n}}\n",
        "pub " + function(f"make<N: Dim>(x: {VECTOR}) -> S<N>", [], f"S {{ {given} }}"),
        "pub "
        + function(f"f<N: Dim>(s: S<N>) -> {VECTOR}", ["let b0 = s.a0", *lines], f"b{count}"),
    )


def axes(count: int) -> str:
    """Axes of one tensor."""
    names = [f"N{i}" for i in range(count)]
    type_ = f"Tensor[{', '.join(names)}; f32]"
    return module("pub " + function(f"f<{generics(names)}>(x: {type_}) -> {type_}", [], "x + x"))


def constants(count: int) -> str:
    """Constants, each made of the one before."""
    made = [f"const C{i + 1}: i32 = C{i} % 7 + 1" for i in range(count)]
    return module("const C0: i32 = 1", *made, "")


def _where(names: list[str], relations: Iterable[str], result: str, value: str) -> str:
    stated = "".join(f"    {r},\n" for r in relations)
    head = f"f<{generics(names)}>({axes_of(names)}) -> {result}\nwhere\n{stated}"
    return module("pub " + function(head, [], value))


def where(count: int) -> str:
    """Relations of one `where`, which make a chain."""
    names = [f"N{i}" for i in range(count + 1)]
    relations = [f"{a} < {b}" for a, b in pairwise(names)]
    return _where(names, relations, "Tensor[N1 - N0; f32]", "x1[N0:]")


def where_bounds(count: int) -> str:
    """Relations of one `where`, each about a generic of its own."""
    names = [f"N{i}" for i in range(count)]
    return _where(names, (f"{n} > 1" for n in names), "Tensor[N0 - 1; f32]", "x0[1:]")


def where_equal(count: int) -> str:
    """Relations of one `where`, each of which says what a generic is."""
    names = [f"N{i}" for i in range(count)]
    relations = (f"{n} == {i + 2} * N0" for i, n in enumerate(names[1:]))
    return _where(names, relations, "Tensor[2 * N0; f32]", "x1")


def where_divides(count: int) -> str:
    """Relations of one `where`, each of which makes a generic even."""
    names = [f"N{i}" for i in range(count)]
    relations = (f"{n} % 2 == 0" for n in names)
    return _where(names, relations, "Tensor[N0 / 2; f32]", "x0[0:N0 / 2]")


# Each with how many of its things take about a second.
SHAPES: dict[str, tuple[Callable[[int], str], int]] = {
    "body": (body, 4000),
    "points": (points, 4000),
    "calls": (calls, 2000),
    "parameters": (parameters, 2000),
    "members": (members, 2000),
    "methods": (methods, 1000),
    "subs": (subs, 1000),
    "arms": (arms, 4000),
    "fields": (fields, 400),
    "axes": (axes, 2000),
    "constants": (constants, 2000),
    "where": (where, 400),
    "where_bounds": (where_bounds, 400),
    "where_equal": (where_equal, 200),
    "where_divides": (where_divides, 200),
}
