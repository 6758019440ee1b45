"""The entries of a card or a file as tensor IR, before any pass."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from linnet.ir.core import Module
from linnet.lower.bindings import unknown_generic
from linnet.lower.instances import unsatisfied
from linnet.lower.module import lower_entry, lower_function
from linnet.nest.card import CARD, card_path
from linnet.nest.generics import Generics
from linnet.nest.lowered import lower_card
from linnet.nest.own import open_own
from linnet.nest.presence import presence
from linnet.packages.manifest import MANIFEST
from linnet.packages.package import SUFFIX
from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic, Sink


def lowered_entries(
    target: str, entry: str | None, generics: Generics, sink: Sink
) -> dict[str, Module]:
    """The entries of what a user named, by their names; what is wrong is in `sink`.

    Of a card it is one, by default the card's own, under the card's generics. Of a file or package
    they are all, or those named `entry`, and generics that are not given stay symbols.
    """
    path = card_path(target)
    if is_card(path):
        return _of_card(path, entry, generics, sink)
    return _of_file(path, entry, generics, sink)


def is_card(path: Path) -> bool:
    """Whether a path is to be read as a card: anything but a source and a folder without one."""
    if os.path.isdir(path):
        # A link that leads nowhere is a mistake in a card, and makes its folder no plain package.
        return os.path.lexists(path / CARD)
    return path.suffix != SUFFIX and path.name != MANIFEST


def _of_card(name: Path, entry: str | None, generics: Generics, sink: Sink) -> dict[str, Module]:
    found = open_own(name, sink, generics)
    if found is None:
        return {}
    there = presence(p.path for p in found.bound)
    wanted = entry or found.card.entry
    return {wanted: lower_card(found.program, wanted, there).module}


def _of_file(path: Path, entry: str | None, generics: Generics, sink: Sink) -> dict[str, Module]:
    """Everything symbolic that is not set. An optional member counts as there."""
    result = check_paths([path])
    for finding in result.sink:
        sink.add(finding)
    if sink.errors:
        return {}
    program = result.program
    entries: dict[str, Module] = {}
    known: set[str] = set()
    for key, function in program.functions.items():
        module, _, name = key.partition("::")
        if function.kind != "entry" or module not in program.roots:
            continue
        if entry not in (None, name, name.rpartition(".")[2]):
            continue
        generic_names = {g.name for g in function.generics}
        if function.block is not None:
            generic_names |= {g.name for g in program.blocks[function.block].generics}
        known |= generic_names
        given = {k: v for k, v in generics.items() if k in generic_names}
        broken = unsatisfied(program, key, given)
        for violation in broken:
            sink.add(violation.report())
        if broken:
            continue
        if function.block is None:
            entries[key] = lower_function(program, key, given)
        else:
            short = name.rpartition(".")[2]
            entries[key] = lower_entry(program, function.block, given, short, lambda _: True)
    if entries or sink.errors:
        refuse_unknown(generics, known, f"no entry of {path}", sink)
    else:
        message = f"{path} has no entry" + (f" `{entry}`" if entry else "")
        sink.add(Diagnostic("E2107", message, None, help="`pub entry` declares one"))
    return _short(entries)


def _short(entries: dict[str, Module]) -> dict[str, Module]:
    """The entries by their names alone, those of one name in several modules by their keys."""
    names = {key: key.partition("::")[2] for key in entries}
    counts = Counter(names.values())
    return {names[k] if counts[names[k]] == 1 else k: module for k, module in entries.items()}


def refuse_unknown(generics: Generics, known: Iterable[str], nobody: str, sink: Sink) -> None:
    """Reports values of generics that nobody has."""
    known = sorted(known)
    for name in generics:
        if name not in known:
            sink.add(unknown_generic(name, f"{nobody} has a generic", known))
