"""Which token each comment of a file belongs to, and where the author left lines empty.

- A comment on a line of its own, and documentation wherever it is, stands above the token after it.
- A comment at the end of a line belongs to the token before it, as does one before a `,` or a
  closing bracket.
- Any other is a `/* */` in the middle of a line, and stands before the token after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from linnet.syntax.tokens import Comment, Lexed, Token

_NEVER_AFTER = frozenset(["COMMA", "RPAR", "RSQB", "RBRACE"])


@dataclass(frozen=True, slots=True)
class Note:
    """The text of a comment. `kind` is the lexer's; `above`: on a line of its own; `blank`: after
    an empty line."""

    text: str
    kind: str
    above: bool
    blank: bool


@dataclass(slots=True)
class Notes:
    """Comments by the start of their token; those at the end of the file by its length. `blank`
    has the tokens right after an empty line."""

    before: dict[int, list[Note]] = field(default_factory=dict[int, list[Note]])
    after: dict[int, list[Note]] = field(default_factory=dict[int, list[Note]])
    blank: set[int] = field(default_factory=set[int])


def attach(text: str, lexed: Lexed) -> Notes:
    """The comments of a file, each with its token."""
    notes = Notes()
    comments = iter(lexed.comments)
    comment = next(comments, None)
    previous: Token | None = None
    for token in [*lexed.tokens, None]:
        start = token.start if token else len(text)
        between: list[Comment] = []
        while comment is not None and comment.start < start:
            between.append(comment)
            comment = next(comments, None)
        _attach(notes, text, previous, between, token, start)
        previous = token
    return notes


def _attach(
    notes: Notes,
    text: str,
    previous: Token | None,
    comments: list[Comment],
    token: Token | None,
    start: int,
) -> None:
    """Attaches the comments between two tokens."""
    at = previous.end if previous else 0
    ends = [*(c.start for c in comments[1:]), start]
    for comment, end in zip(comments, ends, strict=False):
        lines_before = text.count("\n", at, comment.start)
        ends_line = token is None or "\n" in text[comment.end : end] or comment.kind == "line"
        at = comment.end
        said = text[comment.start : comment.end].replace("\r\n", "\n").rstrip()
        above = comment.kind == "doc" or ends_line
        note = Note(said, comment.kind, above, lines_before > 1)
        same_line = previous is not None and lines_before == 0 and start not in notes.before
        tight = token is not None and token.type in _NEVER_AFTER
        if previous and same_line and comment.kind != "doc" and (ends_line or tight):
            notes.after.setdefault(previous.start, []).append(note)
        else:
            notes.before.setdefault(start, []).append(note)
    if text.count("\n", at, start) > 1:
        notes.blank.add(start)
