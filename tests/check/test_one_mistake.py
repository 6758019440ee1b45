"""One wrong type is one finding however many places it is used at, and two are two.

`marked.py` says how a program marks its findings. No mistake goes untold.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check.marked import are_marked

TWO = """
fn two<N: Dim, M: Dim>(x: Tensor[N, M; f32]) -> Tensor[N, M; f32] { return x }
fn same<N: Dim, M: Dim, T: Float>(x: Tensor[N, M; T], y: Tensor[M; T]) -> Tensor[M; T] { return y }
"""

# By what they show: a program that has the functions above.
PROGRAMS = {
    "a member of another rank": """
block B<N: Dim, M: Dim> {
    param w: Tensor[M; f32]
    pub fn f() -> Tensor[N, M; f32] {
        return two(w)  #E2202
    }
    pub fn g() -> Tensor[N, M; f32] {
        let y[n, m] = w[n, m]  #+1
        return y
    }
    pub fn h() -> Tensor[M; f32] {
        return w[0, :]  #+1
    }
    pub fn i() -> Tensor[M, N; f32] {
        return permute(w, [1, 0])  #+1
    }
    pub fn j() -> Tensor[N * M; f32] {
        return reshape(w, [N * M])  #+1
    }
}
""",
    "a scalar that was to be a tensor": """
fn f(i: i32, w: Tensor[4, 4; f32]) -> Tensor[4; f32] {
    let a[j] = w[i[j], j]  #E2104
    let b = concat(i, iota<i32>(2), axis = 0)  #+1
    return a + w[i[1], :]  #+1
}
""",
    "a tensor that was to be a scalar": """
fn f(i: Tensor[1; i64], w: Tensor[4, 4; f32]) -> Tensor[4; f32] {
    let chosen[j] = select(i > 2 && true, w[0, j], w[1, j])  #E2116
    let a[j] = w[i, j]  #+1
    return chosen + a + w[i, :]  #+1
}
""",
    "two of another rank": """
fn f(x: Tensor[4; f32], y: Tensor[4; f32], z: Tensor[4, 4; f32]) -> Tensor[4, 4; f32] {
    let a = two(x)  #E2202
    let b = two(y)  #E2202
    return two(z)
}
""",
    "of another rank, which tells no generics": """
fn f(x: Tensor[4; f32], y: Tensor[4; f32]) -> Tensor[4; f32] {
    return same(x, y)  #E2202
}
""",
    "elements that are not as many are no reason to fold": """
fn f(x: Tensor[4; f32]) -> Tensor[3; f32] {
    let y = reshape(x, [5])  #E2203
    return reshape(x, [3])  #E2203
}
""",
    "a dtype that a call infers": """
block B<N: Dim, M: Dim, T: Float> {
    state cache: Tensor[N, M; f64]
    pub fn f(x: Tensor[M; T]) -> Tensor[M; T] {
        return same(cache, x)  #E2103
    }
    pub fn g(x: Tensor[N, M; T]) -> Tensor[N, M; T] {
        return x + cache  #+1
    }
}
""",
    "a dtype that two arguments contradict": """
fn f(x: Tensor[4, 4; f32], y: Tensor[4; f64], z: Tensor[4; f64]) -> Tensor[4; f32] {
    let a = same(x, y)  #E2103
    return same(x, z)  #+1
}
""",
    "a dtype of no use": """
fn f(x: Tensor[4; i8]) -> Tensor[4; i8] {
    let a = exp(x)  #E2104
    let b = log(x)  #+1
    return same(fill([4, 4], 0), x)  #+1
}
fn g(x: Tensor[4; i8], y: Tensor[4; i8]) -> Tensor[4; i8] {
    let a = exp(x)  #E2104
    let b = exp(y)  #E2104
    return x
}
""",
    "a literal beside what has the wrong dtype": """
fn f<T: Float>(x: Tensor[3; i8], y: Tensor[3, 3; T]) -> Tensor[3; i8] {
    let a = x * y  #E2103
    return x + 0.5  #+1
}
fn g(x: Tensor[3; i8]) -> Tensor[3; i8] {
    return x + 0.5  #E2105
}
""",
    "a constant of another dtype": """
const LIMIT: f64 = 7.0
fn f(x: Tensor[4; f32]) -> Tensor[4; f32] {
    return x * LIMIT  #E2103
}
fn g(x: Tensor[4; f32]) -> Tensor[4; f32] {
    return x + LIMIT  #+1
}
""",
    "a parameter that nothing fits": """
