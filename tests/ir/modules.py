"""Modules of one function, and what is wrong with them."""

from __future__ import annotations

from typing import Any

from linnet.ir.builder import Builder
from linnet.ir.core import Module, Value
from linnet.ir.types import Type
from linnet.ir.verify import problems
from tests.ir.samples import N


def alone(
    name: str, operands: list[Type], results: list[Type], attrs: dict[str, Any] | None = None
) -> list[str]:
    """The problems of one operation on parameters."""
    b = Builder()
    params = [b.param(t) for t in operands]
    b.emit_all(name, params, results, attrs or {})
    return [p.partition(": ")[2] for p in problems(main(b))]


def main(b: Builder, *results: Value) -> Module:
    return Module("main", (N,), {"main": b.function("main", None, results)})
