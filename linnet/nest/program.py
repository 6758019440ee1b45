"""A card's sources under its generics: checked, its root bound, its parameters and states listed.

Nothing here reads a checkpoint: `linnet nest show` and `linnet explain` need no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from linnet.check.typed import Program, TBlock, TGeneric
from linnet.dims.dims import sorted_symbols
from linnet.lower.bindings import GenericValue, known, misfit, unknown_names
from linnet.lower.instances import Instance, Violation, entries, parameters, violations
from linnet.nest import words
from linnet.nest.card import Card
from linnet.nest.match import ParameterDecl
from linnet.pipeline import CheckResult, check_paths
from linnet.source.diagnostics import Diagnostic, Related, Sink
from linnet.source.errors import LinnetError
from linnet.source.files import Span
from linnet.source.suggest import did_you_mean

Generics = Mapping[str, int | str]

_PACK = "a shape pack, which a card cannot bind"


@dataclass(frozen=True, slots=True)
class CardProgram:
    """`root` is the key of the root block in `program`; `generics` binds all its generics."""

    card: Card
    program: Program
    root: str
    generics: dict[str, GenericValue]
    instances: tuple[Instance, ...]

    @property
    def block(self) -> TBlock:
        return self.program.blocks[self.root]

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of the entries, in order of declaration."""
        return tuple(entries(self.program, self.root))

    def declarations(self, names: Iterable[str]) -> list[ParameterDecl]:
        """The parameters and buffers. `names` are the paths that something is bound to: the
        parameters of an optional block are required once one of them is bound."""
        bound = frozenset(names)
        return [
            ParameterDecl(i.path, i.shape, i.dtype, _may_be_absent(i, bound), i.span)
            for i in self.instances
            if i.kind != "state"
        ]

    def paths_of_card(self) -> frozenset[str]:
        """The paths of the parameters under the card's own generics, nothing overridden."""
        try:
            found = parameters(self.program, self.root, self.card.generics)
        except LinnetError:
            return frozenset()
        return frozenset(i.path for i in found)


def _may_be_absent(instance: Instance, names: frozenset[str]) -> bool:
    holder = instance.holder
    without = holder is not None and not any(n.startswith(f"{holder}.") for n in names)
    return instance.optional or without


def open_card(
    card: Card,
    sink: Sink,
    overrides: Generics | None = None,
    checked: CheckResult | None = None,
) -> CardProgram | None:
    """The card's program under its generics, `overrides` winning; None if something is wrong,
    which is then in `sink`. `checked` is its source, found right, where that was checked."""
    result = checked or check_source(card.source, card.directory, sink)
    if result is None:
        return None
    module = _module(card, result)
    root = _root(card, result.program, module, sink)
    if root is None:
        return None
    generics = _generics(card, result.program.blocks[root], overrides or {}, sink)
    if generics is None:
        return None
    try:
        broken = violations(result.program, root, generics)
        for violation in broken:
            sink.add(_violated(card, violation, overrides or {}))
        if broken:
            return None
        found = tuple(parameters(result.program, root, generics))
    except LinnetError as error:
        for diagnostic in error.diagnostics:
            sink.add(diagnostic)
        return None
    return CardProgram(card, result.program, root, generics, found)


def check_source(path: Path, folder: Path, sink: Sink) -> CheckResult | None:
    """The program of a file or folder of a card's; None if it has errors, which are then in
    `sink`."""
    result = check_paths([path], folder=folder)
    for diagnostic in result.sink:
        if diagnostic.severity == "error":
            sink.add(diagnostic)
    return None if result.sink.errors else result


