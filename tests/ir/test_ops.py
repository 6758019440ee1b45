from __future__ import annotations

import re
from pathlib import Path

from linnet.backends.interpret.walk import STRUCTURE
from linnet.backends.numpy.elementwise import ELEMENTWISE as MEANINGS
from linnet.backends.numpy.interpreter import DISPATCH
from linnet.ir.core import Operation
from linnet.ir.ops import ELEMENTWISE, OPS
from linnet.ir.walk import operations
from linnet.source.files import SourceFile, Span
from tests.ir.samples import everything

PAGE = Path(__file__).parents[2] / "docs" / "ir.md"


def rows() -> dict[str, str]:
    """The attributes column of each operation of the page."""
    found: dict[str, str] = {}
    for line in PAGE.read_text().splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if line.startswith("| `"):
            found |= dict.fromkeys(re.findall(r"[a-z][a-z0-9_]*", cells[0]), cells[2])
    return found


def test_table_and_page_list_the_same_operations() -> None:
    assert set(rows()) == set(OPS)


def test_table_and_page_list_the_same_attributes() -> None:
    for name, cell in rows().items():
        documented = {n for n in OPS[name].attrs if f"`{n}`" in cell}
        assert documented == set(OPS[name].attrs), name


def test_every_operation_occurs_in_the_sample() -> None:
    used: set[str] = set()
    for function in everything().functions.values():
        used |= {op.name for op in operations(function.body)}
    assert used == set(OPS)


def test_elementwise_rows_take_and_give_values_only() -> None:
    assert set(MEANINGS) | {"cast"} == ELEMENTWISE
    for name in ELEMENTWISE:
        assert (OPS[name].results, OPS[name].regions, OPS[name].effect) == (1, 0, "none")


def test_interpreter_knows_every_row_but_indexed() -> None:
    assert set(DISPATCH) | set(STRUCTURE) == set(OPS) - {"indexed"}


def test_places_are_not_compared() -> None:
    span = Span(SourceFile("c.linnet", "text"), 0, 4)
    for place in ("a.linnet:1", span):
        assert Operation("iota", (), (), place=place) == Operation("iota", (), ())
