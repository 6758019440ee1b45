"""A card against its own source and bindings: everything that needs no checkpoint."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from linnet.lower.instances import Instance, signature
from linnet.nest.bindings import Bindings, load_bindings
from linnet.nest.card import Card
from linnet.nest.match import ParameterDecl, match, present, tie
from linnet.nest.mxfp4 import check_count, count_parameters
from linnet.nest.program import CardProgram, Generics, check_tiny, open_card
from linnet.nest.words import size_text
from linnet.pipeline import CheckResult
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.suggest import did_you_mean

_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


@dataclass(frozen=True, slots=True)
class Survey:
    """A card that fits its source: its program, bindings, and the parameters that may be bound."""

    program: CardProgram
    bindings: Bindings
    parameters: tuple[ParameterDecl, ...]

    @property
    def card(self) -> Card:
        return self.program.card

    @property
    def bound(self) -> list[ParameterDecl]:
        """The parameters that this card's checkpoint has."""
        return present(self.parameters, self.bindings, self.card.weights.tied)

    @property
    def absent(self) -> list[ParameterDecl]:
        """The optional parameters that it lacks."""
        there = {p.path for p in self.bound}
        return [p for p in self.parameters if p.path not in there]

    @property
    def states(self) -> list[Instance]:
        return [i for i in self.program.instances if i.kind == "state"]

    @property
    def weights(self) -> int:
        """How many weights the bound parameters hold, MXFP4 counted by weight."""
        return count_parameters(self.tensors)

    @property
    def tensors(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """Shape and dtype of what this card's checkpoint has, by the names there."""
        paths = {p.path: p.path for p in self.bound} if self.bindings.implicit else self.bindings
        names = tie(paths, self.card.weights.tied)
        return {names[p.path]: (p.shape, p.dtype) for p in self.bound}

    def entries(self) -> list[str]:
        """Each entry with its type under the card's generics."""
        program = self.program
        return [
            signature(program.program, program.root, program.generics, name)
            for name in program.entries
        ]


def survey(
    card: Card,
    sink: Sink,
    generics: Generics | None = None,
    checked: CheckResult | None = None,
) -> Survey | None:
    """Checks the card's source, root, entry, generics, `where` clauses, bindings and count.

    `generics` override the card's. Everything wrong is reported; None if something is.
    `checked` is its source where that was checked already.
    """
    before = sink.errors
    program = open_card(card, sink, generics, checked)
    bindings = load_bindings(card, sink)
    if program is None or bindings is None:
        return None
    names = None if bindings.implicit else list(bindings)
    found = Survey(program, bindings, tuple(program.declarations(names)))
    overridden = bool(generics)
    report = match(found.parameters, bindings, None, tied=card.weights.tied, overridden=overridden)
    for finding in report.problems:
        sink.add(finding)
    _check_numbers(program, sink)
    if not overridden:
        check_tiny(program, sink)
    if not overridden and sink.errors == before:
        check_count(card, found.tensors, sink)
    return found if sink.errors == before else None


def size(parts: Iterable[ParameterDecl | Instance]) -> str:
    """What these tensors take together, in words."""
    return size_text(nbytes(parts))


def nbytes(parts: Iterable[ParameterDecl | Instance]) -> int:
    """The bytes of these tensors together."""
    return sum(prod(p.shape) * _itemsize(p.dtype) for p in parts)


def _itemsize(dtype: str) -> int:
    return 1 if dtype == "bool" else _BYTES[dtype.lstrip("biuf")]


def _check_numbers(program: CardProgram, sink: Sink) -> None:
    """The names in `[check]` are generics of an entry."""
    functions = (program.program.functions[k] for k in program.block.methods.values())
    known = {g.name for f in functions if f.kind == "entry" for g in f.generics}
    card = program.card
    for name in card.check:
        if name not in known:
            message = f"no entry of `{card.root}` has a generic `{name}`"
            hint = did_you_mean(name, known)
            sink.add(Diagnostic("E5001", message, card.toml.key("check", name), help=hint))
