"""A card's sources under its generics: checked, its root bound, its parameters and states listed.

Nothing here reads a checkpoint: `linnet nest show` and `linnet explain` need no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from linnet.check.typed import Program, TBlock
from linnet.lower.bindings import GenericValue
from linnet.lower.instances import Instance, entries, parameters, violations
from linnet.nest.card import Card
from linnet.nest.generics import Resolved, Values, resolve, violated
from linnet.nest.match import ParameterDecl
from linnet.packages.text import real
from linnet.pipeline import CheckResult, check_paths
from linnet.source.diagnostics import Diagnostic, Related, Sink
from linnet.source.errors import LinnetError
from linnet.source.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class CardRoot:
    """A card's sources, checked; `root` is the key of the root block in `program`."""

    card: Card
    program: Program
    root: str

    @property
    def block(self) -> TBlock:
        return self.program.blocks[self.root]

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of the entries, in order of declaration."""
        return tuple(entries(self.program, self.root))


@dataclass(frozen=True, slots=True)
class CardProgram(CardRoot):
    """The root under its generics; `generics` binds all of them."""

    generics: dict[str, GenericValue]
    instances: tuple[Instance, ...]

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


def open_root(card: Card, checked: CheckResult, sink: Sink) -> CardRoot | None:
    """The root block in the card's source, which was found right; None if there is none or it
    is not known. What is wrong with root and entry is reported."""
    if not (card.knows("source", "path") and card.knows("source", "root")):
        return None
    root = _root(card, checked, sink)
    return None if root is None else CardRoot(card, checked.program, root)


def open_program(
    card_root: CardRoot, values: Values, resolved: Resolved, sink: Sink
) -> CardProgram | None:
    """The root under the resolved values; None if something is wrong, which is then in `sink`."""
    if not resolved.whole:
        return None
    program, root, generics = card_root.program, card_root.root, dict(resolved.values)
    try:
        broken = violations(program, root, generics)
        for violation in broken:
            sink.add(violated(values, card_root.card.root, violation))
        if broken:
            return None
        found = tuple(parameters(program, root, generics))
    except LinnetError as error:
        for diagnostic in error.diagnostics:
            sink.add(diagnostic)
        return None
    return CardProgram(card_root.card, program, root, {**generics}, found)


def check_source(path: Path, folder: Path, sink: Sink) -> CheckResult | None:
    """The program of a file or folder of a card's; None if it has errors, which are then in
    `sink`."""
    result = check_paths([path], folder=folder)
    for diagnostic in result.sink:
        if diagnostic.severity == "error":
            sink.add(diagnostic)
    return None if result.sink.errors else result


def check_tiny(card_root: CardRoot, sink: Sink) -> None:
    """Reports, at the card's table `[tiny]`, what keeps its generics from making a model, unless
    it keeps the card's own generics from it too."""
    card = card_root.card
    # What is not among the card's generics, or is no value, is reported where `[tiny]` is read.
    small = {name: value for name, value in card.tiny.items() if name in card.generics}
    unread = any(key[0] == "tiny" for key in card.unknown)
    sure = not unread and small.keys() == card.tiny.keys()
    card_root = CardRoot(replace(card, tiny=small), card_root.program, card_root.root)
    found, own = _tried(card_root, tiny=True, whole=sure), _tried(card_root, tiny=False)
    said = {d.message for d in own}
    for diagnostic in found:
        if diagnostic.message in said:
            continue
        related = diagnostic.related
        if diagnostic.span is not None:
            related = (Related(diagnostic.span, "here"), *related)
        sink.add(replace(diagnostic, span=card.place("tiny"), related=related))


def _tried(card_root: CardRoot, tiny: bool, whole: bool = True) -> Sink:
    """What is wrong with the card's own generics, or with its small ones; unless these are
    `whole`, with each alone."""
    found = Sink()
    values = Values(card_root.card, {}, tiny)
    resolved = resolve(values, card_root.block, card_root.card.root, found)
    if whole:
        open_program(card_root, values, resolved, found)
    return found


def module_of(source: Path, result: CheckResult) -> str | None:
    """The key of the module in a source file; None if the check did not read the file."""
    file = real(source)
    return next((m.key for m in result.graph.modules if real(Path(m.file.path)) == file), None)


def _root(card: Card, checked: CheckResult, sink: Sink) -> str | None:
    program, module = checked.program, module_of(card.source, checked)
    assert module is not None, card.source
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
    if card.knows("source", "entry") and card.entry not in names:
        message = f"`{card.root}` has no entry `{card.entry}`"
        has = f"its entries are {', '.join(names)}" if names else "it has no entries"
        hint = did_you_mean(card.entry, names)
        place = card.place("source", "entry")
        sink.add(Diagnostic("E5001", message, place, notes=(has,), help=hint))
    return root
