"""A card against its own source and bindings, and against a checkpoint's headers where given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from linnet.dtypes import BY_NAME
from linnet.lower.instances import Instance, signature
from linnet.nest.astray import reported
from linnet.nest.bindings import Bindings
from linnet.nest.card import Card
from linnet.nest.match import ParameterDecl, Report, match, tensor_names
from linnet.nest.mxfp4 import check_count, count_parameters
from linnet.nest.opened import Opened
from linnet.nest.presence import presence, refuse_split
from linnet.nest.program import CardProgram, CardRoot, check_tiny
from linnet.nest.text_entries import check_generate
from linnet.nest.words import size_text
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.errors import LinnetError
from linnet.source.suggest import did_you_mean

if TYPE_CHECKING:
    # It brings NumPy, which `linnet check` does without.
    from linnet.nest.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Survey:
    """A card's program and bindings, the parameters that it declares, and how they fit.

    `checkpoint` is what the headers say, if they were read.
    """

    program: CardProgram
    bindings: Bindings
    parameters: tuple[ParameterDecl, ...]
    report: Report
    checkpoint: Checkpoint | None

    @property
    def card(self) -> Card:
        return self.program.card

    @property
    def tied(self) -> tuple[tuple[str, ...], ...]:
        return self.card.weights.tied

    @property
    def bound(self) -> tuple[ParameterDecl, ...]:
        """The parameters that the model has; of an unknown checkpoint, those it must have."""
        return self.report.present

    @property
    def absent(self) -> tuple[ParameterDecl, ...]:
        """The optional parameters that it has not."""
        return self.report.absent

    @property
    def is_open(self) -> bool:
        """Whether some optional ones may be there or not: the checkpoint alone decides and is
        not known, or the bindings are wrong."""
        return not self.report.settled and bool(self.absent)

    @property
    def states(self) -> list[Instance]:
        return [i for i in self.program.instances if i.kind == "state"]

    @property
    def weights(self) -> int:
        """How many weights the bound parameters hold, MXFP4 counted by weight."""
        return self._count(self.bound)

    @property
    def most(self) -> int:
        """How many there are if the checkpoint has all that it may have."""
        return self._count(self.parameters) if self.is_open else self.weights

    def _count(self, parameters: Iterable[ParameterDecl]) -> int:
        there = list(parameters)
        names = tensor_names(there, self.bindings, {p.path for p in there}, self.tied)
        # Without a tensor that is its own, a parameter counts by its path.
        own = {p.path: names.get(p.path, p.path) for p in there}
        own.update((path, path) for path in self.report.shared)
        return count_parameters({own[p.path]: (p.shape, p.dtype) for p in there})

    def entries(self) -> list[str]:
        """Each entry with its type under the card's generics."""
        program = self.program
        return [
            signature(program.program, program.root, program.generics, name)
            for name in program.entries
        ]


def survey(
    opened: Opened,
    sink: Sink,
    checkpoint: Checkpoint | None = None,
    *,
    cast_dtype: bool = False,
    compare: bool = True,
) -> Survey | None:
    """Hold a card's parameters, bindings and headers against each other, and its tables `[check]`,
    `[tiny]` and `[generate]` and its number of weights against its source, and report what does
    not fit.

    Without `compare` the headers only tell which optional parameters there are.
    None where the parameters are not known. Whoever uses a card asks this, so that what is
    refused does not depend on who asks.
    """
    found = _fit(opened, checkpoint, sink, cast_dtype, compare)
    if opened.root is not None:
        _check_numbers(opened.root, sink)
        check_generate(opened.root, sink)
        if not opened.overridden:
            check_tiny(opened.root, sink)
    if found is not None and not opened.overridden and _is_counted(found):
        right = check_count(found.card, found.weights, found.most, sink)
        for finding in () if right else reported(found.report):
            sink.add(finding)
    return found


def _is_counted(found: Survey) -> bool:
    """Whether the number of weights is given, and what there is to count is known."""
    given = found.card.knows("model", "parameters")
    return given and found.card.knows("weights", "tied") and found.report.countable


def _fit(
    opened: Opened, checkpoint: Checkpoint | None, sink: Sink, cast_dtype: bool, compare: bool
) -> Survey | None:
    program, bindings = opened.program, opened.bindings
    if program is None:
        return None
    names = checkpoint.tensors if checkpoint and bindings.implicit else bindings.paths()
    parameters = tuple(program.declarations(names))
    report = match(
        parameters,
        bindings,
        checkpoint,
        cast_dtype=cast_dtype,
        compare=compare,
        tied=program.card.weights.tied if program.card.knows("weights", "tied") else None,
        aside=program.paths_of_card() if opened.overridden else (),
    )
    for finding in report.problems:
        sink.add(finding)
    if report.settled:
        try:
            refuse_split(program, presence(p.path for p in report.present))
        except LinnetError as error:
            for finding in error.diagnostics:
                sink.add(finding)
            report = replace(report, countable=False)
    return Survey(program, bindings, parameters, report, checkpoint)


def size(parts: Iterable[ParameterDecl | Instance]) -> str:
    """What these tensors take together, in words."""
    return size_text(nbytes(parts))


def nbytes(parts: Iterable[ParameterDecl | Instance]) -> int:
    """The bytes of these tensors together."""
    return sum(prod(p.shape) * BY_NAME[p.dtype].bits // 8 for p in parts)


def _check_numbers(root: CardRoot, sink: Sink) -> None:
    """The names in `[check]` are generics of an entry."""
    functions = (root.program.functions[k] for k in root.block.methods.values())
    known = {g.name for f in functions if f.kind == "entry" for g in f.generics}
    card = root.card
    for name in card.check:
        if name not in known:
            message = f"no entry of `{card.root}` has a generic `{name}`"
            hint = did_you_mean(name, known)
            sink.add(Diagnostic("E5001", message, card.toml.key("check", name), help=hint))