fn rows<N: Dim>(x: Tensor[N, 1, 4; f32]) -> Tensor[N; f32] { return x[:, 0, 0] }
fn f(x: Tensor[5, 4; f32]) -> Tensor[5; f32] {
    return rows(x)  #E2202
}
fn g(x: Tensor[6, 4; f32]) -> Tensor[6; f32] {
    return rows(x)  #+1
}
""",
    "a parameter that something fits": """
fn rows<N: Dim>(x: Tensor[N, 1, 4; f32]) -> Tensor[N; f32] { return x[:, 0, 0] }
fn f(x: Tensor[5, 4; f32]) -> Tensor[5; f32] {
    return rows(x)  #E2202
}
fn g(x: Tensor[6, 4; f32]) -> Tensor[6; f32] {
    return rows(x)  #E2202
}
fn h(x: Tensor[6, 1, 4; f32]) -> Tensor[6; f32] {
    return rows(x)
}
""",
    "a parameter with an axis that nothing fits": """
fn last<N: Dim, M: Dim>(x: Tensor[N, M, 4; f32]) -> Tensor[N, M; f32] { return x[:, :, 0] }
fn f(x: Tensor[5, 1, 2; f32]) -> Tensor[5, 1; f32] {
    return last(x)  #E2202
}
fn g(x: Tensor[6, 1, 3; f32]) -> Tensor[6, 1; f32] {
    return last(x)  #+1
}
""",
    "what does not fit comes before the where that follows from it": """
fn step<P: Dim>(x: Tensor[1, P + 3; f32], y: Tensor[P; f32]) -> f32 where P > 0 { return y[0] }
fn f<N: Dim>(x: Tensor[1, N; f32], y: Tensor[N; f32]) -> f32 where N > 3 {
    return step(x, y)  #E2202
}
""",
    "an index beyond what was refused": """
fn column<N: Dim>(x: Tensor[N, 1; f32]) -> Tensor[N; f32] { return x[:, 0] }
fn f<N: Dim>(x: Tensor[1, N; f32]) -> f32 {
    let y = column(x)  #E2202
    return x[0, 0]  #+1
}
""",
    "what is n times too large has no reason in common": """
fn f<N: Dim, M: Dim>(x: Tensor[2 * N, M; f32]) -> Tensor[N, M; f32] {
    let y: Tensor[2 * N, 2 * M; f32] = x  #E2202
    return x  #E2202
}
""",
    "two parameters that nothing fits, and one argument for both": """
fn one<N: Dim>(x: Tensor[N, 1, 4; f32]) -> Tensor[N; f32] { return x[:, 0, 0] }
fn other<N: Dim>(x: Tensor[N, 1, 4; f32]) -> Tensor[N; f32] { return x[:, 0, 0] }
fn f(a: Tensor[5, 4; f32]) -> Tensor[5; f32] {
    return one(a)  #E2202
}
fn g(b: Tensor[6, 4; f32]) -> Tensor[6; f32] {
    let u = one(b)  #+1
    return other(b)  #+1
}
""",
    "a generic that makes the type impossible": """
struct S<Z: Dim, N: Dim, M: Dim> where Z > 0 { x: Tensor[N / Z, N, M; f32] }
fn quotient<Z: Dim, N: Dim, M: Dim>(x: Tensor[N / Z, N, M; f32]) -> f32 where Z > 0 { return 1.0 }
fn less<N: Dim, M: Dim>(x: Tensor[N - 5, M; f32]) -> f32 where N >= 5 { return 1.0 }
fn f(x: Tensor[3; f32]) -> f32 {
    return quotient<0>(x)  #E2110
}
fn g(x: Tensor[3; f32]) -> f32 {
    return less<3>(x)  #E2110
}
fn h(x: Tensor[3; f32]) -> f32 {
    let s = S<0> { x: x }  #E2110
    return 1.0
}
""",
    "a body that takes the axes the other way round, and a wrong argument": """
fn turned<N: Dim, M: Dim>(x: Tensor[N, M; f32], y: Tensor[M; f32]) -> f32 {
    let z: Tensor[M, N; f32] = x  #E2202
    return 1.0
}
fn f(x: Tensor[3, 4; f32], y: Tensor[7; f32]) -> f32 {
    return turned(x, y)  #E2202
}
""",
    "axes declared the other way round": """
