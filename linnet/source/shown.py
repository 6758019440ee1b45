"""Names of files and tensors, and what the system says of them, as a report shows them."""

from __future__ import annotations


def shown(name: str, limit: int = 200) -> str:
    """A name from a file in backticks, with nothing in it that a terminal would obey."""
    short = name if len(name) <= limit else name[: limit - 3] + "..."
    return "`" + "".join(c if c.isprintable() else _escaped(c) for c in short) + "`"


def reason(error: OSError) -> str:
    """Why the system refused, in the words that end a message."""
    return (error.strerror or str(error)).lower()


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
