"""What was taken out, or put in another order, is one finding; and nothing hides another mistake.

`marked.py` says how a program marks its findings.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check.marked import are_marked

# By what is no longer declared, or what is wrong besides.
PROGRAMS = {
    "a function": """
fn f(x: f32) -> f32 { return half(x) }  #E1201
fn g(x: f32) -> f32 { return half(x) + 1.0 }  #+1
""",
    "a const, in two functions and a block": """
fn f(x: f32) -> f32 { return x * LIMIT }  #E1201
fn g(x: f32) -> f32 { return x + LIMIT }  #+1
block B {
    pub fn h() -> f32 { return LIMIT }  #+1
}
""",
    "a local that other functions have": """
fn f() -> f32 {
    return x  #E1201
}
fn g() -> f32 {
    let x = 1.0
    return x  #E2103
}
fn h() -> f32 {
    return x  #E1201
}
""",
    "a member that is read, assigned and called": """
block Inner { pub fn one() -> f32 { return 1.0 } }
block B {
    pub fn f(x: f32) -> f32 {
        cache = x  #E1201
        return cache  #+1
    }
    pub fn g() -> f32 { return cache + inner.one() }  #+1 E1201
    pub fn h() -> f32 { return inner.one() }  #+2
}
""",
    "a generic of a block": """
block Inner<N: Dim> {
    param w: Tensor[N, M; f32]  #E1201
    pub fn f() -> Tensor[N, M; f32] { return w }  #+1
    pub fn g() -> f32 { return cast<f32>(M) }  #+1
}
block Other<M: Dim> { param w: Tensor[M; f32] }
block B {
    sub inner: Inner<3, 4>  #~1
    sub more: Inner<5, 6>  #~1
}
""",
    "a generic of a function": """
fn twice<N: Dim>(x: Tensor[N; T]) -> Tensor[N; T] { return x + x }  #E1201 +1
fn f(x: Tensor[3; f32]) -> Tensor[3; f32] {
    return twice<3, f32>(x)  #~1
}
fn g<T: Float>(x: Tensor[3; T]) -> Tensor[3; T] { return x }
""",
    "the only generic of a function": """
fn twice(x: Tensor[N; f32]) -> Tensor[N; f32] { return x + x }  #E1201 +1
fn f(x: Tensor[3; f32]) -> Tensor[3; f32] {
    return twice<3>(x)  #~1
}
""",
    "the only parameter of a function": """
fn half() -> f32 { return x / 2.0 }  #E1201
fn f(x: f32) -> f32 {
    return half(x)  #~1
}
fn g(x: f32) -> f32 {
    return half(x)  #~1
}
""",
    "a parameter that calls name": """
fn scaled(x: f32) -> f32 { return x / by }  #E1201
fn f(x: f32) -> f32 {
    return scaled(x, by = 2.0)  #~1
}
fn g(x: f32) -> f32 {
    return scaled(x, by = x)  #~1
}
""",
    "a parameter that a body does not name": """
fn one() -> f32 { return 1.0 }
fn f(x: f32) -> f32 {
    return one(x)  #E2102
}
fn g(x: f32) -> f32 {
    return one(x)  #+1
}
""",
    "nothing: some call gives as many arguments": """
fn half(x: f32) -> f32 { return y / 2.0 }  #E1201
fn f(x: f32) -> f32 { return half(x) }
fn g(x: f32) -> f32 {
    return half(x, x)  #E2102
}
""",
    "a field": """
struct Pair { first: f32 }
fn made(x: f32) -> Pair { return Pair { first: x, second: x } }  #E2107
fn read(p: Pair) -> f32 { return p.first + p.second }  #+1
""",
    "a variant": """
enum Pooling { Mean }
fn f(p: Pooling) -> f32 {
    return match p { Mean => 1.0 Last => 2.0 }  #E2107
}
fn g() -> f32 {
    return f(Pooling.Last)  #+1
}
""",
    "a method that a block calls itself": """
block Inner { pub fn f() -> f32 { return one() } }  #E1201
block B {
    sub inner: Inner
    pub fn g() -> f32 { return inner.one() }  #+1
}
""",
    "an index that was a parameter": """
fn f(x: Tensor[3; f32]) -> f32 {
    let y[i] = x[i] + x[at]  #E3101
    return y[0] + x[at]  #+1
}
""",
    "nothing: a sub whose where does not hold, and two more mistakes": """
