"""`linnet inspect`: what each step of the compiler makes of a source or a card."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from linnet.cli.common import add_set, generics_of, word
from linnet.cli.report import report
from linnet.source.diagnostics import Sink
from linnet.source.errors import LinnetError

JSON_VERSION = 1

_FORMS = {
    "tokens": "the words of the text, comments included, with their places",
    "ast": "the syntax tree, with the place of each node",
    "ir": "the tensor IR of the entries, in the text form that parses back",
    "parameters": "every parameter, buffer and state, with totals",
}


@dataclass(frozen=True, slots=True)
class View:
    """What is shown: as text, and as the keys of a document beside its version and form."""

    text: str
    document: dict[str, object]


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "target",
        metavar="FILE|CARD",
        type=word,
        help="a file, a package's folder, or a card's name or folder",
    )
    forms = parser.add_mutually_exclusive_group(required=True)
    for form, summary in _FORMS.items():
        forms.add_argument(f"--{form}", dest="form", action="store_const", const=form, help=summary)
    parser.add_argument(
        "--pass",
        dest="passes",
        action="append",
        default=[],
        type=word,
        metavar="NAME",
        help="with --ir: dce, inline or vectorize; several run in the order given",
    )
    parser.add_argument(
        "--entry",
        type=word,
        help="with --ir; default: the card's entry, or every entry of the file",
    )
    add_set(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(refuse=parser.error)


def run(options: argparse.Namespace) -> int:
    """Prints the form that was asked for; where something is wrong, only what that is."""
    _refuse_combinations(options)
    sink = Sink()
    try:
        view = _maker(options)(sink)
    except LinnetError as error:
        return report([*sink, *error.diagnostics], options.json)
    if sink.errors:
        return report(sink, options.json)
    if options.json:
        print(
            json.dumps({"version": JSON_VERSION, "form": options.form, **view.document}, indent=2)
        )
    else:
        print(view.text)
    return 0


def _refuse_combinations(options: argparse.Namespace) -> None:
    """An option that says nothing about the form is a mistake, not a thing to pass over."""
    refuse: Callable[[str], NoReturn] = options.refuse
    given = {"--pass": options.passes, "--entry": options.entry, "--set": options.generics}
    allowed = {"ir": set(given), "parameters": {"--set"}}.get(options.form, set[str]())
    for name, value in given.items():
        if value and name not in allowed:
            forms = "--ir or --parameters" if name == "--set" else "--ir"
            refuse(f"{name} goes with {forms}, not with --{options.form}")
    if options.form == "ir":
        from linnet.cli.inspect_ir import unknown_pass

        problem = unknown_pass(options.passes)
        if problem is not None:
            refuse(problem)


def _maker(options: argparse.Namespace) -> Callable[[Sink], View]:
    # Each form pays for its own part of the compiler alone.
    target, generics = options.target, generics_of(options)
    if options.form == "tokens":
        from linnet.cli.inspect_source import tokens

        return lambda sink: View(*tokens(target, sink))
    if options.form == "ast":
        from linnet.cli.inspect_source import trees

        return lambda sink: View(*trees(target, sink))
    if options.form == "ir":
        from linnet.cli.inspect_ir import modules

        return lambda sink: View(*modules(target, options.entry, generics, options.passes, sink))
    from linnet.cli.inspect_parameters import parameters

    return lambda sink: View(*parameters(target, generics, sink))