fn turned<N: Dim, M: Dim>(x: Tensor[N, M; f32], y: Tensor[M; f32]) -> f32 {
    let z: Tensor[M, N; f32] = x  #E2202
    return 1.0
}
fn f(x: Tensor[3, 4; f32], y: Tensor[3; f32]) -> f32 {
    return turned(x, y)
}
""",
    "of another rank inside an optional and a tuple": """
fn maybe<N: Dim>(x: Tensor[N, 2; f32]?) -> f32 { return 1.0 }
fn pair<N: Dim, M: Dim>(x: (Tensor[N, M; f32], f32)) -> f32 { return 1.0 }
fn f(x: Tensor[3; f32]) -> f32 {
    return maybe(some(x))  #E2202
}
fn g(x: Tensor[3; f32]) -> f32 {
    return pair((x, 1.0))  #E2202
}
""",
    "a where that has nothing to do with what does not fit": """
fn least<N: Dim, M: Dim = 4>(x: Tensor[N; f32], y: Tensor[3; f32]) -> f32 where M > 4 { return 1.0 }
fn f(x: Tensor[3; f32], y: Tensor[7; f32]) -> f32 {
    return least(  #E2206
        x,
        y,  #E2202
    )
}
""",
    "what a member's where may explain": """
fn even<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32] where N % 2 == 0 { return x }
block B {
    param w: Tensor[5; f32]
    pub fn f() -> Tensor[5; f32] {
        return even(w)  #E2206
    }
    pub fn g(x: Tensor[6; f32]) -> Tensor[6; f32] {
        return x + w  #~1
    }
}
""",
    "what a parameter in doubt may explain": """
fn pick(x: Tensor[3; f32], y: Tensor[3; f32]) -> f32 {
    return x[5] + y[0]  #E2209
}
fn f(x: Tensor[3; f32], y: Tensor[3, 3; f32]) -> f32 {
    return pick(x, y)  #~1
}
""",
    "a where that what is wrong in the body may explain": """
fn long<N: Dim>(x: Tensor[N; f32], y: Tensor[4; f32]) -> Tensor[N; f32] where N > 8 {
    let z = x + y  #E2207
    return x
}
fn g(x: Tensor[3; f32], y: Tensor[4; f32]) -> Tensor[3; f32] {
    return long(x, y)  #~1
}
""",
    "the dtype of an argument, behind one of another extent": """
fn three<N: Dim>(a: Tensor[N; f32], b: Tensor[N; f32], c: Tensor[N; i32]) -> f32 { return 1.0 }
fn f(x: Tensor[5; f32], y: Tensor[4; f32], z: Tensor[5; f32]) -> f32 {
    return three(
        x,
        y,  #E2202
        z,  #E2103
    )
}
""",
    "names in the arguments of a call that is wrong anyway": """
fn half(x: f32) -> f32 { return x / 2.0 }
fn f() -> f32 {
    return half(
        z = missing,  #E2102 E1201
    )
}
fn g() -> f32 {
    return half<3>(gone)  #E2111 E1201
}
fn h() -> f32 {
    return half(
        1.0,
        lost,  #E2102 E1201
    )
}
""",
    "the first of three arguments, where the others agree": """
fn all<N: Dim>(x: Tensor[N; f32], y: Tensor[N; f32], z: Tensor[N; f32]) -> f32 where N > 4 {
    return x[0]
}
fn f(x: Tensor[3; f32], y: Tensor[5; f32]) -> f32 {
    return all(
        x,  #E2202
        y,
        y,
    )
}
fn g(x: Tensor[3; f32], y: Tensor[5; f32], z: Tensor[6; f32]) -> f32 {
    return all(
        x,
        y,  #E2202
        z,
    )
}
fn h(x: Tensor[5; f32]) -> f32 { return all(x, x, x) }
""",
    "generics that are declared in another order": """
fn kinds<T: Float, N: Dim>(x: Tensor[N; T]) -> Tensor[N; T] { return x }
fn f(x: Tensor[3; f32]) -> Tensor[3; f32] {
    return kinds<3, f32>(x)  #E2111
}
fn g(x: Tensor[4; f32]) -> Tensor[4; f32] {
    return kinds<4, f32>(x)  #+1
}
""",
    "generic arguments in another order": """
