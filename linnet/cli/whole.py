"""A model as it is written, for who writes it in another language: a card's under the card's
generics, or the block of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from linnet.backends.base import Given, Sources
from linnet.check.typed import Program, TBlock
from linnet.cli.lowered import is_card
from linnet.lower.bindings import bind, refuse_unknown
from linnet.lower.instances import entries as entries_of
from linnet.lower.instances import unsatisfied_block
from linnet.lower.module import AsWritten, lower_entry_as_written
from linnet.lower.outline import outline_of
from linnet.nest.card import card_path
from linnet.nest.generics import Generics
from linnet.nest.lowered import card_sources
from linnet.nest.match import tensor_names
from linnet.nest.own import open_own
from linnet.nest.presence import presence
from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Whole:
    """`names` are those of the checkpoint's tensors by path; None where there is none."""

    title: str
    entries: tuple[str, ...]
    sources: Sources
    names: Mapping[str, str] | None


def whole_model(target: str, generics: Generics, sink: Sink) -> Whole | None:
    """What a user named; what is wrong with it is in `sink`."""
    path = card_path(target)
    return _of_card(path, generics, sink) if is_card(path) else _of_file(path, generics, sink)


def chosen(whole: Whole, wanted: list[str], sink: Sink) -> tuple[str, ...]:
    """The entries of that name, all of them where none is wanted."""
    for name in wanted:
        if name not in whole.entries:
            message = f"`{whole.title}` has no entry `{name}`"
            listed = f"its entries are {', '.join(whole.entries)}"
            near = did_you_mean(name, whole.entries)
            sink.add(Diagnostic("E2107", message, None, notes=(listed,), help=near))
    return tuple(dict.fromkeys(wanted)) or whole.entries


def _of_card(path: Path, generics: Generics, sink: Sink) -> Whole | None:
    found = open_own(path, sink, generics)
    if found is None:
        return None
    program = found.program
    there = {p.path for p in found.bound}
    names = tensor_names(found.bound, found.bindings, there, found.tied)
    return Whole(
        program.card.name,
        program.entries,
        card_sources(program, presence(there)),
        {path: name for path, name in names.items() if path in there},
    )


def _of_file(path: Path, generics: Generics, sink: Sink) -> Whole | None:
    """An optional member counts as there."""
    result = check_paths([path])
    for finding in result.sink:
        sink.add(finding)
    block = None if sink.errors else _root(path, result.program, sink)
    if block is None:
        return None
    program, title = result.program, block.key.rpartition("::")[2]
    refuse_unknown(block.generics, generics, title)
    bind(block.generics, generics, whole=True)
    for violation in unsatisfied_block(program, block.key, generics):
        sink.add(violation.report())
    if sink.errors:
        return None

    def there(_: str) -> bool:
        return True

    def lower(entry: str, given: Given) -> AsWritten:
        return lower_entry_as_written(program, block.key, generics, entry, there, dict(given))

    sources = Sources(lower, lambda: outline_of(program, block.key, generics, there))
    return Whole(title, tuple(entries_of(program, block.key)), sources, None)


def _root(path: Path, program: Program, sink: Sink) -> TBlock | None:
    """The block that is the model: the only one with entries that no other one there holds."""
    own = {k: b for k, b in program.blocks.items() if k.partition("::")[0] in program.roots}
    held = {sub.block for block in own.values() for sub in block.subs.values()}
    found = [b for k, b in own.items() if k not in held and entries_of(program, k)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"`{b.key.rpartition('::')[2]}`" for b in found)
        message = f"{path} has several blocks with entries: {names}"
        help_ = "give a card, which names one as its `root`"
    else:
        message = f"{path} has no block with an entry"
        help_ = "`pub entry` in a block declares one"
    sink.add(Diagnostic("E2107", message, None, help=help_))
    return None
