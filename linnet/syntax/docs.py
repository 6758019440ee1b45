"""What documentation comments say, and what they stand before."""

from __future__ import annotations

from linnet.syntax.tokens import Lexed


def documentation(text: str, lexed: Lexed) -> dict[int, str]:
    """The documentation before each token that has some, under the place where it starts."""
    found: dict[int, list[str]] = {}
    at = 0
    for comment in lexed.comments:
        if comment.kind == "doc":
            while at < len(lexed.tokens) and lexed.tokens[at].start < comment.start:
                at += 1
            if at == len(lexed.tokens):
                break
            said = _said(text[comment.start : comment.end])
            found.setdefault(lexed.tokens[at].start, []).append(said)
    return {place: "\n".join(parts) for place, parts in found.items()}


def _said(comment: str) -> str:
    """A comment without its signs: `///`, or `/**`, `*/` and a `*` at the start of a line."""
    if comment.startswith("///"):
        return comment[3:].rstrip().removeprefix(" ")
    lines = [line.strip().removeprefix("*") for line in comment[3:-2].split("\n")]
    return "\n".join(line.removeprefix(" ").rstrip() for line in lines).strip("\n")
