"""The parser's tables: built from `linnet.lark` by Lark, kept between runs in a cache file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from lark import Lark
from lark import __version__ as lark_version
from lark.lexer import Lexer

from linnet.syntax.build import Builder

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


class TokenFeed(Lexer):
    """Hands ready tokens to the parser; the work was done in `lexer.py` and `resolve.py`."""

    __future_interface__ = 2

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Any]:
        return iter(lexer_state.text)


def cache_folder() -> Path | None:
    """A folder of this user alone for what can be rebuilt; None where there is no such place."""
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "linnet"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The tables are unpickled, so nobody else may have written them.
        state = folder.stat()
        private = not state.st_mode & 0o022 and (os.name != "posix" or state.st_uid == os.getuid())
        return folder if private and os.access(folder, os.W_OK) else None
    except (OSError, RuntimeError):
        return None


def build(cache_file: Path | None, builder: Builder | None) -> Lark:
    """The parser, from `cache_file` where that fits. `strict` refuses a conflict in the grammar.
    Without a builder it gives trees of all tokens."""
    return Lark(
        GRAMMAR.read_text(encoding="utf-8"),
        parser="lalr",
        lexer=TokenFeed,
        strict=True,
        start=sorted(set(RULES.values())),
        keep_all_tokens=True,
        maybe_placeholders=False,
        transformer=builder,
        cache=str(cache_file) if cache_file is not None else False,
    )


@cache
def parser() -> Lark:
    """The parser of this process; what it gives are nodes of `linnet.syntax.ast`."""
    return _cached(Builder())


@cache
def tree_parser() -> Lark:
    """The same for trees that have every token, named as the grammar names its alternatives."""
    return _cached(None)


def _cached(builder: Builder | None) -> Lark:
    folder = cache_folder()
    if folder is None:
        return build(None, builder)
    made_of = f"{GRAMMAR.read_text(encoding='utf-8')} {lark_version} {sys.version_info[:2]}"
    file = folder / f"grammar-{sha256(made_of.encode()).hexdigest()[:16]}.pickle"
    if file.exists():
        return build(file, builder)
    # Written under a name of its own first: another process must not read half of it.
    own = file.with_suffix(f".{os.getpid()}")
    made = build(own, builder)
    with suppress(OSError):
        own.replace(file)
    return made