def check_tiny(opened: CardProgram, sink: Sink) -> None:
    """Reports, at the card's table `[tiny]`, what keeps its generics from making a model."""
    card = opened.card
    found = Sink()
    values = _generics(card, opened.block, card.tiny, found)
    try:
        broken = [] if values is None else violations(opened.program, opened.root, values)
        for violation in broken:
            found.add(_violated(card, violation, card.tiny))
        if values is not None and not broken:
            parameters(opened.program, opened.root, values)
    except LinnetError as error:
        for diagnostic in error.diagnostics:
            found.add(diagnostic)
    for diagnostic in found:
        related = diagnostic.related
        if diagnostic.span is not None:
            related = (Related(diagnostic.span, "here"), *related)
        sink.add(replace(diagnostic, span=card.place("tiny"), related=related))


def _module(card: Card, result: CheckResult) -> str:
    """The key of the module in the card's source file."""
    source = card.source.resolve()
    return next(m.key for m in result.graph.modules if Path(m.file.path).resolve() == source)


def _root(card: Card, program: Program, module: str, sink: Sink) -> str | None:
    root = f"{module}::{card.root}"
    blocks = [k.removeprefix(f"{module}::") for k in program.blocks if k.startswith(f"{module}::")]
    if root not in program.blocks:
        message = f"`{card.root}` is no block of `{module}`"
        has = f"its blocks are {', '.join(blocks)}" if blocks else "it has no blocks"
        hint = did_you_mean(card.root, blocks)
        place = card.place("source", "root")
        sink.add(Diagnostic("E5001", message, place, notes=(has,), help=hint))
        return None
    names = entries(program, root)
    if card.entry not in names:
        message = f"`{card.root}` has no entry `{card.entry}`"
        has = f"its entries are {', '.join(names)}" if names else "it has no entries"
        hint = did_you_mean(card.entry, names)
        place = card.place("source", "entry")
        sink.add(Diagnostic("E5001", message, place, notes=(has,), help=hint))
        return None
    return root


def _generics(
    card: Card, block: TBlock, overrides: Generics, sink: Sink
) -> dict[str, GenericValue] | None:
    """The card's generics and the overrides, each of its kind, none missing, none unknown."""
    before = sink.errors
    values = {**card.generics, **overrides}
    declared = [g.name for g in block.generics]
    for name in unknown_names(block.generics, values):
        message = f"`{card.root}` has no generic `{name}`"
        hint = did_you_mean(name, declared)
        place = _place(card, name, overrides)
        notes = (known(block.generics),)
        sink.add(Diagnostic("E5001", message, place, notes=notes, help=hint))
    for generic in block.generics:
        if generic.name in values:
            value = values[generic.name]
            wanted = _PACK if generic.kind == "Shape" else misfit(generic, value)
            if wanted is not None:
                problem = f"`{generic.name}` is {wanted}, not {words.kind(value)}"
                place = _place(card, generic.name, overrides)
                sink.add(Diagnostic("E5001", problem, place, related=_declared_at(generic)))
        elif generic.default is None:
            message = f"the generic `{generic.name}` of `{card.root}` has no value"
            place = card.place("generics")
            hint = f"add `{generic.name} = ...` to `[generics]`"
            related = _declared_at(generic)
            sink.add(Diagnostic("E5001", message, place, related=related, help=hint))
    return None if sink.errors > before else dict(values)


def _violated(card: Card, violation: Violation, overrides: Generics) -> Diagnostic:
    relation = violation.relation
    where = f"`{violation.path}`, a `{violation.block}`" if violation.path else f"`{card.root}`"
    message = f"`where {relation}` of {where} does not hold: {violation.values}"
    names = [s.name for s in sorted_symbols(relation.symbols())]
    given = [n for n in names if n in card.generics or n in overrides]
    place = _place(card, given[0], overrides) if given else card.place("generics")
    return Diagnostic("E5001", message, place, related=(Related(violation.span, "stated here"),))


def _declared_at(generic: TGeneric) -> tuple[Related, ...]:
    return (Related(generic.span, "declared here"),)


def _place(card: Card, name: str, overrides: Generics) -> Span | None:
    """Where the value of a generic stands; None if the caller gave it."""
    return None if name in overrides else card.place("generics", name)
