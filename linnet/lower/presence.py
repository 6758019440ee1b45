"""Which optional members a model has: asked once, then a table that functions share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from linnet.check.typed import Program, TBlock, TMemberDecl, TSub
from linnet.lower.bindings import Bound, sub_bindings, sub_count
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError

Presence = tuple[tuple[tuple[str, ...], bool], ...]
"""For every optional member of a block: its path, array elements left out, and whether it is
there."""


def presence_of(
    program: Program, block: str, scope: Bound, present: Callable[[str], bool]
) -> Presence:
    """Ask `present` about every optional member of the tree under `block`.

    Raises LinnetError (E5002) with all those that only some elements of an array have.
    """
    found: dict[tuple[str, ...], bool] = {}
    split: list[Diagnostic] = []
    waiting = [_Level(program.blocks[block], scope, (), [""])]
    while waiting:
        level = waiting.pop()
        found.update(_ask(level, present, split))
        subs = [s for s in level.block.subs.values() if found.get((*level.pattern, s.name), True)]
        waiting += [_inside(program, level, sub) for sub in reversed(subs)]
    if split:
        raise LinnetError(split)
    return tuple(found.items())


def below(presence: Presence, name: str) -> Presence:
    """The part of the table that concerns the sub block `name`, seen from there."""
    return tuple((p[1:], there) for p, there in presence if len(p) > 1 and p[0] == name)


def is_present(presence: Presence, name: str) -> bool:
    """Whether the optional member `name` of the block itself is there."""
    return next((there for p, there in presence if p == (name,)), False)


@dataclass(frozen=True, slots=True)
class _Level:
    """A block of the tree under these generics: its path, array elements left out, and the
    beginnings of the paths of its members in all of its instances."""

    block: TBlock
    scope: Bound
    pattern: tuple[str, ...]
    paths: Sequence[str]


def _ask(
    level: _Level, present: Callable[[str], bool], split: list[Diagnostic]
) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Every optional member of the block itself. What is wrong with it is added to `split`."""
    for member in (*level.block.members.values(), *level.block.subs.values()):
        if member.optional:
            answers = {present(p + member.name): p for p in reversed(level.paths)}
            if len(answers) == 2:
                split.append(_split(member, answers[True], answers[False]))
            yield (*level.pattern, member.name), True in answers


def _inside(program: Program, level: _Level, sub: TSub) -> _Level:
    """A sub block of a block, all elements of an array in one."""
    inner = [p + sub.name for p in level.paths]
    count = sub_count(sub, level.scope)
    if count is not None:
        number = count.as_int()
        inner = [f"{p}.{i}" for p in inner for i in range(1 if number is None else number)]
    block = program.blocks[sub.block]
    bound = sub_bindings(block, sub, level.scope)
    return _Level(block, bound, (*level.pattern, sub.name), [f"{p}." for p in inner])


def _split(member: TMemberDecl | TSub, has: str, lacks: str) -> Diagnostic:
    """Only one of two blocks of an array, which begin with these paths, has the member."""
    return Diagnostic(
        "E5002",
        f"`{has}{member.name}` is there and `{lacks}{member.name}` is not",
        member.span,
        label="this member",
        notes=("the blocks of an array have the same optional members",),
    )
