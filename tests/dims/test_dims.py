"""Dimensions: canonical forms, their text, substitution, evaluation."""

from __future__ import annotations

import pytest

from linnet.dims.atoms import Quotient
from linnet.dims.dims import Dim, DimError, Symbol, dim_max, dim_min
from linnet.dims.evaluate import evaluate

B, H, K, N, S = (Symbol(name) for name in ("B", "H", "K", "N", "S"))
b, h, k, n, s = map(Dim.of, (B, H, K, N, S))

TEXTS = [
    (2 * h // 32, "2 * H / 32"),
    (s - 1, "S - 1"),
    (n + b, "B + N"),
    (dim_min(s, h), "min(H, S)"),
    (dim_max(h - k, 0), "max(H - K, 0)"),
    (n * (h // n), "N * (H / N)"),
    (2 * (h // n) * n, "2 * N * (H / N)"),
    (h // n, "H / N"),
    (h // n // k, "H / N / K"),
    (h // (n // k), "H / (N / K)"),
    (h // (2 * n), "H / (2 * N)"),
    ((h - s) % n, "(H - S) % N"),
    ((-h) // n, "(-H) / N"),
    (-(h // n), "-(H / N)"),
    (k - h // n, "K - H / N"),
    (-3 * (h // n), "-3 * (H / N)"),
    ((s - 1) // 2 + 1, "(S - 1) / 2 + 1"),
    (h * h - 3 * n, "H * H - 3 * N"),
    (-s, "-S"),
    (1 - s, "1 - S"),
    (k - b, "K - B"),
    (-k - b - 2, "-B - K - 2"),
    (dim_min(s, 4 - h, 9), "min(4 - H, S)"),
    (h % n // k, "H % N / K"),
    (k * (h % n), "K * (H % N)"),
    (s - s, "0"),
    (Dim.of(-4), "-4"),
]

EQUALS = [
    (b * s * (n * h), h * n * s * b),
    ((b + s) * (b - s), b * b - s * s),
    (s + 0, s),
    (s * 1, s),
    (s * 0, Dim.of(0)),
    ((32 * s) // 32, s),
    ((32 * s + 5) // 32, s),
    ((32 * s - 1) // 32, s - 1),
    ((32 * s + h) // 32, s + h // 32),
    ((s + 33) // 32, (s + 1) // 32 + 1),
    ((s - 33) // 32, (s - 1) // 32 - 1),
    (s // 1, s),
    (s % 1, Dim.of(0)),
    ((32 * s + 5) % 32, Dim.of(5)),
    ((32 * s - 5) % 32, Dim.of(27)),
    ((s + 34) % 32, (s + 2) % 32),
    (Dim.of(0) // 7, Dim.of(0)),
    (Dim.of(-7) // 2, Dim.of(-4)),
    (Dim.of(7) // -2, Dim.of(-4)),
    (Dim.of(7) % -2, Dim.of(-1)),
    (s // -2, -s // 2),
    (7 // Dim.of(2), Dim.of(3)),
    (dim_min(s, s), s),
    (dim_min(3, 5), Dim.of(3)),
    (dim_max(3, 5), Dim.of(5)),
    (dim_min(s, s + 2), s),
    (dim_max(s, s + 2, s - 1), s + 2),
    (dim_min(s, h), dim_min(h, s)),
    (dim_min(s, dim_min(h, 4)), dim_min(4, h, s)),
    (dim_max(0, s), s),
    (dim_min(s, s + h), s),
]

DIFFERENT = [
    ((s + 1) // 2, s // 2),
    (2 * (s // 2), s),
    ((s * n) // n, s),
    (dim_min(s, h), dim_max(s, h)),
    (s // 2, s % 2),
    (h // n, n // h),
]


@pytest.mark.parametrize(("dim", "text"), TEXTS, ids=[t for _, t in TEXTS])
def test_text(dim: Dim, text: str) -> None:
    assert str(dim) == text


@pytest.mark.parametrize(("left", "right"), EQUALS, ids=range(len(EQUALS)))
def test_laws(left: Dim, right: Dim) -> None:
    assert left == right
    assert hash(left) == hash(right)
    assert str(left) == str(right)


@pytest.mark.parametrize(("left", "right"), DIFFERENT, ids=range(len(DIFFERENT)))
def test_no_false_laws(left: Dim, right: Dim) -> None:
    assert left != right


def test_symbols_are_compared_by_identity() -> None:
    other = Symbol("S")
    assert Dim.of(other) != s
    assert str(s - Dim.of(other)) == "S - S"
    assert (Dim.of(other) - s).symbols() == {other, S}


def test_views() -> None:
    assert Dim.of(7).as_int() == 7
    assert Dim.of(0).as_int() == 0
    assert s.as_int() is None
    assert s.as_symbol() is S
    assert (2 * s).as_symbol() is None
    assert (s + 1).as_symbol() is None
    assert (h // n).as_atom() == Quotient(h, n)
    assert (s - 4).constant == -4
    assert s.constant == 0


def test_symbols_at_any_depth() -> None:
    assert (dim_min(h // n, s) * b + 1).symbols() == {H, N, S, B}
    assert Dim.of(3).symbols() == frozenset()


def test_a_pack_is_a_natural_number_like_any_other() -> None:
    pack = Symbol("S", pack=True)
    assert str(Dim.of(pack) * h) == "H * S"
    assert evaluate(Dim.of(pack) * h, {pack: 6, H: 4}) == 24


@pytest.mark.parametrize(
    ("dim", "mapping", "result"),
    [
        (h // n, {H: Dim.of(64), N: Dim.of(4)}, Dim.of(16)),
        (h // 32 * b, {H: 32 * k}, k * b),
        (s + h, {S: h, H: s}, h + s),
        (s - h, {S: h, H: s}, h - s),
        (dim_min(s, h), {S: h}, h),
        (h % n, {N: Dim.of(1)}, Dim.of(0)),
        (s * s, {S: b + 1}, b * b + 2 * b + 1),
        (s, {H: b}, s),
    ],
)
def test_substitution(dim: Dim, mapping: dict[Symbol, Dim], result: Dim) -> None:
    assert dim.substitute(mapping) == result


def test_evaluation() -> None:
    env = {B: 2, H: 7, K: 3, N: 4, S: 5}
    assert evaluate(b * h - s, env) == 9
    assert evaluate(h // n + h % n, env) == 4
    assert evaluate((k - h) // n, env) == -1
    assert evaluate((k - h) % n, env) == 0
    assert evaluate(dim_min(h, n) + dim_max(k, s), env) == 9


@pytest.mark.parametrize("divide", [lambda: s // 0, lambda: s % 0, lambda: s // (n - n)])
def test_dividing_by_zero(divide: object) -> None:
    assert callable(divide)
    with pytest.raises(DimError):
        divide()


def test_a_divisor_that_becomes_zero() -> None:
    for dim in (h // n, h % n):
        with pytest.raises(DimError):
            dim.substitute({N: Dim.of(0)})
        with pytest.raises(DimError, match="divides by zero"):
            evaluate(dim, {H: 1, N: 0})


def test_the_order_is_by_name_then_creation() -> None:
    first, second = Symbol("Z"), Symbol("Z")
    assert str(Dim.of(B) * N) == "B * N"
    assert (Dim.of(second) + first).terms[0][0] == (first,)
