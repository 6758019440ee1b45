"""Formatting rests where it is, and changes nothing but white space and commas that may be."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from linnet.packages.text import source_of
from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.syntax.format.source import WIDTH, formatted
from linnet.syntax.lexer import lex
from tests.syntax.dump import good, parsed
from tests.syntax.layout import well_spaced
from tests.syntax.printer import bare

ROOT = Path(__file__).parents[2]
SEED = ROOT / ".." / "shared" / "seed" / "gpt-oss-20b" / "src"
OURS = [ROOT / "stdlib", ROOT / "models"]
FOLDERS = [*OURS, ROOT / "tests" / "golden", SEED]
FILES = sorted(path for folder in FOLDERS for path in folder.rglob("*.linnet"))


def text_of(path: Path) -> str | None:
    """The text of a file, None if it is none, or has syntax errors."""
    try:
        text = path.read_bytes().decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return None
    module, found = parsed(text)
    return text if module and not [d for d in found if d.severity == "error"] else None


def format_(text: str) -> str:
    done = formatted(SourceFile("test.linnet", text), Sink())
    assert done is not None
    return done


def words(text: str) -> str:
    """The tokens of a text, without commas; the tree tells whether these matter."""
    tokens = lex(SourceFile("test.linnet", text), Sink()).tokens
    return "".join(token.text for token in tokens if token.text != ",")


def comments(text: str) -> list[str]:
    """The comments of a text, without what may stand at their end."""
    found = lex(SourceFile("test.linnet", text), Sink()).comments
    return [text[c.start : c.end].replace("\r\n", "\n").rstrip() for c in found]


def holds(text: str) -> str:
    """The formatted text, once all that must be true of it is."""
    done = format_(text)
    assert words(done) == words(text)
    assert comments(done) == comments(text)
    assert bare(good(done)) == bare(good(text))
    assert format_(done) == done
    assert done.endswith("\n") and not done.endswith("\n\n")
    well_spaced(done)
    return done


@pytest.mark.parametrize("path", FILES, ids=lambda p: "/".join(p.parts[-3:]))
def test_same_meaning_and_at_rest(path: Path) -> None:
    text = text_of(path)
    if text is None:
        sink = Sink()
        file = source_of(path.read_bytes(), "test.linnet", sink)
        assert (file is None or formatted(file, sink) is None) and sink.errors
        return
    holds(text)


def test_most_files_can_be_formatted() -> None:
    assert sum(text_of(path) is not None for path in FILES) > 300


@pytest.mark.parametrize("folder", OURS, ids=lambda p: p.name)
def test_shipped_sources_are_formatted(folder: Path) -> None:
    paths = sorted(folder.rglob("*.linnet"))
    assert paths
    assert [p.name for p in paths if format_(p.read_text("utf-8")) != p.read_text("utf-8")] == []


def test_a_line_is_broken_where_it_is_one_column_too_long() -> None:
    for width, lines in ((WIDTH, 1), (WIDTH + 1, 2)):
        name = "a" * (width - len("    let x =  + 1"))
        text = f"module m\nfn f() -> i32 {{ let x = {name} + 1 return x }}\n"
        assert len(format_(text).splitlines()) == 5 + lines


def test_documentation_stays_with_what_it_documents() -> None:
    text = "module m\nfn f(a: i32 /// of nothing\n , b: i32 /// of nothing\n) -> i32 { return a }\n"
    holds(text)
    holds(text.replace(", b", ", /** of b */ b"))
    holds("module m struct A { a: i32 /// of nothing\n , b: i32 /// of the end\n }")


def test_as_deep_as_the_parser_goes() -> None:
    for inside in ("(" * 70 + "x" + ")" * 70, "f(" * 70 + "x" + ")" * 70, "-" * 70 + "x"):
        holds(f"module m\nfn g(x: i32) -> i32 {{ return {inside} }}\n")


def test_long_lists() -> None:
    for inside in ("f(" + "x, " * 3000 + ")", "f(" + ", ".join(["x + 1"] * 1000) + ")"):
        text = f"module m\nfn g(x: i32) -> i32 {{ return {inside} }}\n"
        done = format_(text)
        assert words(done) == words(text) and format_(done) == done


def test_line_ends() -> None:
    text = "module m\r\n\r\n\r\n/* a\r\n b */\r\nconst A: i32 = 1 // one\r\n"
    assert holds(text) == "module m\n\n/* a\n b */\nconst A: i32 = 1 // one\n"


SHORT = [
    text
    for path in FILES
    if (text := text_of(path)) is not None and len(text) < 1500
    if path.parts[-2] in ("fmt", "check", "lower")
]
EVERYTHING = (ROOT / "tests" / "golden" / "fmt" / "everything.linnet").read_text("utf-8")
GAPS = [
    " ", "\n", "\n\n", "\n\n\n", "\t", " // a\n", "\n// b\n", "\n\n// c\n\n// d\n", " /* e */ ",
    "\n/* f */\n", "/* g */ // h\n", "\n/* i */ ", " /* j\n k */ ", " /* l */\n", "/// m\n",
    "\n/** n */ ", "\r\n",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_white_space_and_comments(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([EVERYTHING, *SHORT]))
    tokens = lex(SourceFile("test.linnet", text), Sink()).tokens
    edits = data.draw(
        st.dictionaries(st.integers(0, len(tokens)), st.sampled_from(GAPS), max_size=12)
    )
    parts: list[str] = []
    end = 0
    for n, token in enumerate(tokens):
        parts += [edits.get(n, text[end : token.start]), token.text]
        end = token.end
    changed = "".join(parts) + edits.get(len(tokens), "")
    # A member that ends in `>` is told from the next one by a line end.
    assume(not parsed(changed)[1])
    holds(changed)
