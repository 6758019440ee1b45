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
HIDING = """module a

const Wide = 7

fn scale(x: f32) -> f32 {
    return x
}

fn other(x: f32) -> f32 {
    return x
}

fn i(x: f32) -> f32 {
    return x
}

block B<Wide: Dim> {
    param scale: Tensor[Wide; f32]

    fn other(x: f32) -> f32 {
        return x
    }

    pub fn run(x: Tensor[Wide; f32]) -> Tensor[Wide; f32] {
        let i = scale
        let y[i] = i[i] + other(x[i])
        let i = i + y
        return i
    }
}
"""


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
    seen = held_against_the_checker(shipped)
    assert all(count > 10 for kind, count in seen.items() if kind != "field"), seen


def test_what_is_nearer_hides_what_is_farther(tmp_path: Path) -> None:
    path = tmp_path / "a.linnet"
    path.write_text(HIDING, "utf-8")
    analysis = analyze(path, {})
    assert [d.message for d in analysis.checked.sink if d.severity == "error"] == []
    seen = held_against_the_checker(analysis)
    assert (seen["local"], seen["member"], seen["call"]) == (9, 1, 1)
    # A generic hides an item, of which the typed program shows nothing.
    file = analysis.source(path)
    assert file is not None
    for use, declaration in (("Wide; f32]", "Wide: Dim"), ("i] + other", "i] = i[")):
        found = analysis.names.at(file, HIDING.index(use))
        assert found is not None and found.declaration is not None
        assert found.declaration.span.start == HIDING.index(declaration)


def held_against_the_checker(shipped: Analysis) -> dict[str, int]:
    """The names that the typed program shows mean the same in the table; how many there are."""
    program = shipped.checked.program
    seen: dict[str, int] = dict.fromkeys(("local", "member", "call", "field"), 0)
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
    return seen


def test_every_name_means_something(shipped: Analysis) -> None:
    assert {
        mention.span.text for mention in shipped.names.mentions if mention.declaration is None
    } <= PRELUDE | BY_NAME.keys()
