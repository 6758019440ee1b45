"""Every kind of type and of control flow, each with a value that was got without the compiler."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.lower.lowering import everywhere, names, operations, source

F32 = np.float32
X = np.array([[1, -2, 3], [4, 5, -6]], F32)

ITEMS = """
const Rows = 2
enum Norm { L1, L2, Largest }
type Row<N: Dim, T: Float = f32> = Tensor[N; T]
type Table<N: Dim> = Tensor[Rows, N; f32]
struct Span<N: Dim, T: Numeric> { first: T  rest: Tensor[N; T] }
struct Layer<N: Dim> { norm: Norm  table: Table<N>  bias: Row<N>?  limits: (f32, f32) }

fn size<N: Dim>(x: Row<N>, norm: Norm) -> f32 {
    return match norm {
        L1 => sum[i] abs(x[i])
        L2 => sqrt(sum[i] x[i] * x[i])
        Largest => max[i] abs(x[i])
    }
}
fn split<N: Dim, T: Numeric>(x: Tensor[N; T]) -> Span<N - 1, T> where N > 0 {
    return Span { rest: x[1:N], first: x[0] }
}
fn run<N: Dim>(layer: Layer<N>, x: Row<N>) -> Row<Rows> {
    let y[r] = sum[i] layer.table[r, i] * (match layer.bias { some(b) => x[i] + b[i]
        none => x[i] })
    let (low, high) = layer.limits
    let z = y * (1.0 / size(x, layer.norm))
    return min(max(z, low), high)
}
"""


def norm(x: np.ndarray, name: str) -> np.ndarray:
    kinds = {"L1": abs(x).sum(), "L2": np.sqrt((x * x).sum()), "Largest": abs(x).max()}
    return kinds[name]


@pytest.mark.parametrize("name", ["L1", "L2", "Largest"])
@pytest.mark.parametrize("biased", [True, False])
def test_structs_enums_aliases_and_optionals(tmp_path: Path, name: str, biased: bool) -> None:
    bias = "some(x * 2.0)" if biased else "none"
    text = f"""{ITEMS}
fn f(t: Table<3>, x: Tensor[3; f32]) -> Row<2> {{
    let layer = Layer {{ limits: (-1.5, 1.25), table: t, norm: Norm.{name}, bias: {bias} }}
    return run(layer, x)
}}
fn g(t: Table<3>, x: Row<3>, norm: Norm) -> Row<2> {{
    let base = Layer {{ limits: (-1.5, 1.25), table: t, norm: norm, bias: none }}
    let layer = match norm {{
        L1 => Layer {{ limits: base.limits, table: base.table, norm: base.norm, bias: {bias} }}
        L2 => Layer {{ limits: base.limits, table: base.table, norm: base.norm, bias: {bias} }}
        Largest => Layer {{ limits: base.limits, table: base.table, norm: base.norm, bias: {bias} }}
    }}
    return run(layer, x)
}}
"""
    made, x = source(tmp_path, text), X[1] - 1
    wanted = np.clip(X @ (x * (3 if biased else 1)) / norm(x, name), -1.5, 1.25).astype(F32)
    module = made.function("f")
    assert "if" not in names(module)
    np.testing.assert_allclose(everywhere(module, [X, x])[0], wanted, rtol=1e-6)
    number = np.int64(["L1", "L2", "Largest"].index(name))
    module = made.function("g")
    assert "if" in names(module)
    np.testing.assert_allclose(everywhere(module, [X, x, number])[0], wanted, rtol=1e-6)


def test_a_generic_struct_of_any_dtype(tmp_path: Path) -> None:
    text = f"""{ITEMS}
