"""Which optional members a model has: asked once, then a table that functions share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from linnet.check.typed import Program, TMemberDecl, TSub
from linnet.lower.bindings import Bound, sub_bindings, sub_count
from linnet.lower.fail import fail

Presence = tuple[tuple[tuple[str, ...], bool], ...]
"""For every optional member of a block: its path, array elements left out, and whether it is
there."""


def presence_of(
    program: Program, block: str, scope: Bound, present: Callable[[str], bool]
) -> Presence:
    """Ask `present` about every optional member of the tree under `block`."""
    found: list[tuple[tuple[str, ...], bool]] = []
    _ask(program, block, scope, present, (), [""], found)
    return tuple(found)


def below(presence: Presence, name: str) -> Presence:
    """The part of the table that concerns the sub block `name`, seen from there."""
    return tuple((p[1:], there) for p, there in presence if len(p) > 1 and p[0] == name)


def is_present(presence: Presence, name: str) -> bool:
    """Whether the optional member `name` of the block itself is there."""
    return next((there for p, there in presence if p == (name,)), False)


def _ask(
    program: Program,
    key: str,
    scope: Bound,
    present: Callable[[str], bool],
    pattern: tuple[str, ...],
    paths: Sequence[str],
    found: list[tuple[tuple[str, ...], bool]],
) -> None:
    block = program.blocks[key]
    for member in block.members.values():
        if member.optional:
            found.append(((*pattern, member.name), _agreed(member, paths, present)))
    for sub in block.subs.values():
        if sub.optional:
            there = _agreed(sub, paths, present)
            found.append(((*pattern, sub.name), there))
            if not there:
                continue
        inner = [p + sub.name for p in paths]
        count = sub_count(sub, scope)
        if count is not None:
            number = count.as_int()
            inner = [f"{p}.{i}" for p in inner for i in range(1 if number is None else number)]
        bound = sub_bindings(program.blocks[sub.block], sub, scope)
        dotted = [f"{p}." for p in inner]
        _ask(program, sub.block, bound, present, (*pattern, sub.name), dotted, found)


def _agreed(
    member: TMemberDecl | TSub, paths: Sequence[str], present: Callable[[str], bool]
) -> bool:
    answers = [(p + member.name, present(p + member.name)) for p in paths]
    for path, there in answers:
        if there != answers[0][1]:
            has, lacks = (path, answers[0][0]) if there else (answers[0][0], path)
            fail(
                "E5002",
                f"`{has}` is there and `{lacks}` is not",
                member.span,
                label="this member",
                notes=("the blocks of an array have the same optional members",),
            )
    return bool(answers) and answers[0][1]
