"""The parser's tables: made of `linnet.lark` once, and kept between runs in a cache file."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from linnet.syntax.build import Builder
from linnet.syntax.lalr import Parser, Rule, Tables

# The rule that reads each kind of unit.
RULES: dict[str, str] = {
    "MODULE": "header",
    "USE": "use_decl",
    "FN": "function",
    "OP": "function",
    "ENTRY": "function",
    "BLOCK": "block_head",
    "MEMBER": "member",
    "STRUCT": "struct_decl",
    "ENUM": "enum_decl",
    "TYPE": "alias_decl",
    "CONST": "const_decl",
}
GRAMMAR = Path(__file__).with_name("linnet.lark")
# In the name of a cache file; another form of `Tables` needs another number.
_FORM = 1


@cache
def parser() -> Parser:
    """The parser of this process; what it gives are nodes of `linnet.syntax.ast`."""
    builder = Builder()
    return Parser.of(tables(), lambda name: getattr(builder, name))


@cache
def tables() -> Tables:
    """The tables of the grammar, from the cache where they are there."""
    text = GRAMMAR.read_text(encoding="utf-8")
    folder = cache_folder()
    made_of = sha256(text.encode()).hexdigest()[:16]
    file = folder / f"grammar-{_FORM}-{made_of}.json" if folder else None
    found = _kept(file) if file else None
    if found is None:
        found = make(text)
        if file is not None:
            _keep(file, found)
    return found


def make(text: str) -> Tables:
    """The tables of a grammar."""
    # Imported here: where the tables are kept, nobody waits for Lark.
    from linnet.syntax.grammar import read_grammar, tables_of

    return tables_of(read_grammar(text, sorted(set(RULES.values()))))


def cache_folder() -> Path | None:
    """A folder of this user alone for what can be rebuilt; None where there is no such place."""
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "linnet"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # What is read from here decides what a text means, so nobody else may have written it.
        state = folder.stat()
        private = not state.st_mode & 0o022 and (os.name != "posix" or state.st_uid == os.getuid())
        return folder if private and os.access(folder, os.W_OK) else None
    except (OSError, RuntimeError):
        return None


def _kept(file: Path) -> Tables | None:
    """The tables of a cache file; None if it is not there, or broken."""
    try:
        rules, *rest = json.loads(file.read_bytes())
        return Tables([Rule(*rule) for rule in rules], *rest)
    except (OSError, ValueError, TypeError):
        return None


def _keep(file: Path, made: Tables) -> None:
    # Written under a name of its own first: another process must not read half of it.
    own = file.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        own.write_text(json.dumps(made), encoding="utf-8")
        own.replace(file)
