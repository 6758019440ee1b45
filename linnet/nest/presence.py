"""Which optional members a model has: the checkpoint's names, or the bindings, decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from linnet.lower.bindings import bind
from linnet.lower.presence import presence_of
from linnet.nest.program import CardProgram

Present = Callable[[str], bool]


def presence(paths: Iterable[str]) -> Present:
    """Whether an optional member is there, when the parameters at `paths` are: a block is there
    if one of its parameters is."""
    known: set[str] = set()
    for path in paths:
        while path and path not in known:
            known.add(path)
            path = path.rpartition(".")[0]
    return known.__contains__


def refuse_split(program: CardProgram, present: Present) -> None:
    """Raises LinnetError (E5002) if blocks of an array differ in their optional members."""
    bound = bind(program.block.generics, program.generics)
    presence_of(program.program, program.root, bound, present)
