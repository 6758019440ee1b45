"""How `linnet explain` shows decisions on a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from linnet.backends.base import Decision
from linnet.cli.explain_groups import Entry, Group, own_parts, special_in
from linnet.ir.places import shown as shown_place
from linnet.nest.words import counted

_WIDTH = 100
_LIBRARY = "std."
_COPY = re.compile(r"(\.c?[0-9]+)+$")
"""What parts functions of one name, `Linear.forward.2`."""
_JOINT = "\u00a0"
"""A space at which no line is broken."""


def text_of(entries: Mapping[str, Entry], how: str) -> str:
    """The whole text; `how` says for which backend, device and numerics."""
    lines: list[str] = []
    for name, entry in entries.items():
        total = sum(group.count for group in entry.groups)
        lines += [f"{name}: {counted(total, 'call')} of library ops, {how}", ""]
        for group in entry.groups:
            lines += [*_group(group, entry.paths), ""]
    return "\n".join(lines).rstrip()


def _group(group: Group, paths: Mapping[str, Sequence[str]]) -> Iterator[str]:
    first = group.first
    chosen = first.chosen + (f" ({first.kernel.tier})" if first.kernel else "")
    yield from _wrapped("  ", f"{first.site.op}  x{group.count}  {chosen}: {first.reason}")
    for refused in group.refused:
        yield from _wrapped("      ", f"not {refused.kernel.name}: {refused.reason}")
    if group.after:
        names = ", ".join(f"{k.name} ({k.tier})" for k in group.after)
        verb = "applies" if len(group.after) == 1 else "apply"
        yield from _wrapped("      ", f"later {names} {verb} too")
    same = _same(group.decisions)
    if same and len(group.decisions) > 1:
        yield from _wrapped("      ", f"each with {_told(same)}")
    else:
        same = {}
    yield from _calls(group.decisions, same, paths)


def _same(decisions: Iterable[Decision]) -> dict[str, str]:
    """What all calls have in common."""
    first, *others = (special_in(d.site) for d in decisions)
    return {k: v for k, v in first.items() if all(o.get(k) == v for o in others)}


def _told(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}".replace(" ", _JOINT) for name, value in values.items())


def _calls(
    decisions: Iterable[Decision], same: Mapping[str, str], paths: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """A line for what is called from one place, or from the members of one block."""
    counts: dict[str, int] = {}
    where: dict[str, dict[str, list[str]]] = {}
    for d in decisions:
        line, member = _where(d, paths)
        own = {k: v for k, v in special_in(d.site).items() if k not in same}
        counts[line] = counts.get(line, 0) + d.site.count
        where.setdefault(line, {}).setdefault(_told(own), []).append(member)
    for line, members in where.items():
        told: list[str] = []
        for own, names in members.items():
            named = _listed(dict.fromkeys(n for n in names if n))
            told.append(f"{named} ({own})" if named and own else named or own)
        rest = "; ".join(t for t in told if t)
        joint = ": " if line and rest else ""
        yield from _wrapped("      ", f"x{counts[line]} {line}{joint}{rest}")


def _where(decision: Decision, paths: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """What a line is about, and what of that a call is from. Methods of the library's blocks,
    `Linear.forward`, are told by the members that they are called on."""
    site = decision.site
    name = _COPY.sub("", site.caller.rpartition("::")[2])
    members = [m for m in own_parts(paths.get(site.caller, ())) if m[1]]
    if site.caller.startswith(_LIBRARY) and members and "." in name:
        holders = dict.fromkeys(holder for holder, _ in members if holder)
        own = _listed(dict.fromkeys(last for _, last in members))
        return (f"in {_listed(holders)}" if holders else "in the model"), own
    place = f" ({shown_place(site.place)})" if site.place else ""
    body = "the body of " if site.caller.startswith(_LIBRARY) else ""
    return f"in {body}{name}{place}", ""


def _listed(names: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *others, last = list(names) or [""]
    return f"{', '.join(others)} and {last}" if others else last


def _wrapped(indent: str, text: str) -> list[str]:
    """Lines of `_WIDTH`; a word that is longer stays whole."""
    lines = textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_JOINT, " ") for line in lines]
