"""Single faults of a card and its checkpoint, what is reported of each, and the few that keep
others from being seen. `test_one_report.py` tries them alone and in pairs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from tests.nest.small import BINDINGS, write_card, write_weights

INDEX = "model.safetensors.index.json"
TOML, LIST, SOURCE = "nest.toml", "bindings.json", "src/lib.linnet"
Edit = tuple[str, str, str]


@dataclass(frozen=True)
class Finding:
    """Of a report: a code, a text in message or notes, and a line's text in a file (or no place).
    It `needs` what other faults may hide."""

    code: str
    text: str
    file: str | None = None
    line: str = ""
    needs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Fault:
    """`edits` are (file, old, new) in the card, `spoil` changes the checkpoint's folder. `hides`
    are the needs of findings that cannot be made beside it, with the reason."""

    name: str
    finds: tuple[Finding, ...]
    edits: tuple[Edit, ...] = ()
    spoil: Callable[[Path], None] | None = None
    touches: str = ""
    hides: tuple[tuple[str, str], ...] = ()


def build(parent: Path, faults: tuple[Fault, ...]) -> tuple[Path, Path]:
    """The folders of the card and of the checkpoint with all the faults."""
    parent.mkdir()
    card = write_card(parent, ("[check]", "[tiny]\nVocab = 3\n\n[check]"))
    (card / LIST).write_text(json.dumps(BINDINGS, indent=1))
    for file, old, new in (edit for fault in faults for edit in fault.edits):
        text = (card / file).read_text()
        assert text.count(old) == 1, (file, old)
        (card / file).write_text(text.replace(old, new))
    weights = write_weights(parent)
    table = {t: f for f in ("one", "two") for t in load_file(weights / f"{f}.safetensors")}
    files = {t: f"{f}.safetensors" for t, f in table.items()}
    (weights / INDEX).write_text(json.dumps({"weight_map": files}, indent=1))
    for fault in faults:
        if fault.spoil is not None:
            fault.spoil(weights)
    return card, weights


# --- checkpoints --------------------------------------------------------------


def tensor(file: str, name: str, value: object) -> Callable[[Path], None]:
    """Puts another tensor, or none (None), in a file."""

    def spoil(folder: Path) -> None:
        path = folder / f"{file}.safetensors"
        tensors = load_file(path)
        del tensors[name]
        if value is not None:
            tensors[name] = np.asarray(value)
        save_file(tensors, path)

    return spoil


def index(old: str, new: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        text = (folder / INDEX).read_text()
        assert text.count(old) == 1, old
        (folder / INDEX).write_text(text.replace(old, new))

    return spoil


def extra(name: str, content: bytes | None) -> Callable[[Path], None]:
    """A file more that the index names: of this content, or a link to itself."""

    def spoil(folder: Path) -> None:
        index('"weight_map": {', f'"weight_map": {{\n  "{name}": "{name}.safetensors",')(folder)
        path = folder / f"{name}.safetensors"
        if content is None:
            path.symlink_to(path.name)
        elif content:
            path.write_bytes(content)

    return spoil


# --- the table ----------------------------------------------------------------

# What findings need: the parameters with their shapes, a small model, how many weights there are,
# the whole file of bindings, and all files of the checkpoint.
PARAMETERS, TINY, COUNT, REST, FILES = "parameters", "tiny", "count", "rest", "files"
NO_ROOT = tuple((n, "the block is not known") for n in (PARAMETERS, TINY, COUNT, "root"))
NO_SOURCE = (*NO_ROOT, ("source", "a source with errors has no blocks"))
NO_SHAPES = tuple(
    (n, "a number that shapes come from is not known") for n in (PARAMETERS, COUNT, TINY)
)


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


def key(
    name: str, old: str, new: str, text: str, hides: tuple[tuple[str, str], ...] = (), *needs: str
) -> Fault:
    found = (Finding("E5001", text, TOML, last_line(new), frozenset(needs)),)
    return Fault(name, found, ((TOML, old, new),), hides=hides)


def entry_of(code: str, name: str, old: str, new: str, text: str, *needs: str) -> Fault:
    found = (Finding(code, text, TOML, last_line(new), frozenset(needs)),)
    return Fault(name, found, ((TOML, old, new),))


def checkpoint(
    name: str,
    code: str,
    text: str,
    spoil: Callable[[Path], None],
    *needs: str,
    touches: str = "",
    file: str | None = None,
    line: str = "",
    hides: tuple[tuple[str, str], ...] = (),
) -> Fault:
    found = (Finding(code, text, file, line, frozenset(needs)),)
    return Fault(name, found, (), spoil, touches, hides)


FAULTS = (
    key("title", 'title = "Small"', "title = 3", "`title` in `[model]` must be a text"),
    key("licence", 'license = "MIT"', 'licence = "MIT"', "unknown key `licence`"),
    key("tags", 'tags = ["test"]', "tags = [1]", "`tags` in `[model]` must be a list of texts"),
    key("name", 'name = "small"', 'name = "big"', "the card's name `big` differs"),
    key("link", "https://huggingface.co/a/small", "huggingface.co", "`huggingface` in `[links]`"),
    key(
        "table",
        "[check]",
        "[chekc]",
        "unknown table `chekc`",
        hides=(("check", "the numbers are in a table that is not known"),),
    ),
    key("repo", 'repo = "a/small"', "repo = 3", "`repo` in `[weights]` must be"),
    key(
        "revision", "0123456789abcdef0123456789abcdef01234567", "main", "`revision` in `[weights]`"
    ),
    key(
        "files",
        'files = ["one.safetensors", "two.safetensors"]',
        "files = []",
        "`files` in `[weights]`",
    ),
    key("root", 'root = "Model"', 'root = "Modle"', "`Modle` is no block", NO_ROOT, "source"),
    key(
        "path",
        '"src/lib.linnet"',
        '"src/libs.linnet"',
        "the source file `src/libs.linnet`",
        NO_SOURCE,
    ),
    key(
        "generic of a wrong kind",
        "H = 2\n",
        'H = "f32"\n',
        "`H` is a dimension",
        NO_SHAPES[:2],
        "root",
    ),
    key(
        "misspelt generic",
        "Layers = 2",
        "Layres = 2",
        "`Model` has no generic `Layres`",
        NO_SHAPES,
        "root",
    ),
    entry_of(
        "E5001",
        "entry",
        'entry = "forward"',
        'entry = "forwrd"',
        "`Model` has no entry `forwrd`",
        "root",
    ),
    entry_of(
        "E5001",
        "stray generic",
        'T = "f32"',
        'T = "f32"\nNothing = 1',
        "`Model` has no generic `Nothing`",
        "root",
    ),
    entry_of(
        "E5001", "check", "S = 8", "Z = 8", "no entry of `Model` has a generic `Z`", "root", "check"
    ),
    entry_of("E5001", "kind of check", "S = 8", 'S = "x"', "`S` in `[check]` must be", "check"),
    entry_of("E5001", "tiny", "Vocab = 3", "Vocabs = 3", "`Vocabs` in `[tiny]` is not among"),
    Fault(
        "tiny that makes no model",
        (
            Finding(
                "E5001",
                "`where H % 2 == 0` of `Model` does not hold: H = 3",
                TOML,
                "[tiny]",
                frozenset({TINY}),
            ),
        ),
        ((TOML, "Vocab = 3", "H = 3"),),
    ),
    entry_of(
        "E5001",
        "count",
        "parameters = 16",
        "parameters = 17",
        "`parameters` says 17, but the model has 16",
        COUNT,
    ),
    key(
        "kind of count",
        "parameters = 16",
        'parameters = "many"',
        "`parameters` in `[model]` must be",
        hides=((COUNT, "the number is not known"),),
    ),
    Fault(
        "source",
        (Finding("E2103", "", SOURCE, "seen = seen + cast<f64>(x)"),),
        ((SOURCE, "seen = seen + x", "seen = seen + cast<f64>(x)"),),
        hides=NO_SOURCE,
    ),
    # Bindings.
    Fault(
        "bound to a number",
        (Finding("E5002", "`table` must be bound to a tensor's name", LIST, '"table": 3'),),
        ((LIST, '"table": "t"', '"table": 3'),),
        touches="t",
    ),
    Fault(
        "unknown path",
        (
            Finding(
                "E5002",
                "`nothing.at.all`, bound to `x`",
                LIST,
                "nothing.at.all",
                frozenset({PARAMETERS}),
            ),
        ),
        ((LIST, "{\n", '{\n "nothing.at.all": "x",\n'),),
    ),
    Fault(
        "misspelt path",
        (
            Finding(
                "E5002", "`layers.0.scael`, bound to `l0.s`", LIST, "scael", frozenset({PARAMETERS})
            ),
        ),
        ((LIST, "layers.0.scale", "layers.0.scael"),),
        touches="l0.s",
    ),
    Fault(
        "no binding",
        (
            Finding(
                "E5002",
                "`layers.1.scale`, declared as [2] f32",
                SOURCE,
                "param scale",
                frozenset({PARAMETERS, REST}),
            ),
        ),
        ((LIST, ' "layers.1.scale": "l1.s",\n', ""),),
        touches="l1.s",
    ),
    Fault(
        "bound twice",
        (Finding("E5002", "`layers.1.shift` is bound twice", LIST, '"other"'),),
        (
            (
                LIST,
                '"layers.1.shift": "l1.b"',
                '"layers.1.shift": "l1.b",\n "layers.1.shift": "other"',
            ),
        ),
    ),
    Fault(
        "end of the bindings",
        (Finding("E5002", "text after the closing `}`", LIST, "} more"),),
        ((LIST, "\n}", "\n} more"),),
        hides=((REST, "there may be bindings in what is no JSON"),),
    ),
    # Checkpoints.
    checkpoint(
        "shape",
        "E5002",
        "`table` is [4, 2], `t` in",
        tensor("one", "t", np.zeros((4, 3), np.float32)),
        PARAMETERS,
        touches="t",
        file=SOURCE,
        line="param table",
    ),
    checkpoint(
        "dtype",
        "E5002",
        "`layers.0.shift` is f32, `l0.b` in",
        tensor("two", "l0.b", np.zeros(2, np.float16)),
        PARAMETERS,
        touches="l0.b",
        file=SOURCE,
        line="param shift",
    ),
    checkpoint(
        "tensor that is gone",
        "E5003",
        "`l1.s`, said to be in `two.safetensors`",
        tensor("two", "l1.s", None),
        FILES,
        touches="l1.s",
    ),
    checkpoint(
        "tensor that is not listed",
        "E5003",
        "`l0.s` in `one.safetensors`",
        index(' "l0.s": "one.safetensors",\n', ""),
    ),
    checkpoint(
        "kind of a file's name",
        "E5003",
        "tensor `l0.b` must have a file's name, not the number 3",
        index('"l0.b": "two.safetensors"', '"l0.b": 3'),
        hides=((FILES, "a file that is not named may have it"),),
    ),
    checkpoint(
        "file that is missing",
        "E5003",
        "is missing: `gone.safetensors`",
        extra("gone", b""),
        hides=((FILES, "the missing file may have it"),),
    ),
    checkpoint(
        "header",
        "E5003",
        "bad.safetensors: 3 bytes are too few",
        extra("bad", b"abc"),
        hides=((FILES, "the broken file may have it"),),
    ),
    checkpoint(
        "circle",
        "E5003",
        "`round.safetensors` is part of a circle of links",
        extra("round", None),
        hides=((FILES, "what the link was to lead to may have it"),),
    ),
)
