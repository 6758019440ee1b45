"""`linnet explain CARD|FILE`: what each library op that is called is run by, and why.
`linnet explain CODE` is in `explain_code.py`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping

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
from linnet.cli.lowered import lowered_entries
from linnet.cli.report import report
from linnet.ir.library import Absent, Argument, Known, Parts
from linnet.ir.places import shown as shown_place
from linnet.nest.words import counted
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.errors import LinnetError

JSON_VERSION = 1


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
        modules = lowered_entries(options.target, options.entry, generics_of(options), sink)
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
