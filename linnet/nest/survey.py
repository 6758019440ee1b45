"""A card against its own source, under its generics: everything that needs no checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from linnet.check.typed import Program
from linnet.lower.bindings import GenericValue
from linnet.lower.instances import Instance, entries, parameters, signature, violations
from linnet.nest.bindings import Bindings, load_bindings
from linnet.nest.card import Card
from linnet.nest.match import ParameterDecl, match, present
from linnet.nest.mxfp4 import check_count, count_parameters
from linnet.nest.words import did_you_mean, size_text
from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic, Related, Sink
from linnet.source.errors import LinnetError
from linnet.source.files import Span

SIZES = {"bool": 1, "8": 1, "16": 2, "32": 4, "64": 8}


@dataclass(frozen=True, slots=True)
class Survey:
    """A card that fits its source. `root` is the root block's key in `program`."""

    card: Card
    program: Program
    root: str
    generics: dict[str, GenericValue]
    bindings: Bindings
    instances: tuple[Instance, ...]

    @property
    def parameters(self) -> list[ParameterDecl]:
        """What the checkpoint is to hold; optional ones that may be absent included."""
        return [
            ParameterDecl(i.path, i.shape, i.dtype, i.optional, i.span)
            for i in self.instances
            if i.kind == "param"
        ]

    @property
    def bound(self) -> list[ParameterDecl]:
        """The parameters that this card's checkpoint has."""
        return present(self.parameters, self.bindings)

    @property
    def states(self) -> list[Instance]:
        return [i for i in self.instances if i.kind == "state"]

    @property
    def weights(self) -> int:
        """How many weights the bound parameters hold, MXFP4 counted by weight."""
        return count_parameters(self.tensors)

    @property
    def tensors(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """Shape and dtype of what this card's checkpoint has, by the names there."""
        return {self.bindings.get(p.path, p.path): (p.shape, p.dtype) for p in self.bound}

    def entries(self) -> dict[str, str]:
        """Each entry's name and its type under the generics."""
        names = entries(self.program, self.root)
        return {n: signature(self.program, self.root, self.generics, n) for n in names}


def survey(
    card: Card,
    sink: Sink,
    generics: Mapping[str, GenericValue] | None = None,
    program: Program | None = None,
) -> Survey | None:
    """Checks the card's source, root, entry, generics, `where` clauses and bindings.

    `generics` override the card's. Everything wrong is reported; None if something is.
    `program` is the card's source where it was checked without errors already.
    """
    before = sink.errors
    if program is None:
        result = check_paths([card.source])
        for finding in result.sink:
            sink.add(finding)
        if sink.errors > before:
            return None
        program = result.program
    bindings = load_bindings(card, sink)
    root = _root(card, program, sink)
    if root is None or bindings is None:
        return None
    given: dict[str, GenericValue] = {**card.generics, **(generics or {})}
    instances = _instances(card, program, root, given, sink)
    if instances is None:
        return None
    found = Survey(card, program, root, given, bindings, instances)
    report = match(
        found.parameters, bindings, None, tied=card.weights.tied, overridden=generics is not None
    )
    for finding in report.problems:
        sink.add(finding)
    _check_numbers(found, sink)
    if not generics and sink.errors == before:
        check_count(card, found.tensors, sink)
    return found if sink.errors == before else None


def nbytes(shape: tuple[int, ...], dtype: str) -> int:
    """The bytes of a tensor of the language."""
    return prod(shape) * SIZES[dtype.lstrip("biuf") or dtype]


def size(parts: list[ParameterDecl] | list[Instance]) -> str:
    """What they take together, in words."""
    return size_text(sum(nbytes(p.shape, p.dtype) for p in parts))


def _root(card: Card, program: Program, sink: Sink) -> str | None:
    """The key of the root block, which has the card's entry."""
    module = _module(card, program)
    key = f"{module}::{card.root}"
    if key not in program.blocks:
        blocks = [k.rpartition("::")[2] for k in program.blocks if k.startswith(f"{module}::")]
        message = f"`{module}` has no block `{card.root}`"
        place = card.toml.value("source", "root")
        sink.add(Diagnostic("E5001", message, place, help=did_you_mean(card.root, blocks)))
        return None
    names = entries(program, key)
    if card.entry not in names:
        message = f"`{card.root}` has no entry `{card.entry}`"
        hint = did_you_mean(card.entry, names) or f"its entries: {', '.join(names) or 'none'}"
        place = card.toml.value("source", "entry")
        sink.add(Diagnostic("E5001", message, place, help=hint))
        return None
    return key


def _module(card: Card, program: Program) -> str:
    """The key of the module in the card's source file."""
    path = card.source.resolve()
    for block in program.blocks.values():
        if Path(block.span.file.path).resolve() == path:
            return block.key.rpartition("::")[0]
    return program.roots[0] if program.roots else ""


def _instances(
    card: Card, program: Program, root: str, generics: dict[str, GenericValue], sink: Sink
) -> tuple[Instance, ...] | None:
    """The members of the whole tree under the generics; None if these do not fit."""
    if not _check_generics(card, program, root, generics, sink):
        return None
    try:
        broken = violations(program, root, generics)
        for v in broken:
            where = f"of `{v.path}` " if v.path else ""
            message = f"`{v.relation}` {where}does not hold: {v.values}"
            place = card.toml.key("generics")
            related = (Related(v.span, "stated here"),)
            sink.add(Diagnostic("E5002", message, place, "under these generics", related))
        return None if broken else tuple(parameters(program, root, generics))
    except LinnetError as error:
        for finding in error.diagnostics:
            sink.add(finding)
        return None


def _check_generics(
    card: Card, program: Program, root: str, generics: dict[str, GenericValue], sink: Sink
) -> bool:
    """Each name must be a generic of the root, and each generic without a default be named."""
    before = sink.errors
    declared = {g.name: g for g in program.blocks[root].generics}
    for name in generics:
        if name not in declared:
            place = _place(card, name)
            message = f"`{card.root}` has no generic `{name}`"
            hint = did_you_mean(name, declared) or f"it has {', '.join(declared) or 'none'}"
            sink.add(Diagnostic("E5001", message, place, help=hint))
    for name, generic in declared.items():
        if name not in generics and generic.default is None:
            message = f"no value for the generic `{name}` of `{card.root}`"
            related = (Related(generic.span, "declared here, without a default"),)
            place = card.toml.key("generics")
            sink.add(Diagnostic("E5001", message, place, related=related))
    return sink.errors == before


def _place(card: Card, name: str) -> Span | None:
    """Where the card gives a generic; nowhere if the user gave it."""
    return card.toml.key("generics", name) if name in card.generics else None


def _check_numbers(found: Survey, sink: Sink) -> None:
    """The names in `[check]` are generics of an entry."""
    functions = [
        found.program.functions[k] for k in found.program.blocks[found.root].methods.values()
    ]
    known = {g.name for f in functions if f.kind == "entry" for g in f.generics}
    for name in found.card.check:
        if name not in known:
            message = f"no entry of `{found.card.root}` has a generic `{name}`"
            place = found.card.toml.key("check", name)
            hint = did_you_mean(name, known)
            sink.add(Diagnostic("E5001", message, place, help=hint))
