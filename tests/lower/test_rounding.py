"""Where index notation rounds: the bits of sums, against an evaluation of the source.

Every number is an integer that `f32` holds exactly, so that only the roundings to 16 bits
are seen, and the order of a sum plays no part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from linnet.backends.numpy.dtypes import NUMPY
from linnet.dtypes import BY_NAME, DType
from tests.ir.oracle import rounded
from tests.lower.lowering import operations, source

LIMIT = 31
EXTENT = 3
NARROW = (DType.F16, DType.BF16)


@dataclass(frozen=True)
class Node:
    """An expression: an element, or a step on `parts`."""

    text: str
    parts: tuple[Node, ...] = ()

    def source(self) -> str:
        return self.text.format(*(f"({p.source()})" for p in self.parts))

    def reads(self, index: str) -> bool:
        return f"{index}]" in self.text or any(p.reads(index) for p in self.parts)


PRODUCT, CALL, SUM = "{} * {}", "times({}, {})", "sum[j] {}"
STEPS = {
    PRODUCT: lambda a, b: a * b,
    CALL: lambda a, b: a * b,
    "{} + {}": lambda a, b: a + b,
    "{} - {}": lambda a, b: a - b,
    "-{}": lambda a: -a,
    "cast<T>(cast<f32>({}) * cast<f32>({}))": lambda a, b: a * b,
    "if s > 0.0 {{ {} }} else {{ {} }}": None,
}
OUTER = [Node(t) for t in ("x[i, k]", "y[k]", "z[i]", "s", "3.0")]
INNER = [*OUTER, Node("x[i, j]"), Node("y[j]")]


def nodes(leaves: list[Node], depth: int) -> st.SearchStrategy[Node]:
    if depth == 0:
        return st.sampled_from(leaves)
    part = st.one_of(st.sampled_from(leaves), nodes(leaves, depth - 1))
    steps = st.sampled_from(list(STEPS)).flatmap(
        lambda s: st.tuples(*[part] * s.count("{}")).map(lambda parts: Node(s, parts))
    )
    if leaves is INNER:
        return steps
    inner = nodes(INNER, 1).filter(lambda n: n.reads("j"))
    return st.one_of(steps, steps, inner.map(lambda n: Node(SUM, (n,))))


def bound(node: Node) -> float:
    """More than any value of the node, or of a sum of any of its parts, is."""
    if not node.parts:
        return LIMIT
    parts = [bound(p) for p in node.parts]
    whole = sum(parts) if node.text in ("{} + {}", "{} - {}") else float(np.prod(parts))
    return whole * 1.01 * (EXTENT**2 if node.text == SUM else 1)


@dataclass(frozen=True)
class Meaning:
    """What a node is at a point, by the rules of docs/language.md."""

    dtype: DType
    values: Mapping[str, np.ndarray]

    def value(self, node: Node, at: Mapping[str, int]) -> float:
        if node.text == SUM:
            return self.sum(node.parts[0], "j", at)
        if node.parts:
            parts = [self.value(p, at) for p in node.parts]
            step = STEPS[node.text]
            if step is None:
                return parts[0] if self.values["s"] > 0 else parts[1]
            return float(rounded(step(*parts), self.dtype))
        name, _, indices = node.text.rstrip("]").partition("[")
        if name not in self.values:
            return float(name)
        places = tuple(at[i] for i in indices.split(", ")) if indices else ()
        return float(self.values[name][places])

    def sum(self, body: Node, index: str, at: Mapping[str, int]) -> float:
        """The factors as they are written, kept wide; rounded at the end."""
        points = [{**at, index: n} for n in range(EXTENT)]
        return float(rounded(sum(self.product(body, p) for p in points), self.dtype))

    def product(self, node: Node, at: Mapping[str, int]) -> float:
        if node.text == PRODUCT:
            return self.product(node.parts[0], at) * self.product(node.parts[1], at)
        return self.value(node, at)


def program(body: str, t: str) -> str:
    return f"""