fn kinds<T: Float, N: Dim>(x: Tensor[N; T]) -> Tensor[N; T] { return x }
fn f(x: Tensor[3; f32]) -> Tensor[3; f32] {
    return kinds<3, f32>(x)  #E2111
}
fn g(x: Tensor[4; f32]) -> Tensor[4; f32] {
    return kinds<4, f32>(x)  #E2111
}
fn h(x: Tensor[4; f32]) -> Tensor[4; f32] { return kinds<f32, 4>(x) }
fn i(x: Tensor[4; f32]) -> Tensor[4; f32] { return kinds<f32, 4>(x) }
""",
    "generics in another order that the result alone tells": """
fn heads<D: Dim, N: Dim>(x: Tensor[N * D; f32]) -> Tensor[N, D; f32] { return reshape(x, [N, D]) }
fn f(x: Tensor[6; f32]) -> Tensor[2, 3; f32] {
    return heads<2, 3>(x)  #E2202
}
fn g(x: Tensor[20; f32]) -> Tensor[4, 5; f32] {
    return heads<4, 5>(x)  #+1
}
""",
    "generic arguments in another order that the result alone tells": """
fn heads<N: Dim, D: Dim>(x: Tensor[N * D; f32]) -> Tensor[N, D; f32] { return reshape(x, [N, D]) }
fn f(x: Tensor[6; f32]) -> Tensor[2, 3; f32] {
    return heads<3, 2>(x)  #E2202
}
fn g(x: Tensor[20; f32]) -> Tensor[4, 5; f32] {
    return heads<5, 4>(x)  #E2202
}
fn h(x: Tensor[6; f32]) -> Tensor[2, 3; f32] { return heads<2, 3>(x) }
fn i(x: Tensor[6; f32]) -> Tensor[2, 3; f32] { return heads<2, 3>(x) }
""",
    "results of the wrong shape in any order": """
fn heads<N: Dim, D: Dim>(x: Tensor[N * D; f32]) -> Tensor[N, D; f32] { return reshape(x, [N, D]) }
fn f(x: Tensor[6; f32]) -> Tensor[2, 4; f32] {
    return heads<2, 3>(x)  #E2202
}
fn g(x: Tensor[20; f32]) -> Tensor[4, 6; f32] {
    return heads<4, 5>(x)  #E2202
}
""",
    "a generic that is declared no more": """
fn kinds<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32] { return x }
fn f(x: Tensor[3; f32]) -> Tensor[3; f32] {
    return kinds<3, f32>(x)  #E2111
}
fn g(x: Tensor[4; f32]) -> Tensor[4; f32] {
    return kinds<4, f32>(x)  #+1
}
""",
    "a parameter that is declared no more": """
fn one(x: f32) -> f32 { return x }
fn f() -> f32 {
    return one(1.0, 2.0)  #E2102
}
fn g() -> f32 {
    return one(3.0, 4.0)  #+1
}
""",
    "a state that is declared as a parameter": """
block B {
    param count: i32
    pub fn f(x: i32) -> i32 {
        count = x  #E2108
        return x
    }
    pub fn g(x: i32) -> i32 {
        count = x + 1  #+1
        return x
    }
}
""",
    "a parameter whose dtype alone was looked at": """
fn three<N: Dim>(a: Tensor[N; f32], b: Tensor[N; f32], c: Tensor[N, 1; f32]) -> f32 { return 1.0 }
fn f(x: Tensor[5; f32], y: Tensor[4; f32]) -> f32 {
    return three(x, y, x)  #E2202
}
fn g(x: Tensor[5; f32]) -> f32 {
    return three(x, x, x)  #E2202
}
fn h(x: Tensor[6; f32]) -> f32 {
    return three(x, x, x)  #+2
}
""",
    "two arguments in each other's places": """
fn at(x: Tensor[3; f32], i: Tensor[2; i32], n: i32) -> f32 { return x[0] }
fn f(x: Tensor[3; f32], i: Tensor[2; i32], n: i32) -> f32 {
    return at(
        x,
        n,  #E2101
        i,
    )
}
fn g(x: Tensor[3; f32], i: Tensor[2; i32], n: i64) -> f32 {
    return at(
        x,
        n,  #E2101
        i,  #E2101
    )
}
fn h(x: Tensor[3; f32], i: Tensor[2; i32], n: i32) -> f32 { return at(x, i, n) }
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_findings_are_those_that_are_marked(name: str, tmp_path: Path) -> None:
    are_marked(f"module m\n{TWO}{PROGRAMS[name]}", tmp_path)
