"""The table of names against what the checker found out for itself, on all shipped sources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from linnet.check.intrinsics import PRELUDE
from linnet.check.typed import (
    Program,
    TAssign,
    TCall,
    TExpr,
    TField,
    TForRange,
    TForSubs,
    TLet,
    TLetTuple,
    TLocal,
    TMember,
    TReturn,
    TStmt,
    TWhile,
)
from linnet.check.types import StructType
from linnet.check.walk import children
from linnet.dtypes import BY_NAME
from linnet.lsp.analysis import Analysis, analyze
from linnet.source.files import Span

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", params=["models/gpt-oss-20b", "stdlib"])
def shipped(request: pytest.FixtureRequest) -> Analysis:
    return analyze(ROOT / request.param, {})


def exprs(program: Program) -> Iterator[tuple[TExpr, str]]:
    """All expressions of all functions, with the block of the function."""
    waiting: list[tuple[TExpr, str]] = []
    for function in program.functions.values():
        values = [*statements(function.body), *(p.default for p in function.params if p.default)]
        waiting.extend((value, function.block or "") for value in values)
    while waiting:
        expr, block = waiting.pop()
        yield expr, block
        waiting.extend((child, block) for child in children(expr))


def statements(body: tuple[TStmt, ...]) -> Iterator[TExpr]:
    for stmt in body:
        match stmt:
            case TLet() | TLetTuple() | TAssign() | TReturn():
                yield stmt.value
            case TWhile():
                yield stmt.condition
                yield from statements(stmt.body)
            case TForSubs() | TForRange():
                yield from statements(stmt.body)


def declared(analysis: Analysis, span: Span, name: str) -> Span | None:
    """Where the name that begins a span, parentheses aside, is declared."""
    at = span.start + span.text.index(name)
    found = analysis.names.at(span.file, at)
    assert found is not None and found.span.text == name, (span.text, name)
    return found.declaration.meant.span if found.declaration else None


def test_names_mean_what_the_checker_takes_them_for(shipped: Analysis) -> None:
    program = shipped.checked.program
    seen = dict.fromkeys(("local", "member", "call", "field"), 0)
    for expr, block in exprs(program):
        match expr:
            case TLocal():
                seen["local"] += 1
                assert declared(shipped, expr.span, expr.local.name) == expr.local.span
            case TMember(name=name):
                seen["member"] += 1
                member = program.blocks[block].members[name]
                assert declared(shipped, expr.span, name) == member.span
            case TCall(callee=callee):
                seen["call"] += 1
                head = expr.span.text.partition("(")[0].partition("<")[0].rstrip()
                name = head.rpartition(".")[2]
                span = Span(expr.span.file, expr.span.start + len(head) - len(name), expr.span.end)
                assert declared(shipped, span, name) == program.functions[callee].span
            case TField(base=base, name=name):
                seen["field"] += 1
                assert isinstance(base.type, StructType)
                span = Span(expr.span.file, base.span.end, expr.span.end)
                found = declared(shipped, span, name)
                module, _, struct = base.type.key.rpartition("::")
                text = shipped.checked.graph.by_key(module)
                assert text is not None and found is not None and found.file is text.file
                before = text.file.text[: found.start]
                assert before.rindex(f"struct {struct}") > before.rfind("\n}")
            case _:
                pass
    assert all(count > 10 for kind, count in seen.items() if kind != "field"), seen


def test_every_name_means_something(shipped: Analysis) -> None:
    assert {
        mention.span.text for mention in shipped.names.mentions if mention.declaration is None
    } <= PRELUDE | BY_NAME.keys()
