"""What z3 thinks of a question, told by trees and not by the dimensions made of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from linnet.dims.dims import Symbol

from .questions import SYMBOLS, Claim, Tree

z3: Any = import_module("z3")  # it has no types


def refuting(
    assumed: tuple[Claim, ...], against: Claim, milliseconds: int
) -> dict[str, int] | None:
    """Natural numbers under which all of it holds, if z3 finds some in time."""
    solver: Any = z3.Solver()
    solver.set("timeout", milliseconds)
    numbers: dict[Symbol, Any] = {s: z3.Int(s.name) for s in SYMBOLS}
    solver.add(*(n >= 0 for n in numbers.values()))
    for claim in (*assumed, against):
        solver.add(_claim(solver, claim, numbers))
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    return {s.name: model.eval(n, True).as_long() for s, n in numbers.items()}


def _claim(solver: Any, claim: Claim, numbers: dict[Symbol, Any]) -> Any:
    left, right = (_number(solver, tree, numbers) for tree in (claim.left, claim.right))
    match claim.op:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right


def _number(solver: Any, tree: Tree, numbers: dict[Symbol, Any]) -> Any:
    if isinstance(tree, int):
        return z3.IntVal(tree)
    if isinstance(tree, Symbol):
        return numbers[tree]
    left, right = (_number(solver, inner, numbers) for inner in tree[1:])
    match tree[0]:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "min":
            return z3.If(left <= right, left, right)
        case "max":
            return z3.If(left >= right, left, right)
        case _:
            solver.add(right != 0)
            # z3 rounds so that the remainder is not negative; floor division does not.
            quotient = z3.If(right > 0, left / right, (-left) / (-right))
            return quotient if tree[0] == "/" else left - right * quotient