fn f<N: Dim, T: Numeric>(x: Tensor[N + 2; T]) -> (T, T, Tensor[N; T]) {{
    let once = split(x)
    let again = split(once.rest)
    return (once.first, again.first, again.rest)
}}
"""
    made = source(tmp_path, text)
    for dtype in ("i8", "u32", "f64"):
        x = np.array([7, 5, 3, 2], {"i8": np.int8, "u32": np.uint32, "f64": np.float64}[dtype])
        for generics in ({"T": dtype}, {"T": dtype, "N": 2}):
            first, second, rest = everywhere(made.function("f", generics), [x])
            assert (first, second, rest.tolist()) == (7, 5, [3, 2])
            assert rest.dtype == x.dtype


BLOCKS = f"""{ITEMS}
block Scale<N: Dim> {{
    param weight: Row<N>
    param shift: Row<N>? = none
    buffer offset: Row<N>
    state calls: i64
    pub fn apply(x: Row<N>) -> Row<N> {{
        calls = calls + 1
        let y = x * weight + offset
        return match shift {{ some(s) => y + s * cast<f32>(calls)  none => y }}
    }}
}}
block Model<N: Dim, Depth: Dim> {{
    sub before: Scale<N>? = none
    sub layers: [Scale<N>; Depth]
    sub after: Scale<N>? = none
    pub entry f(x: Row<N>) -> (Row<N>, i64) {{
        var h = match before {{ some(b) => b.apply(x)  none => x }}
        var steps = 0
        static for layer in layers {{
            h = layer.apply(h)
            var k = 0
            while (max[i] abs(h[i])) > 10.0 && k < 3 {{
                h = h * 0.5
                k = k + 1
                steps = steps + 1
            }}
        }}
        static for i in 0..Depth {{ h = h + cast<f32>(i) }}
        static for i in 2..2 {{ h = h * cast<f32>(i) }}
        let y = match after {{ some(a) => a.apply(a.apply(h))  none => -h }}
        return (y, steps)
    }}
}}
"""


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize("bound", [True, False])
def test_optional_subs_loops_and_states(
    tmp_path: Path, before: bool, after: bool, shifted: bool, bound: bool
) -> None:
    paths = ["before", "layers.0", "layers.1", "after"]
    absent = [p for p, there in (("before", before), ("after", after)) if not there]
    absent += [f"{p}.shift" for p in (*paths, "before", "after") if not shifted]
    made = source(tmp_path, BLOCKS)
    module = made.entry("Model", "f", {"N": 3, "Depth": 2} if bound else {"N": 3}, absent)
    weights = {f"{p}.weight": np.full(3, k + 1, F32) for k, p in enumerate(paths)}
    weights |= {f"{p}.shift": np.array([k, -k, 1], F32) for k, p in enumerate(paths)}
    weights |= {f"{p}.offset": np.array([0, 1, -k], F32) for k, p in enumerate(paths)}
    calls = dict.fromkeys(paths, 0)

    def apply(p: str, x: np.ndarray) -> np.ndarray:
        calls[p] += 1
        y = x * weights[f"{p}.weight"] + weights[f"{p}.offset"]
        return y + weights[f"{p}.shift"] * calls[p] if shifted else y

    x = X[0]
    h, steps = (apply("before", x) if before else x), 0
    for layer in paths[1:3]:
        h = apply(layer, h)
        for _ in range(3):
            if abs(h).max() > 10:
                h, steps = h * 0.5, steps + 1
    h = h + 1
    y = apply("after", apply("after", h)) if after else -h
    state = {f"{p}.calls": np.int64(0) for p in paths}
    named = {} if bound else {"symbols": {module.symbols[0]: 2}}
    found, count = everywhere(module, [x], weights=weights, state=state, **named)
    np.testing.assert_allclose(found, y.astype(F32), rtol=1e-6)
    assert int(count) == steps


def test_a_match_is_decided_before_a_run_where_its_subject_is_known(tmp_path: Path) -> None:
    made = source(tmp_path, BLOCKS)
    for absent in ([], ["before", "after"]):
        module = made.entry("Model", "f", {"N": 3, "Depth": 2}, absent)
        assert "if" not in names(module)
        calls = [op.attrs["at"] for op in operations(module) if op.name == "call"]
        assert (("before",) in calls) is (("after",) in calls) is not bool(absent)
