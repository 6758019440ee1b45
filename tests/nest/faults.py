"""Single faults of a card and its checkpoint, what is reported of each, and the few that keep
others from being seen. `test_one_report.py` tries them alone and in pairs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from tests.nest import small
from tests.nest.small import BINDINGS, write_card, write_weights

INDEX = "model.safetensors.index.json"
TOML, LIST, SOURCE = "nest.toml", "bindings.json", "src/lib.linnet"
Edit = tuple[str, str, str]
SMALL = ("[check]", '[tiny]\nVocab = 3\n\n[generate]\nlength = "Vocab"\n\n[check]')


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
    are the needs of findings that cannot be made beside it."""

    name: str
    finds: tuple[Finding, ...]
    edits: tuple[Edit, ...] = ()
    spoil: Callable[[Path], None] | None = None
    touches: str = ""
    hides: tuple[str, ...] = ()


def build(parent: Path, faults: tuple[Fault, ...]) -> tuple[Path, Path]:
    """The folders of the card and of the checkpoint with all the faults."""
    parent.mkdir()
    card = write_card(parent, SMALL)
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
# the names of the generics, all ties, the whole file of bindings, all files of the checkpoint.
PARAMETERS, TINY, COUNT, GENERICS = "parameters", "tiny", "count", "generics"
TIES, REST, FILES = "ties", "rest", "files"
# The block is not known.
NO_ROOT = (PARAMETERS, TINY, COUNT, "root")
# A source with errors has no blocks.
NO_SOURCE = (*NO_ROOT, "source")
# A number that shapes come from is not known.
NO_SHAPES = (PARAMETERS, COUNT, TINY)


def key(
    name: str, old: str, new: str, text: str, *needs: str, hides: tuple[str, ...] = ()
) -> Fault:
    """A fault of a key in `nest.toml`, found in the last line of what is written for it."""
    line = new.strip().splitlines()[-1]
    found = (Finding("E5001", text, TOML, line, frozenset(needs)),)
    return Fault(name, found, ((TOML, old, new),), hides=hides)


def no_table(name: str, hides: tuple[str, ...] = ()) -> Fault:
    """A list where a table belongs. It stands for the whole table, so that it is tried with no
    other fault of this table."""
    (old,) = (t for t in small.TOML.replace(*SMALL).split("\n\n") if t.startswith(f"[{name}]"))
    text = f"`{name}` must be a table: write `[{name}]` on a line of its own"
    return key(f"no table {name}", old, f"[[{name}]]", text, hides=hides)


def checkpoint(
    name: str,
    code: str,
    text: str,
    spoil: Callable[[Path], None],
    *needs: str,
    touches: str = "",
    file: str | None = None,
    line: str = "",
    hides: tuple[str, ...] = (),
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
        # The numbers are in a table that is not known.
        hides=("check",),
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
    key("root", 'root = "Model"', 'root = "Modle"', "`Modle` is no block", "source", hides=NO_ROOT),
    key(
        "path",
        '"src/lib.linnet"',
        '"src/libs.linnet"',
        "the source file `src/libs.linnet`",
        "package",
        hides=NO_SOURCE,
    ),
    key(
        "package",
        "[source]\n",
        '[source]\npackage = "../none"\n',
        "no package at `../none`",
        # Where the file would be is not known.
        hides=(*NO_SOURCE, "package"),
    ),
    key(
        "generic of a wrong kind",
        "H = 2\n",
        'H = "f32"\n',
        "`H` is a dimension",
        "root",
        hides=NO_SHAPES[:2],
    ),
    key(
        "misspelt generic",
        "Layers = 2",
        "Layres = 2",
        "`Model` has no generic `Layres`",
        "root",
        hides=NO_SHAPES,
    ),
    key(
        "entry",
        'entry = "forward"',
        'entry = "forwrd"',
        "`Model` has no entry `forwrd`",
        "root",
    ),
    key(
        "stray generic",
        'T = "f32"',
        'T = "f32"\nNothing = 1',
        "`Model` has no generic `Nothing`",
        "root",
    ),
    key("check", "S = 8", "Z = 8", "no entry of `Model` has a generic `Z`", "root", "check"),
    key("kind of check", "S = 8", 'S = "x"', "`S` in `[check]` must be", "check"),
    key("tiny", "Vocab = 3", "Vocabs = 3", "`Vocabs` in `[tiny]` is not among", GENERICS),
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
    key(
        "generate",
        'length = "Vocab"',
        'prefill = "remembr"',
        "`Model` has no entry `remembr`",
        "root",
        "generate",
    ),
    key(
        "kind of generate",
        'length = "Vocab"',
        'length = "Vocab"\neos = 3',
        "`eos` in `[generate]`",
        "generate",
    ),
    key(
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
        # The number is not known.
        hides=(COUNT,),
    ),
    no_table("model", hides=(COUNT,)),
    no_table("links"),
    no_table("source", hides=NO_ROOT),
    no_table("generics", hides=(*NO_SHAPES, GENERICS)),
    no_table("check", hides=("check",)),
    no_table("tiny", hides=(TINY,)),
    no_table("generate", hides=("generate",)),
    no_table("weights", hides=(COUNT, TIES)),
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
                frozenset({PARAMETERS, REST, TIES}),
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
        # There may be bindings in what is no JSON.
        hides=(REST,),
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
        # A file that is not named may have it.
        hides=(FILES,),
    ),
    checkpoint(
        "file that is missing",
        "E5003",
        "is missing: `gone.safetensors`",
        extra("gone", b""),
        # The missing file may have it.
        hides=(FILES,),
    ),
    checkpoint(
        "header",
        "E5003",
        "bad.safetensors: 3 bytes are too few",
        extra("bad", b"abc"),
        # The broken file may have it.
        hides=(FILES,),
    ),
    checkpoint(
        "circle",
        "E5003",
        "`round.safetensors` is part of a circle of links",
        extra("round", None),
        # What the link was to lead to may have it.
        hides=(FILES,),
    ),
)
