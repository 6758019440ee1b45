"""Random well-typed programs over i64 tensors, each with the values that NumPy gives for it.

The arithmetic wraps and never rounds, so that every backend must give the same bits. `A` and
`B` are generics, whose numbers may be 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

Array = np.ndarray
Draw = Callable[[st.SearchStrategy], object]

HELPERS = """
fn twice<*S: Shape>(x: Tensor[*S; i64]) -> Tensor[*S; i64] {
    let y[*s] = bump(x[*s], by = 3) * 2
    return y - x
}
fn bump(x: i64, by: i64 = 1) -> i64 {
    let more = x + by
    return if more > 4 { more } else { by - more }
}
struct Pair<*S: Shape> { low: Tensor[*S; i64] high: Tensor[*S; i64] }
fn split<*S: Shape>(x: Tensor[*S; i64], at: i64? = none) -> Pair<[*S]> {
    let cut = match at { some(v) => v  none => 0 }
    return Pair { low: min(x, cut), high: max(x, cut) }
}
"""


@dataclass(frozen=True)
class Tensor:
    """A name of the program, the extents as they are written, and the value."""

    name: str
    dims: tuple[str, ...]
    value: Array


@dataclass
class Program:
    """`text` defines `f`; `results` are what it gives for `args`."""

    sizes: dict[str, int]
    args: list[Tensor] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)

    @property
    def results(self) -> list[Array]:
        return [t.value for t in self.values]

    @property
    def text(self) -> str:
        types = [show(t.dims) for t in self.values]
        params = ", ".join(f"{t.name}: {show(t.dims)}" for t in self.args)
        body = "\n    ".join(self.lines)
        names = ", ".join(t.name for t in self.values)
        return f"""{HELPERS}
