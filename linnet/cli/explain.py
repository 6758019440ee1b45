"""`linnet explain CARD|FILE`: what each library op that is called is run by, and why.
`linnet explain CODE` is in `explain_code.py`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from linnet.backends.base import (
    CallSite,
    Decision,
    Tier,
    check_numerics,
    decide,
    get_backend,
)
from linnet.cli.common import add_numerics, add_set, generics_of, word
from linnet.cli.explain_code import explain_code, is_code
from linnet.cli.report import report
from linnet.ir.core import Module
from linnet.ir.library import Absent, Argument, Known, Parts
from linnet.ir.places import shown as shown_place
from linnet.lower.instances import Violation, unsatisfied
from linnet.lower.module import lower_entry, lower_function
from linnet.nest.card import card_path
from linnet.nest.lowered import lower_card
from linnet.nest.opened import open_whole
from linnet.nest.presence import presence
from linnet.nest.survey import survey
from linnet.nest.words import counted
from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic, Related, Sink
from linnet.source.errors import LinnetError
from linnet.source.shown import shown
from linnet.source.suggest import did_you_mean

JSON_VERSION = 1
Generics = Mapping[str, int | str]


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "target",
        metavar="CODE|CARD|FILE",
        type=word,
        help="a code such as E2203, a card's name or folder, or a file",
    )
    parser.add_argument(
        "--entry", type=word, help="default: the card's entry, or every entry of the file"
    )
    parser.add_argument("--backend", type=word, default="numpy", help="default: numpy")
    parser.add_argument("--device", type=word, default="cpu", help="default: cpu")
    add_numerics(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    add_set(parser)


def run(options: argparse.Namespace) -> int:
    """Lowers the entries, asks the backend's kernels, and prints every decision."""
    if is_code(options.target):
        stray = _of_ops(options)
        return report(stray, options.json) if stray else explain_code(options.target, options.json)
    sink = Sink()
    try:
        backend = get_backend(options.backend)
        backend.check(options.device, {})
        kernels = backend.kernels
        numerics = check_numerics(options.numerics)
        modules = _modules(options, sink)
        found = {
            name: decide(module, kernels, numerics, options.device)
            for name, module in modules.items()
        }
    except LinnetError as error:
        return report([*sink, *error.diagnostics], options.json)
    if sink.errors:
        return report(sink, options.json)
    if options.json:
        print(json.dumps(_document(found, options), indent=2))
    else:
        print(_text(found, options.backend, numerics, options.device))
    return 0


def _of_ops(options: argparse.Namespace) -> list[Diagnostic]:
    """The options that were given and say nothing about a code."""
    given = {"--entry": options.entry, "--set": options.generics}
    message = "`{}` is for a card or a file, not for a code"
    return [Diagnostic("E2102", message.format(name), None) for name in given if given[name]]


# --- what to explain ---------------------------------------------------------


def _modules(options: argparse.Namespace, sink: Sink) -> dict[str, Module]:
    """The lowered entries by name; what is wrong is in `sink`."""
    path = card_path(options.target)
    if path.suffix == ".linnet" or (path.is_dir() and not (path / "nest.toml").is_file()):
        return _of_file(path, options.entry, generics_of(options), sink)
    return _of_card(path, options.entry, generics_of(options), sink)


def _of_card(name: Path, entry: str | None, generics: Generics, sink: Sink) -> dict[str, Module]:
    opened = open_whole(name, sink, generics)
    found = survey(opened, sink) if opened else None
    if found is None or sink.errors:
        return {}
    there = presence(p.path for p in found.bound)
    wanted = entry or found.card.entry
    return {wanted: lower_card(found.program, wanted, there)}


def _of_file(path: Path, entry: str | None, generics: Generics, sink: Sink) -> dict[str, Module]:
    """Everything symbolic that is not set. An optional member counts as there."""
    result = check_paths([path])
    for finding in result.sink:
        sink.add(finding)
    if sink.errors:
        return {}
    program = result.program
    found: dict[str, Module] = {}
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
            sink.add(_violated(violation))
        if broken:
            continue
        if function.block is None:
            found[name] = lower_function(program, key, given)
        else:
            short = name.rpartition(".")[2]
            found[name] = lower_entry(program, function.block, given, short, lambda _: True)
    if found or sink.errors:
        _check_names(path, generics, known, sink)
    else:
        message = f"{path} has no entry" + (f" `{entry}`" if entry else "")
        sink.add(Diagnostic("E2107", message, None, help="`pub entry` declares one"))
    return found