block Even<N: Dim> where N % 2 == 0 {
    pub fn f<M: Dim>(x: Tensor[N, M; f32]) -> Tensor[N, M; f32] { return x }
}
block B {
    sub even: Even<7>  #E2206
    pub fn f(x: Tensor[6, 2; f32]) -> Tensor[6, 2; f32] {
        return even.f(x)  #~1
    }
    pub fn g(x: Tensor[7, 2; f64]) -> Tensor[7, 2; f32] {
        return even.f(x)  #E2103
    }
    pub fn h(x: Tensor[7, 2; f32]) -> Tensor[7, 2; f32] {
        return even.ff(x)  #E2107
    }
    pub fn i(x: Tensor[7, 2; f32]) -> Tensor[7, 2; f32] {
        return even.f(x, x)  #E2102
    }
}
""",
    "nothing: an index with two extents, and two dtypes": """
fn f<N: Dim, M: Dim>(x: Tensor[N; f32], y: Tensor[M; f32], z: Tensor[N; i32]) -> f32 {
    let a[i] =
        x[i] + y[i]  #E2201
        + z[i]  #E2103
    return sum<f64>[i] x[i]  #E2103
}
""",
    "nothing: names in the arms of what is no optional": """
fn f(x: f32) -> f32 {
    return match x {  #E2117
        some(v) => v + gone  #E1201
        none => lost  #E1201
    }
}
fn g(x: f32?) -> f32 {
    return match x { some(v) => v + away }  #E2118 E1201
}
""",
    "nothing: names in the fields of a struct": """
struct Pair { first: f32 second: f32 }
fn f(x: f32) -> f32 {
    let p = Pear { first: gone }  #E1201 E1201
    let q = Pair { first: x, third: lost }  #E2107 E1201
    let r = Pair { second: away }  #E2102 E1201
    return x
}
""",
    "nothing: names in the positions of a scalar": """
fn f(x: f32) -> f32 {
    let y = x[gone]  #E2104 E1201
    return x
}
fn g(x: f32, w: Tensor[3; f32]) -> Tensor[3; f32] {
    let y[i] = w[i] + x[lost]  #E2104 E3101
    return y
}
fn h(w: Tensor[3; f32]) -> f32 {
    let y = w[0, away]  #E2204 E1201
    return w[0]
}
""",
    "nothing: names in calls of the prelude that are wrong anyway": """
fn f(x: f32) -> f32 {
    return exp(x, gone)  #E2102 E1201
}
""",
    "generics that are declared in another order than most uses have": """
fn rows<D: Dim, S: Dim>() -> Tensor[S, D; f32] where D > S { return fill([S, D], 1.0) }
fn f() -> Tensor[8, 3; f32] {
    let x = rows<3, 8>()  #E2206
    return rows<3, 8>()  #+1
}
fn g() -> Tensor[9, 5; f32] {
    let z = rows<8, 3>()
    return rows<5, 9>()  #+1
}
""",
    "generics in another order than most uses have": """
fn rows<D: Dim, S: Dim>() -> Tensor[S, D; f32] where D > S { return fill([S, D], 1.0) }
fn f() -> Tensor[3, 8; f32] {
    let x = rows<3, 8>()  #E2206
    return rows<8, 3>()
}
fn g() -> Tensor[5, 9; f32] {
    let y = rows<5, 9>()  #E2206
    return rows<9, 5>()
}
""",
    "a where of a sub, and what is called in a loop": """
block Even<N: Dim> where N % 2 == 0 {
    pub fn f(x: Tensor[N; f32]) -> Tensor[N; f32] { return x }
}
block B {
    sub evens: [Even<7>; 2]  #E2206
    pub fn f(x: Tensor[6; f32]) -> Tensor[6; f32] {
        var y = x
        static for even in evens {
            y = even.f(y)  #~1
        }
        return y
    }
}
""",
    "a condition of another type": """
fn f(c: i32, d: Tensor[2; bool], x: f32) -> f32 {
    let a = if c { x } else { 1.0 }  #E2114
    let b = if c { x } else { 2.0 }  #+1
    let e = if c && true { x } else { 2.0 }  #+1
    let g = if d { x } else { 1.0 }  #E2114
    let h = if d { x } else { 2.0 }  #+2
    return x
}
fn g(c: bool?, x: f32) -> f32 {
    let a = if c { x } else { 1.0 }  #E2114
    let b = if c { x } else { 2.0 }  #+3
    return x
}
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_findings_are_those_that_are_marked(name: str, tmp_path: Path) -> None:
    are_marked(f"module m\n{PROGRAMS[name]}", tmp_path)
