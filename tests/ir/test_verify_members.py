"""Paths of members and blocks, and what a function may do to a member."""

from __future__ import annotations

from typing import Any

import pytest

from linnet.dims.dims import Dim
from linnet.ir.builder import Builder
from linnet.ir.verify import problems
from tests.ir.modules import main
from tests.ir.samples import N, tensor

D = Dim.of
X, V = tensor(N, 4), tensor(N)


def looped(b: Builder, array: tuple[str | int, ...], var: str, *path: str | int) -> Builder:
    """An `each` that reads a parameter."""
    inner = b.nested()
    inner.emit("param", [], V, {"path": path})
    attrs = {"array": array, "count": D(N), "var": var}
    b.emit_all("each", [], [], attrs, [inner.region([])])
    return b


@pytest.mark.parametrize(
    ("array", "var", "path", "problem"),
    [
        (("l",), "i", ("l", "$i", "w"), None),
        (("s", 0, "l"), "i", ("s", 0, "l", "$i", "w"), None),
        (("l",), "i", ("m", "$i", "w"), "each: param: $i goes through ('l',), not ('m',)"),
        (("l",), "i", ("$i", "w"), "each: param: $i in ('$i', 'w') is no element of an array"),
        ((), "i", ("w",), "each: () names no member"),
        (("l",), "$i", ("w",), "each: the variable '$i' is no identifier"),
        (("l",), "", ("w",), "each: the variable '' is no identifier"),
    ],
)
def test_paths_in_an_array(array: Any, var: str, path: Any, problem: str | None) -> None:
    found = problems(main(looped(Builder(), array, var, *path)))
    assert found == ([] if problem is None else [f"main: {problem}"])


def test_each_in_each_has_a_variable_of_its_own() -> None:
    b = Builder()
    inner = looped(b.nested(), ("k", "$i", "l"), "i", "w")
    attrs = {"array": ("k",), "count": D(-2), "var": "i"}
    b.emit_all("each", [], [], attrs, [inner.region([])])
    assert problems(main(b)) == [
        "main: each: the extent -2 is negative",
        "main: each: each: an `each` around it has the variable $i, too",
    ]


def test_a_member_has_one_type_and_kind() -> None:
    b = Builder()
    path = {"path": ("cache", "k")}
    b.emit_all("state_write", [b.param(X)], [], path)
    b.emit_all("state_write", [b.param(V)], [], path)
    b.emit("state_read", [], X, path)
    b.emit("param", [], X, path)
    assert problems(main(b)) == [
        "main: state_write: ('cache', 'k') is tensor[N, 4; f32] elsewhere, not tensor[N; f32]",
        "main: param: ('cache', 'k') is a state elsewhere",
    ]
