"""The keys of a `nest.toml`: one row each, and the check of a file against them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, Literal, TypeAlias, cast

from linnet.dtypes import BY_NAME
from linnet.nest.words import kind
from linnet.packages.toml_file import Key, TomlFile
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.shown import shown
from linnet.source.suggest import closest


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value must be: `accepts` answers, `wanted` says it in words."""

    wanted: str
    accepts: Callable[[Any], bool]


# Whether a table or key has to be there. A `published` one has to where the checkpoint is.
Need: TypeAlias = Literal["required", "optional", "published"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table's keys; `others` is the rule of keys that the card's author names."""

    need: Need
    keys: Mapping[str, tuple[Need, Rule]]
    others: Rule | None = None


def is_integer(value: Any) -> bool:
    """An integer of TOML; Python counts `true` as one, TOML does not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_list_of(accepts: Callable[[Any], bool], value: Any) -> bool:
    return isinstance(value, list) and all(accepts(v) for v in cast("list[Any]", value))


def is_inside(value: Any) -> bool:
    """A relative path, with `/`, that cannot lead out of the folder it starts from."""
    if not isinstance(value, str) or not value or "\\" in value or "\0" in value:
        return False
    path = PurePosixPath(value)
    parts = value.split("/")
    return not (path.is_absolute() or PureWindowsPath(value).drive or {"", ".", ".."} & {*parts})


def _matches(pattern: str) -> Callable[[Any], bool]:
    compiled = re.compile(pattern)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


TEXT = Rule("a text that is not empty", lambda v: isinstance(v, str) and bool(v.strip()))
TEXTS = Rule("a list of texts", lambda v: is_list_of(TEXT.accepts, v))
COUNT = Rule("an integer above 0", lambda v: is_integer(v) and v > 0)
SIZE = Rule("an integer from 0 to 2^63 - 1", lambda v: is_integer(v) and 0 <= v < 2**63)
LINK = Rule("a link that begins with https://", _matches(r"https?://\S+"))
NAME = Rule("a name such as `Model`", _matches(r"[A-Za-z_][A-Za-z0-9_]*"))
SOURCE = Rule(
    "the path of a .linnet file inside the card's folder, or inside that of `package`",
    lambda v: is_inside(v) and str(v).endswith(".linnet"),
)
FOLDER = Rule("the path of a folder", lambda v: TEXT.accepts(v) and "\0" not in v)
FILE = Rule("the path of a file inside the card's folder", is_inside)
GENERIC = Rule(
    f"an integer or a dtype ({', '.join(BY_NAME)})",
    lambda v: is_integer(v) or (isinstance(v, str) and v in BY_NAME),
)
REPO = Rule(
    "a repository such as `owner/name`", _matches(r"(?:[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*")
)
COMMIT = Rule("a full commit hash, 40 digits of 0-9 and a-f", _matches(r"[0-9a-f]{40}"))
SHARDS = Rule(
    "a list of one or more .safetensors file names, each once",
    lambda v: (
        is_list_of(lambda f: is_inside(f) and str(f).endswith(".safetensors"), v)
        and 0 < len(v) == len({*v})
    ),
)
TIED = Rule(
    "a list of lists of two or more parameter paths, no path twice",
    lambda v: (
        is_list_of(lambda g: is_list_of(TEXT.accepts, g) and len(g) > 1, v)
        and len(paths := [p for g in v for p in g]) == len({*paths})
    ),
)
TOKENS = Rule(
    "a list of tokens, integers from 0 to 2^31 - 1",
    lambda v: is_list_of(lambda t: is_integer(t) and 0 <= t < 2**31, v),
)

TABLES: Mapping[str, Table] = {
    "model": Table(
        "required",
        {
            "name": ("required", TEXT),
            "title": ("required", TEXT),
            "summary": ("required", TEXT),
            "license": ("required", TEXT),
            "family": ("required", TEXT),
            "tags": ("optional", TEXTS),
            "parameters": ("required", COUNT),
        },
    ),
    "links": Table(
        "published",
        {
            "huggingface": ("published", LINK),
            "github": ("optional", LINK),
            "arxiv": ("optional", LINK),
            "homepage": ("optional", LINK),
        },
    ),
    "source": Table(
        "required",
        {
            "path": ("required", SOURCE),
            "package": ("optional", FOLDER),
            "root": ("required", NAME),
            "entry": ("required", NAME),
        },
    ),
    "generics": Table("optional", {}, GENERIC),
    "check": Table("optional", {}, SIZE),
    "tiny": Table("optional", {}, GENERIC),
    "generate": Table(
        "optional",
        {
            "prefill": ("optional", NAME),
            "decode": ("optional", NAME),
            "length": ("optional", NAME),
            "eos": ("optional", TOKENS),
        },
    ),
    "weights": Table(
        "required",
        {
            "repo": ("published", REPO),
            "revision": ("published", COMMIT),
            "files": ("required", SHARDS),
            "bindings": ("optional", FILE),
            "tied": ("optional", TIED),
        },
    ),
}

# The keys that say where a checkpoint is published. A card with none of them ships its own.
PUBLISHED = (
    ("weights", "repo"),
    ("weights", "revision"),
    ("links", "huggingface"),
)


def check_keys(file: TomlFile, sink: Sink) -> set[Key]:
    """Report each unknown, missing and ill-typed key of the file as E5001.

    Returns what is not known for that: `(table,)` or `(table, key)`.
    """
    wrong: set[Key] = set()
    meant: set[str] = set()
    needed: set[Need] = {"required", "published"} if _is_published(file) else {"required"}
    for name, value in file.values.items():
        if name not in TABLES:
            what = "table" if isinstance(value, dict) else "key"
            meant |= _unknown(file, (name,), f"unknown {what} {shown(name)}", TABLES, sink)
    for name, table in TABLES.items():
        value = file.values.get(name)
        if isinstance(value, dict):
            found = _check_table(file, name, cast("dict[str, Any]", value), needed, sink)
            wrong.update((name, key) for key in found)
        elif value is not None:
            message = f"`{name}` must be a table: write `[{name}]` on a line of its own"
            sink.add(Diagnostic("E5001", message, file.key(name)))
            wrong.add((name,))
        elif name in meant:
            wrong.add((name,))
        elif table.need in needed:
            keys = ", ".join(f"`{k}`" for k, (need, _) in table.keys.items() if need in needed)
            message = f"the table `[{name}]` is missing"
            sink.add(Diagnostic("E5001", message, file.key(), help=f"add it with {keys}"))
            wrong.add((name,))
    return wrong


def _is_published(file: TomlFile) -> bool:
    """Whether the card has one of the keys that say where; the others are then missing."""

    def has(table: str, key: str) -> bool:
        values = file.values.get(table)
        return isinstance(values, dict) and key in values

    return any(has(table, key) for table, key in PUBLISHED)


def _check_table(
    file: TomlFile, name: str, values: dict[str, Any], needed: set[Need], sink: Sink
) -> set[str]:
    """Report what is wrong in a table. Returns the keys whose values are not known for that."""
    table = TABLES[name]
    wrong: set[str] = set()
    meant: set[str] = set()
    for key, value in values.items():
        rule = table.keys[key][1] if key in table.keys else table.others
        if rule is None:
            message = f"unknown key {shown(key)} in `[{name}]`"
            meant |= _unknown(file, (name, key), message, table.keys, sink)
            continue
        if key not in table.keys and not NAME.accepts(key):
            message = f"{shown(key)} in `[{name}]` is no name of a generic"
            sink.add(Diagnostic("E5001", message, file.key(name, key)))
            wrong.add(key)
        if not rule.accepts(value):
            wrong.add(key)
            message = f"{shown(key)} in `[{name}]` must be {rule.wanted}"
            sink.add(Diagnostic("E5001", message, file.value(name, key), f"this is {kind(value)}"))
    for key, (need, rule) in table.keys.items():
        if need in needed and key not in values and key not in meant:
            wrong.add(key)
            message = f"`[{name}]` lacks the key `{key}`"
            hint = f"add `{key} = ...`, {rule.wanted}"
            sink.add(Diagnostic("E5001", message, file.key(name), help=hint))
    return wrong | (meant - values.keys())


def _unknown(file: TomlFile, at: Key, message: str, known: Iterable[str], sink: Sink) -> set[str]:
    """Report a key. Returns those that may have been meant, which are then not missing."""
    near = closest(str(at[-1]), known)
    hint = f"known here: {', '.join(known)}" if near is None else f"did you mean {shown(near)}?"
    sink.add(Diagnostic("E5001", message, file.key(*at), help=hint))
    return set() if near is None else {near}