def _violated(violation: Violation) -> Diagnostic:
    relation = violation.relation
    message = f"`where {relation}` of `{violation.block}` does not hold: {violation.values}"
    related = (Related(violation.span, "stated here"),)
    return Diagnostic("E2206", message, None, related=related)


def _check_names(path: Path, generics: Generics, known: set[str], sink: Sink) -> None:
    for name in generics:
        if name not in known:
            message = f"no entry of {path} has a generic {shown(name)}"
            there = f"known here: {', '.join(sorted(known))}" if known else None
            hint = did_you_mean(name, known) or there
            sink.add(Diagnostic("E2111", message, None, help=hint))


# --- how it is shown ---------------------------------------------------------


def _groups(decisions: Iterable[Decision]) -> list[list[Decision]]:
    """Decisions of one op with one outcome together, the most frequent op first."""
    groups: dict[tuple[str, str, str], list[Decision]] = {}
    for decision in decisions:
        key = (decision.site.op, decision.chosen, decision.reason)
        groups.setdefault(key, []).append(decision)
    return sorted(groups.values(), key=lambda g: (-sum(d.site.count for d in g), g[0].site.op))


def _text(found: Mapping[str, list[Decision]], backend: str, numerics: Tier, device: str) -> str:
    lines: list[str] = []
    for entry, decisions in found.items():
        total = sum(d.site.count for d in decisions)
        calls = counted(total, "call")
        head = f"{entry}: {calls} of library ops, {backend} on {device}, numerics {numerics}"
        lines += [head, ""]
        for group in _groups(decisions):
            lines += _group_text(group)
    return "\n".join(lines).rstrip()


def _group_text(group: list[Decision]) -> list[str]:
    first = group[0]
    count = sum(d.site.count for d in group)
    lines = [f"  {first.site.op}  x{count}  {first.chosen}: {first.reason}"]
    for refused in dict.fromkeys((c.kernel.name, c.reason) for d in group for c in d.considered):
        lines.append(f"      not {refused[0]}: {refused[1]}")
    for d in group:
        at = f" at {shown_place(d.site.place)}" if d.site.place else ""
        lines.append(f"      x{d.site.count} in {d.site.caller}{at}: {_call(d.site)}")
    return [*lines, ""]


def _call(site: CallSite) -> str:
    """`linear<In = 2880, T = bf16>(x: tensor[1, In; bf16], bias: none)`."""
    generics = ", ".join(f"{n} = {v}" for n, v in _generics(site).items())
    params = ", ".join(f"{n}: {v}" for n, v in _params(site).items())
    name = site.op.rpartition("::")[2]
    return f"{name}<{generics}>({params})" if generics else f"{name}({params})"


def _generics(site: CallSite) -> dict[str, str]:
    return {
        name: f"[{', '.join(map(str, arg))}]" if isinstance(arg, tuple) else str(arg)
        for name, arg in site.signature.generics
    }


def _params(site: CallSite) -> dict[str, str]:
    return {name: _argument(site, argument) for name, argument in site.signature.params}


def _argument(site: CallSite, argument: Argument) -> str:
    match argument:
        case int():
            return str(site.operands[argument])
        case Absent():
            return "none"
        case Known():
            return argument.variant
        case Parts():
            return f"({', '.join(f'{n}: {_argument(site, part)}' for n, part in argument.items)})"


def _document(
    found: Mapping[str, list[Decision]], options: argparse.Namespace
) -> dict[str, object]:
    return {
        "version": JSON_VERSION,
        "backend": options.backend,
        "device": options.device,
        "numerics": options.numerics,
        "entries": [
            {"entry": entry, "ops": [_group_json(g) for g in _groups(decisions)]}
            for entry, decisions in found.items()
        ],
    }


def _group_json(group: list[Decision]) -> dict[str, object]:
    first = group[0]
    refused = dict.fromkeys(
        (c.kernel.name, c.kernel.tier, c.reason) for d in group for c in d.considered
    )
    return {
        "op": first.site.op,
        "count": sum(d.site.count for d in group),
        "chosen": first.chosen,
        "tier": first.kernel.tier if first.kernel else None,
        "reason": first.reason,
        "considered": [{"kernel": k, "tier": t, "reason": r} for k, t, r in refused],
        "calls": [
            {
                "caller": d.site.caller,
                "place": shown_place(d.site.place) if d.site.place else None,
                "count": d.site.count,
                "generics": _generics(d.site),
                "params": _params(d.site),
                "operands": [str(t) for t in d.site.operands],
                "results": [str(t) for t in d.site.results],
            }
            for d in group
        ],
    }
