"""`linnet explain CARD|FILE`: what each library op that is called is run by, and why.
`linnet explain CODE` is in `explain_code.py`."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence

from linnet.backends.base import Backend, check_numerics, decide, default_backend, get_backend
from linnet.backends.devices import by_torch, no_device
from linnet.cli.common import NUMERICS, add_numerics, add_set, generics_of, word
from linnet.cli.explain_code import explain_code, is_code
from linnet.cli.explain_groups import Entry, Group, entry_of, generics_in, params_in
from linnet.cli.explain_text import text_of
from linnet.cli.lowered import lowered_entries
from linnet.cli.report import report
from linnet.ir.places import shown as shown_place
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.errors import LinnetError

JSON_VERSION = 1

_DEVICE = "cpu"


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
    parser.add_argument(
        "--backend",
        type=word,
        help="default: torch, or numpy, which has no kernels, where PyTorch is not installed",
    )
    parser.add_argument(
        "--device",
        type=word,
        default=_DEVICE,
        help=f"default: {_DEVICE}; it need not be here",
    )
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
        backend = get_backend(options.backend or default_backend())
        _check_device(backend, options.device)
        numerics = check_numerics(options.numerics)
        modules = lowered_entries(options.target, options.entry, generics_of(options), sink)
        found = {
            name: entry_of(module, decide(module, backend.kernels, numerics, options.device))
            for name, module in modules.items()
        }
    except LinnetError as error:
        return report([*sink, *error.diagnostics], options.json)
    if sink.errors:
        return report(sink, options.json)
    if options.json:
        print(json.dumps(_document(found, backend.name, options), indent=2))
    else:
        print(text_of(found, f"{backend.name} on {options.device}, numerics {numerics}"))
    return 0


def _check_device(backend: Backend, device: str) -> None:
    """Refuse a device that the backend has no kernels for; it need not be one that is here."""
    kind, colon, index = device.partition(":")
    if kind not in backend.kinds or (colon and not re.fullmatch(r"[0-9]{1,4}", index)):
        listed = ", ".join(f"`{k}`" for k in backend.kinds)
        torch = by_torch(device) if backend.name != "torch" else None
        kinds = f"kernels are chosen for a kind of device: {listed}"
        raise no_device(backend.name, device, f"use {torch}" if torch else kinds)


def _of_ops(options: argparse.Namespace) -> list[Diagnostic]:
    """The options that were given and say nothing about a code."""
    given = {
        "--entry": options.entry,
        "--backend": options.backend,
        "--device": options.device != _DEVICE,
        "--numerics": options.numerics != NUMERICS,
        "--set": options.generics,
    }
    message = "`{}` is for a card or a file, not for a code"
    return [Diagnostic("E2102", message.format(name), None) for name in given if given[name]]


# --- the document ------------------------------------------------------------


def _document(
    found: Mapping[str, Entry], backend: str, options: argparse.Namespace
) -> dict[str, object]:
    return {
        "version": JSON_VERSION,
        "backend": backend,
        "device": options.device,
        "numerics": options.numerics,
        "entries": [
            {"entry": name, "ops": [_group(group, entry.paths) for group in entry.groups]}
            for name, entry in found.items()
        ],
    }


def _group(group: Group, paths: Mapping[str, Sequence[str]]) -> dict[str, object]:
    kernel = group.first.kernel
    return {
        "op": group.first.site.op,
        "count": group.count,
        "chosen": group.first.chosen,
        "tier": kernel.tier if kernel else None,
        "reason": group.first.reason,
        "considered": [
            {"kernel": c.kernel.name, "tier": c.kernel.tier, "reason": c.reason}
            for c in group.refused
        ],
        "after": [{"kernel": k.name, "tier": k.tier, "why": k.why} for k in group.after],
        "calls": [
            {
                "caller": d.site.caller,
                "blocks": list(paths.get(d.site.caller, ())),
                "place": shown_place(d.site.place) if d.site.place else None,
                "count": d.site.count,
                "generics": generics_in(d.site),
                "params": params_in(d.site),
                "operands": [str(t) for t in d.site.operands],
                "results": [str(t) for t in d.site.results],
            }
            for d in group.decisions
        ],
    }
