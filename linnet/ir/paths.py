"""What a path of a member or block must look like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

Path = tuple[str | int, ...]
Loops = Mapping[str, Path]
"""The variables of the `each`es around, with the `$`, and the array that each goes through."""


def check_path(path: Path, loops: Loops, *, member: bool) -> Iterator[str]:
    """Everything wrong with a path; that of a `member` ends in its name."""
    for k, part in enumerate(path):
        if not _is_element(part):
            if part == "":
                yield f"a name in {path} is empty"
        elif k == 0 or _is_element(path[k - 1]):
            yield f"{part} in {path} is no element of an array"
        elif isinstance(part, int):
            if part < 0:
                yield f"{part} is no number of a block"
        elif part not in loops:
            yield f"no `each` around it has the variable {part}"
        elif loops[part] != path[:k]:
            yield f"{part} goes through {loops[part]}, not {path[:k]}"
    if member and (not path or _is_element(path[-1])):
        yield f"{path} names no member"


def check_loop(name: str, loops: Loops) -> Iterator[str]:
    """Everything wrong with the variable of an `each` inside those of `loops`."""
    if not name.isidentifier():
        yield f"the variable {name!r} is no identifier"
    if f"${name}" in loops:
        yield f"an `each` around it has the variable ${name}, too"


def _is_element(part: str | int) -> bool:
    return isinstance(part, int) or part.startswith("$")
