"""`linnet inspect --tokens` and `--ast`: a text as the lexer and the parser read it.

Nothing is resolved: mistakes that are not of the syntax do not matter here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, cast

from linnet.cli.common import sources_at
from linnet.nest.card import card_path
from linnet.packages.sources import source_files
from linnet.packages.text import Names, read_source
from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile, Span
from linnet.source.render import json_span, printable
from linnet.syntax.lexer import lex
from linnet.syntax.nodes import parts_of
from linnet.syntax.parser import parse
from linnet.syntax.tokens import KEYWORDS, RESERVED, Comment, Token

Pages = tuple[str, dict[str, object]]

_KINDS = {"NAME": "name", "INT": "int", "FLOAT": "float", "STRING": "string"}


def tokens(target: str, sink: Sink) -> Pages:
    """The tokens and comments of each source, in the order in which they stand."""
    return _pages(target, sink, "tokens", _lexed, _token_lines)


def trees(target: str, sink: Sink) -> Pages:
    """The syntax tree of each source."""
    return _pages(target, sink, "tree", _tree, _tree_lines)


def _pages(
    target: str,
    sink: Sink,
    key: str,
    read: Callable[[SourceFile, Sink], Any],
    lines: Callable[[Any], Iterator[str]],
) -> Pages:
    """What is read of the sources that `target` stands for; of several, each below its name."""
    path = card_path(target)
    names = Names([path])
    found: list[tuple[str, Any]] = []
    for file in source_files([sources_at(path)], names, sink):
        source = read_source(file, names(file), "E1202", {}, sink)
        if source is not None:
            found.append((source.path, read(source, sink)))
    if sink.errors:
        return "", {}
    texts = ["\n".join(lines(value)) for _, value in found]
    if len(found) > 1:
        heads = [f"{printable(name)}:" for name, _ in found]
        texts = [f"{head}\n{text}\n" for head, text in zip(heads, texts, strict=True)]
    documents = [{"file": name, key: value} for name, value in found]
    return "\n".join(texts).rstrip("\n"), {"files": documents}


# --- tokens ------------------------------------------------------------------


def _lexed(file: SourceFile, sink: Sink) -> list[dict[str, object]]:
    lexed = lex(file, sink)
    parts = sorted([*lexed.tokens, *lexed.comments], key=lambda part: part.start)
    return [_token(file, part) for part in parts]


def _token(file: SourceFile, part: Token | Comment) -> dict[str, object]:
    span = Span(file, part.start, part.end)
    return {"kind": _kind(part), "text": span.text, **_ends(span)}


def _kind(part: Token | Comment) -> str:
    if isinstance(part, Comment):
        return "doc" if part.kind == "doc" else "comment"
    if part.text in KEYWORDS:
        return "keyword"
    return "reserved" if part.text in RESERVED else _KINDS.get(part.type, "sign")


def _token_lines(found: list[dict[str, object]]) -> Iterator[str]:
    for token in found:
        text = printable(json.dumps(token["text"], ensure_ascii=False))
        yield f"{_place(token):<15} {token['kind']:<8} {text}"


# --- trees -------------------------------------------------------------------


def _tree(file: SourceFile, sink: Sink) -> object:
    return _node(parse(file, sink))


def _node(value: Any) -> Any:
    """A node and all below it as a document: `node`, its place, and `fields` in order."""
    if isinstance(value, tuple):
        return [_node(part) for part in cast("tuple[Any, ...]", value)]
    if isinstance(value, frozenset):
        return sorted(cast("frozenset[str]", value))
    parts = {name: getattr(value, name) for name in parts_of(value)}
    if not parts:
        return value
    inner = {name: _node(part) for name, part in parts.items() if not isinstance(part, Span)}
    ends = _ends(cast(Span, parts["span"])) if "span" in parts else _around(inner)
    return {"node": type(value).__name__, **ends, "fields": inner}


def _ends(span: Span) -> dict[str, object]:
    place = json_span(span)
    return {"start": place["start"], "end": place["end"]}


def _around(inner: dict[str, Any]) -> dict[str, object]:
    """The place of a node that has none of its own: that of the nodes in it."""
    nodes: list[Any] = [part for part in inner.values() if isinstance(part, dict)]
    return {"start": nodes[0]["start"], "end": nodes[-1]["end"]}


def _tree_lines(tree: Any, label: str = "", indent: str = "") -> Iterator[str]:
    """`name: Node 1:2-1:5 key=value`, and below it, indented, the nodes in it."""
    inner: dict[str, Any] = tree["fields"]
    plain = {n: v for n, v in inner.items() if v is not None and not isinstance(v, dict | list)}
    values = "".join(
        f" {n}={printable(json.dumps(v, ensure_ascii=False))}" for n, v in plain.items()
    )
    yield f"{indent}{label}{tree['node']} {_place(tree)}{values}"
    for name, value in inner.items():
        for part in cast("list[Any]", value) if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield from _tree_lines(part, f"{name}: ", indent + "  ")
            elif isinstance(value, list):
                yield f"{indent}  {name}: {printable(json.dumps(part, ensure_ascii=False))}"


def _place(part: Any) -> str:
    start, end = part["start"], part["end"]
    return f"{start['line']}:{start['column']}-{end['line']}:{end['column']}"