fn f<A: Dim, B: Dim>({params}, at: i64) -> ({", ".join(types)}) {{
    {body}
    return ({names})
}}
"""

    def add(self, dims: tuple[str, ...], value: Array, text: str, left: str = "") -> None:
        """A line that defines the next value as `text`; `left` are output indices."""
        name = f"v{len(self.lines)}"
        self.lines.append(f"let {name}{left} = {text}")
        self.values.append(Tensor(name, dims, np.asarray(value, np.int64)))


def show(dims: tuple[str, ...]) -> str:
    return f"Tensor[{', '.join(dims)}; i64]" if dims else "i64"


def extent(dim: str, sizes: dict[str, int]) -> int:
    return int(eval(dim, {}, sizes))


@st.composite
def programs(draw: Draw, steps: int = 6) -> Program:
    program = Program({"A": draw(st.integers(0, 3)), "B": draw(st.integers(0, 3))})  # type: ignore
    for k in range(3):
        dims = tuple(draw(st.lists(st.sampled_from(["A", "B", "2", "3"]), min_size=1, max_size=3)))  # type: ignore
        shape = [extent(d, program.sizes) for d in dims]
        seed: int = draw(st.integers(0, 2**16))  # type: ignore
        value = np.random.default_rng(seed).integers(-9, 10, shape)
        program.args.append(Tensor(f"x{k}", dims, value))
    for _ in range(draw(st.integers(1, steps))):  # type: ignore
        step = draw(st.sampled_from(STEPS))
        with np.errstate(all="ignore"):
            step(draw, program)  # type: ignore
    if len(program.values) < 2:
        program.add((), np.int64(0), "0")
        program.add((), np.int64(1), "at")
    return program


def pick(draw: Draw, program: Program, least: int = 1) -> Tensor | None:
    """A tensor with at least `least` axes and few elements."""
    known = [*program.args, *program.values]
    fits = [t for t in known if len(t.dims) >= least and t.value.size <= 200 and t.value.ndim < 5]
    return draw(st.sampled_from(fits)) if fits else None  # type: ignore


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "{} + {}": np.add, "{} - {}": np.subtract, "{} * {}": np.multiply, "min({}, {})": np.minimum,
    "max({}, {})": np.maximum, "{} & {}": np.bitwise_and, "{} ^ {}": np.bitwise_xor,
}  # fmt: skip


def binary(draw: Draw, program: Program) -> None:
    x = pick(draw, program)
    assert x is not None
    form: str = draw(st.sampled_from(sorted(BINARY)))  # type: ignore
    known = [*program.args, *program.values]
    # A suffix of the shape broadcasts; so does a literal.
    others = [t for t in known if t.dims == x.dims[len(x.dims) - len(t.dims) :]]
    y: Tensor = draw(st.sampled_from([*others, Tensor("5", (), np.int64(5))]))  # type: ignore
    sides = (x, y) if draw(st.booleans()) else (y, x)
    value = BINARY[form](sides[0].value, sides[1].value)
    program.add(x.dims, value, form.format(sides[0].name, sides[1].name))


def unary(draw: Draw, program: Program) -> None:
    x = pick(draw, program)
    assert x is not None
    v = x.value
    text, value = draw(
        st.sampled_from(
            [
                (f"-{x.name}", -v),
                (f"abs({x.name})", abs(v)),
                (f"select({x.name} > 0, {x.name}, 7)", np.where(v > 0, v, 7)),
                (f"cast<i64>(cast<i8>({x.name}))", v.astype(np.int8).astype(np.int64)),
                (f"twice({x.name})", np.where(v + 3 > 4, v + 3, -v) * 2 - v),
                (f"split({x.name}).high", np.maximum(v, 0)),
                (f"split({x.name}, some(at)).low", np.minimum(v, 1)),
                (f"if at == 1 {{ {x.name} }} else {{ {x.name} * 2 }}", v),
            ]
        )
    )  # type: ignore
    program.add(x.dims, value, text)


def shaping(draw: Draw, program: Program) -> None:
    x = pick(draw, program)
    assert x is not None
    name, dims, v = x.name, x.dims, x.value
    axis: int = draw(st.integers(0, len(dims) - 1))  # type: ignore
    order: list[int] = draw(st.permutations(range(len(dims))))  # type: ignore
    doubled = (*dims[:axis], f"({dims[axis]}) + ({dims[axis]})", *dims[axis + 1 :])
    wider = ("2", *dims)
    flat = " * ".join(f"({d})" for d in dims)
    choices = [
        (tuple(dims[a] for a in order), v.transpose(order), f"permute({name}, {order})"),
        (doubled, np.concatenate([v, v], axis), f"concat({name}, {name}, axis = {axis})"),
        (wider, np.broadcast_to(v, (2, *v.shape)), f"broadcast_to({name}, [{', '.join(wider)}])"),
        ((flat,), v.reshape(-1), f"reshape({name}, [{flat}])"),
        (dims, np.cumsum(v, axis), f"cumsum({name}, axis = {axis - len(dims)})"),
    ]
    program.add(*draw(st.sampled_from(choices)))  # type: ignore


def indexing(draw: Draw, program: Program) -> None:
    x = pick(draw, program)
    assert x is not None
    items: list[str] = []
    dims: list[str] = []
    value = x.value
    for dim in x.dims:
        kept = len(dims)
        whole = [(":", dim, lambda v: v)]
        some = [
            ("1", "", lambda v, k=kept: v.take(1, k)),
            ("at", "", lambda v, k=kept: v.take(1, k)),
            ("0:1", "1", lambda v, k=kept: v.take([0], k)),
            ("1:2", "1", lambda v, k=kept: v.take([1], k)),
            ("0:2:2", "1", lambda v, k=kept: v.take([0], k)),
        ]
        text, left, take = draw(st.sampled_from(whole + (some if dim in ("2", "3") else [])))  # type: ignore
        items.append(text)
        value = take(value)
        dims += [left] if left else []
    program.add(tuple(dims), value, f"{x.name}[{', '.join(items)}]")


def notation(draw: Draw, program: Program) -> None:
    """A reduction over some of the indices of two tensors, which share some."""
    x, y = pick(draw, program), pick(draw, program)
    assert x is not None and y is not None
    extents: dict[str, str] = {}
    accesses: list[list[str]] = []
    for t in (x, y):
        own: list[str] = []
        for dim in t.dims:
            same = [i for i, d in extents.items() if d == dim]
            index: str = draw(st.sampled_from([*same, f"i{len(extents)}"]))  # type: ignore
            extents.setdefault(index, dim)
            own.append(index)
        accesses.append(own)
    order: list[str] = draw(st.permutations(list(extents)))  # type: ignore
    count: int = draw(st.integers(0, min(3, len(order))))  # type: ignore
    outputs, bound = order[:count], order[count:]
    op: str = draw(st.sampled_from(["sum", "max", "min", "prod"]))  # type: ignore
    if op != "sum":
        # Without elements these are extremes, which then overflow: fine, but hard to read.
        bound = bound if all(extent(extents[i], program.sizes) for i in bound) else []
        outputs = [i for i in order if i not in bound]
    if len(order) > 5:
        return
    body = f"{x.name}[{', '.join(accesses[0])}] * {y.name}[{', '.join(accesses[1])}] - at"
    text = f"{op}[{', '.join(bound)}] {body}" if bound else body
    value = pointwise(
        program, extents, outputs, bound, op,
        lambda at: x.value[tuple(at[i] for i in accesses[0])]
        * y.value[tuple(at[i] for i in accesses[1])] - 1,
    )  # fmt: skip
    dims = tuple(extents[i] for i in outputs)
    program.add(dims, value, text, f"[{', '.join(outputs)}]" if outputs else "")


def pointwise(
    program: Program,
    extents: dict[str, str],
    outputs: list[str],
    bound: list[str],
    op: str,
    body: Callable[[dict[str, int]], np.int64],
) -> Array:
    fold = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod}[op]
    out_shape = [extent(extents[i], program.sizes) for i in outputs]
    in_shape = [extent(extents[i], program.sizes) for i in bound]
    result = np.zeros(out_shape, np.int64)
    for o in np.ndindex(*out_shape):
        at = dict(zip(outputs, o, strict=True))
        terms = [
            body(at | dict(zip(bound, b, strict=True))) for b in np.ndindex(*in_shape)
        ]  # fmt: skip
        result[o] = fold(np.array(terms, np.int64)) if bound else terms[0]
    return result


def gather(draw: Draw, program: Program) -> None:
    known = [*program.args, *program.values]
    tables = [t for t in known if t.dims and t.dims[0] in ("2", "3") and t.value.ndim <= 3]
    ids = pick(draw, program)
    if not tables or ids is None or ids.value.ndim > 2:
        return
    table: Tensor = draw(st.sampled_from(tables))  # type: ignore
    left = [f"i{k}" for k in range(len(ids.dims))]
    right = [f"j{k}" for k in range(len(table.dims) - 1)]
    row = f"{ids.name}[{', '.join(left)}] & 1"
    text = f"{table.name}[{', '.join([row, *right])}] + 1"
    value = table.value[ids.value & 1] + 1
    program.add((*ids.dims, *table.dims[1:]), value, text, f"[{', '.join([*left, *right])}]")


def looping(draw: Draw, program: Program) -> None:
    x = pick(draw, program)
    assert x is not None
    name = f"w{len(program.lines)}"
    if draw(st.booleans()):
        program.lines.append(f"var {name} = {x.name}")
        program.lines.append(f"static for t in 1..3 {{ {name} = {name} * t + {x.name} }}")
        value = (x.value * 1 + x.value) * 2 + x.value
    else:
        program.lines.append(f"var {name} = {x.name}\n    var n{name} = at")
        program.lines.append(
            f"while n{name} < 3 {{ {name} = {name} - n{name}\n        n{name} = n{name} + 1 }}"
        )
        value = x.value - 3
    program.add(x.dims, value, name)


STEPS = [binary, unary, shaping, indexing, notation, notation, gather, looping]
