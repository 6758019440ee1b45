"""Whatever the text: a tree or a finding, in linear time, never a traceback."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.syntax import tables
from linnet.syntax.grammar import read_grammar
from linnet.syntax.lexer import lex
from linnet.syntax.parser import parse
from linnet.syntax.tokens import KINDS
from tests.syntax.dump import parsed
from tests.syntax.test_errors import SAMPLE

SEED = Path(__file__).parents[2] / ".." / "shared" / "seed" / "gpt-oss-20b" / "src"
WORDS = [
    *KINDS,
    "x",
    "T",
    "sum",
    "max",
    "1",
    "2.5",
    '"s"',
    "**",
    "+=",
    "@",
    "\n",
    "/*",
    "*/",
    "///d\n",
]


def check(text: str) -> None:
    module, found = parsed(text)
    assert module is not None or found
    assert (module is not None and module.complete) == (not found)
    for finding in found:
        assert finding.span is not None and 0 <= finding.span.start <= finding.span.end <= len(text)


@given(st.text())
@settings(deadline=None, max_examples=150)
def test_any_text(text: str) -> None:
    check(text)
    check("module m " + text)


@given(st.lists(st.sampled_from(WORDS), max_size=60))
@settings(deadline=None, max_examples=250)
def test_any_tokens(words: list[str]) -> None:
    check("module m fn f() -> i32 { " + " ".join(words))


@given(st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=150)
def test_mutated_sources(source: random.Random) -> None:
    path = SEED / "experts.linnet"
    text = (
        path.read_text(encoding="utf-8")[2000:]
        if path.exists() and source.random() < 0.2
        else SAMPLE
    )
    words = [token.text for token in lex(SourceFile("", text), Sink()).tokens]
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(words))
        match source.randrange(4):
            case 0:
                del words[at]
            case 1:
                words.insert(at, source.choice(WORDS))
            case 2:
                words[at] = source.choice(WORDS)
            case _:
                other = source.randrange(len(words))
                words[at], words[other] = words[other], words[at]
    check(" ".join(words))


@pytest.mark.parametrize("length", [400, 20000])
@pytest.mark.parametrize(
    "text",
    [
        "{0}", "module m {0}", "module m fn f() -> i32 {{ return {0} }}",
        "module m block B {{ {0} }}", "module m type A = {0}",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "part", ["(", "}", "{", "a<", "f<x>(", "fn ", "pub ", "sum[k] ", "/*", "[)", "é "]
)
def test_much_of_the_same(length: int, text: str, part: str) -> None:
    check(text.format(part * length))


def calls_made(act: Callable[[], object]) -> int:
    """How many calls `act` makes: a measure of work that does not depend on the machine."""
    count = 0

    def counted(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def test_reading_is_linear_in_the_length() -> None:
    function = SAMPLE[SAMPLE.index("pub fn") :]

    def work(lines: int) -> int:
        text = "module m\n" + function * (lines // function.count("\n"))
        return calls_made(lambda: parse(SourceFile("long.linnet", text), Sink()))

    work(100)  # reads the tables
    assert work(1500) / work(750) < 2.1


@pytest.mark.parametrize("part", ["(", "}", "a<", "sum[k] ", "/*", "fn ", "é "])
def test_reading_what_is_wrong_is_linear_in_the_length(part: str) -> None:
    def work(length: int) -> int:
        text = "module m fn f() -> i32 { return " + part * length + " }"
        return calls_made(lambda: parse(SourceFile("long.linnet", text), Sink()))

    work(10)
    assert work(4000) / work(2000) < 2.1


def test_the_grammar_has_no_conflict_and_strict_mode_would_tell() -> None:
    pytest.importorskip("interegular")
    from lark.exceptions import GrammarError

    made = tables.make(tables.GRAMMAR.read_text("utf-8"))
    assert sorted(made.rules) == sorted(tables.tables().rules)
    ambiguous = "start: e\ne: e PLUS e | X\n%declare PLUS X"
    with pytest.raises(GrammarError):
        read_grammar(ambiguous, ["start"])


@pytest.mark.parametrize("kind", ["missing", "unwritable", "broken", "file"])
def test_the_table_cache_may_fail(kind: str, tmp_path: Path) -> None:
    home = tmp_path / "cache"
    if kind == "file":
        home.write_text("not a folder")
    elif kind != "missing":
        (home / "linnet").mkdir(parents=True, mode=0o700)
    if kind == "unwritable":
        (home / "linnet").chmod(0o500)
    program = (
        "from linnet.source.files import SourceFile; from linnet.source.diagnostics import Sink;"
        "from linnet.syntax.parser import parse;"
        "print(parse(SourceFile('a', 'module a.b'), Sink()).path.dotted())"
    )

    def run() -> str:
        return subprocess.run(
            [sys.executable, "-c", program],
            env={"XDG_CACHE_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert run() == "a.b\n"
    kept = list(home.rglob("*.json")) if home.is_dir() else []
    if kind == "broken":
        assert len(kept) == 1
        whole = kept[0].read_bytes()
        for broken in (whole[:2000], b"[]", b"[[[1]]]", b"\xff"):
            kept[0].write_bytes(broken)
            assert run() == "a.b\n"
            assert len(kept[0].read_bytes()) > 2000
    if kind == "missing":
        assert len(kept) == 1 and run() == "a.b\n"