fn times(a: {t}, b: {t}) -> {t} {{
    let p = a * b
    return p
}}
fn f(x: Tensor[3, 3; {t}], y: Tensor[3; {t}], z: Tensor[3; {t}], s: {t}) -> Tensor[3; {t}] {{
    let r[i] = sum[k] {body.replace("<T>", f"<{t}>")}
    return r
}}
"""


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    body=nodes(OUTER, 2).filter(lambda n: n.reads("k") and n.reads("i")),
    dtype=st.sampled_from(["bf16", "bf16", "f16", "f32", "f64"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_sums_round_where_the_source_says(
    body: Node, dtype: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assume(bound(Node(SUM, (body,))) < 2**24)
    random, kind = np.random.default_rng(seed), BY_NAME[dtype]
    shapes = {"x": (3, 3), "y": (3,), "z": (3,), "s": ()}
    values = {
        name: np.asarray(random.integers(-LIMIT, LIMIT + 1, shape)).astype(NUMPY[kind])
        for name, shape in shapes.items()
    }
    made = source(tmp_path_factory.mktemp("round"), program(body.source(), dtype))
    (found,) = made.call("f", *values.values())
    meaning = Meaning(kind, values)
    wanted = [meaning.sum(body, "k", {"i": i}) for i in range(3)]
    np.testing.assert_array_equal(found.astype(np.float64), wanted)


# 1.0078125 squared is 1.01568603515625, and 1.015625 in bf16.
APART, ROUNDED = 1.01568603515625 - 1.015625, 0.0
PLACES = [
    ("x[k] * y[k]", APART),
    ("(x[k] * y[k])", APART),
    ("(1.0 * (x[k] * y[k]))", APART),
    ("one * x[k] * y[k]", APART),
    ("-x[k] * y[k]", -APART),
    ("times(x[k], y[k])", ROUNDED),
    ("times(x[k], y[k]) * one", ROUNDED),
    ("-(x[k] * y[k])", ROUNDED),
    ("x[k] * y[k] + 0.0", ROUNDED),
    ("x[k] * y[k] / one", ROUNDED),
    ("if one > 0.0 { x[k] * y[k] } else { one }", ROUNDED),
    ("max(x[k] * y[k], x[k] * y[k])", ROUNDED),
    ("cast<bf16>(cast<f32>(x[k]) * cast<f32>(y[k]))", ROUNDED),
    ("(sum[j] x[j] * y[k]) * 0.0 + x[k] * y[k]", ROUNDED),
]


@pytest.mark.parametrize(("body", "wanted"), PLACES)
def test_only_a_product_directly_under_a_sum_is_not_rounded(
    tmp_path: Path, body: str, wanted: float
) -> None:
    text = f"""
fn times(a: bf16, b: bf16) -> bf16 {{ return a * b }}
fn f(x: Tensor[2; bf16], y: Tensor[2; bf16], one: bf16) -> bf16 {{ return sum[k] {body} }}
fn first(x: Tensor[2; bf16], y: Tensor[2; bf16], one: bf16) -> bf16 {{
    let p[k] = {body}
    return sum[k] p[k]
}}
"""
    made, dtype = source(tmp_path, text), NUMPY[DType.BF16]
    args = np.array([1.0078125, 1], dtype), np.array([1.0078125, -1.015625], dtype), dtype.type(1)
    assert made.call("f", *args)[0] == wanted
    assert made.call("first", *args)[0] == ROUNDED


def test_a_sum_over_no_axes_keeps_its_product_as_over_one(tmp_path: Path) -> None:
    text = """
fn f<*S: Shape>(a: Tensor[*S; bf16], b: Tensor[*S; bf16], c: Tensor[*S; bf16]) -> bf16 {
    return sum[*s] a[*s] * b[*s] * c[*s]
}
"""
    made, dtype = source(tmp_path, text), NUMPY[DType.BF16]
    args = [dtype.type(v) for v in (1.171875, 1.859375, 1.5390625)]
    # 3.3535...; with the first product rounded it is 3.34375.
    assert made.call("f", *args, S=())[0] == 3.359375
    assert made.call("f", *(np.array([a]) for a in args), S=(1,))[0] == 3.359375


@pytest.mark.parametrize(("dtype", "kept"), [("bf16", "f32"), ("f16", "f32"), ("f64", "f64")])
def test_a_running_sum_is_kept_as_a_sum_is(tmp_path: Path, dtype: str, kept: str) -> None:
    text = f"fn f(a: Tensor[3; {dtype}]) -> Tensor[3; {dtype}] {{ return cumsum(a, axis = 0) }}"
    (op,) = operations(source(tmp_path, text).function("f"))
    assert str(op.attrs["accumulator"]) == kept
