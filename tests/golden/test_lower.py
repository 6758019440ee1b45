"""The IR of small programs: `lower/<case>.linnet` and, beside it, `<case>.ir`.

The second line of a case says what to lower: `// lower f N=3 S=[2,3] T=f32` for a function,
`// lower Model.forward N=3 -bias` for an entry, `-bias` an optional member that is absent.
`LINNET_GOLDEN=write pytest tests/golden/test_lower.py` rewrites the expected files.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from linnet.dims.prover import Facts
from linnet.ir.core import Module
from linnet.ir.parse import parse
from linnet.ir.text import same, show
from linnet.ir.verify import verify
from linnet.lower.module import lower_entry, lower_function
from linnet.pipeline import check_paths
from linnet.source.render import render_text

CASES = sorted((Path(__file__).parent / "lower").glob("*.linnet"))
PLACE = re.compile(r' @ "[^"]*"')


def generics(words: list[str]) -> dict[str, object]:
    """What `N=3`, `S=[2,3]` and `T=f32` bind."""
    bound: dict[str, object] = {}
    for word in words:
        name, _, text = word.partition("=")
        if text.startswith("["):
            bound[name] = tuple(int(n) for n in text[1:-1].split(",") if n)
        else:
            bound[name] = int(text) if text.isdigit() else text
    return bound


def lowered(case: Path) -> Module:
    """What the second line of `case` asks for."""
    result = check_paths([case])
    assert not result.sink.errors, "\n".join(render_text(d) for d in result.sink)
    _, word, what, *rest = case.read_text().splitlines()[1].split()
    assert word == "lower"
    absent = {r[1:] for r in rest if r.startswith("-")}
    bound = generics([r for r in rest if not r.startswith("-")])
    program = result.program
    block, _, name = what.rpartition(".")
    if block:
        module = lower_entry(program, f"case::{block}", bound, name, lambda p: p not in absent)
        facts = program.blocks[f"case::{block}"].facts
    else:
        module = lower_function(program, f"case::{name}", bound)
        facts = program.functions[f"case::{name}"].facts
    verify(module, Facts(facts))
    return module


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.stem)
def test_lowers_to_the_ir_beside_it(case: Path) -> None:
    module = lowered(case)
    assert same(parse(show(module), module.symbols), module)
    text = PLACE.sub("", show(module))
    expected = case.with_suffix(".ir")
    if os.environ.get("LINNET_GOLDEN") == "write":
        expected.write_text(text)
    assert text == expected.read_text()


def test_there_are_cases() -> None:
    assert len(CASES) >= 5
