"""Formatting gives a text that lost its indentation and its empty lines back to its author."""

from __future__ import annotations

from difflib import ndiff
from pathlib import Path

import pytest

from tests.syntax.test_format import OURS, ROOT, SEED, format_, holds

SHIPPED = sorted(path for folder in OURS for path in folder.rglob("*.linnet"))
EXAMPLE = ROOT / "linnet" / "cli" / "example" / "src" / "lib.linnet"
SEEDS = sorted(SEED.glob("*.linnet"))
# The first words of lines that may stand together with others of their kind.
KINDS = {
    "module": "module", "use": "use", "const": "names", "type": "names",
    "param": "members", "buffer": "members", "state": "members", "sub": "members",
}  # fmt: skip
ITEMS = ("fn", "op", "entry", "block", "struct", "enum")


def lost(text: str) -> str:
    """A text without indentation and empty lines."""
    return "".join(f"{line.strip()}\n" for line in text.splitlines() if line.strip())


def word(line: str) -> str:
    """The first word of a line, but for `pub`."""
    return (line.strip().removeprefix("pub ").split() or [""])[0]


def optional(before: str, after: str) -> bool:
    """Whether nobody could tell that there was an empty line between two lines."""
    if is_comment(before):
        return True
    return before.strip() != "}" and KINDS.get(word(before)) == KINDS.get(word(after))


@pytest.mark.parametrize("path", [*SHIPPED, EXAMPLE], ids=lambda p: "/".join(p.parts[-3:]))
def test_a_shipped_source_is_found_again(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    found = format_(lost("\n".join(lines))).splitlines()
    at = 0
    for n, line in enumerate(lines):
        if at < len(found) and found[at] == line:
            at += 1
        else:
            assert line == "" and optional(lines[n - 1], lines[n + 1]), (n + 1, line)
    assert at == len(found)


@pytest.mark.skipif(not SEEDS, reason="../shared is absent")
@pytest.mark.parametrize("path", SEEDS, ids=lambda p: p.name)
def test_the_seed_reads_as_its_author_wrote_it(path: Path) -> None:
    """Its lines stay, but for the four of three members that were longer than a line is."""
    text = path.read_text("utf-8")
    done = holds(text)
    changes = list(ndiff(lost(text).splitlines(), lost(done).splitlines()))
    gone = [change[2:].split("<")[0] for change in changes if change.startswith("- ")]
    long = ["sub sliding: DecoderLayer", "sub full: DecoderLayer", "sub pairs: [LayerPair"]
    assert gone == ([*long, "32, Batch, MaxSeq, T>; Layers / 2]"] if path.stem == "lib" else [])
    assert max(map(len, done.splitlines())) <= 100


@pytest.mark.skipif(not SEEDS, reason="../shared is absent")
@pytest.mark.parametrize("path", SEEDS, ids=lambda p: p.name)
def test_the_seed_has_air_and_columns(path: Path) -> None:
    """Each item and method begins after an empty line, in its column, and its comments with it."""
    lines = format_(path.read_text("utf-8")).splitlines()
    in_block = False
    seen = 0
    for n, line in enumerate(lines):
        if line == "}":
            in_block = False
        if is_comment(line):
            assert lines[n + 1] and indent(lines[n + 1]) == indent(line), line
        if word(line) not in ITEMS:
            continue
        top = n
        while is_comment(lines[top - 1]):
            top -= 1
        assert lines[top - 1] == "" and lines[top] != "", line
        assert indent(line) == (4 if in_block else 0), line
        in_block = in_block or word(line) == "block"
        seen += 1
    assert seen >= 2


def is_comment(line: str) -> bool:
    return line.lstrip().startswith("//")


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())
