"""`linnet inspect`: what each step of the compiler makes of a source or a card."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from linnet.cli.common import add_set, generics_of, word
from linnet.cli.report import report
from linnet.ir.passes.named import PASSES
from linnet.source.diagnostics import Sink
from linnet.source.errors import LinnetError

JSON_VERSION = 1

View = tuple[str, dict[str, object]]
"""What is shown: as text, and as the keys of a document beside its version and form."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of `target`; of the options some say something about it alone."""

    summary: str
    options: tuple[str, ...]
    view: Callable[[argparse.Namespace, Sink], View]


# Each form pays for its own part of the compiler alone.


def _tokens(options: argparse.Namespace, sink: Sink) -> View:
    from linnet.cli.inspect_source import tokens

    return tokens(options.target, sink)


def _trees(options: argparse.Namespace, sink: Sink) -> View:
    from linnet.cli.inspect_source import trees

    return trees(options.target, sink)


def _modules(options: argparse.Namespace, sink: Sink) -> View:
    from linnet.cli.inspect_ir import modules

    return modules(options.target, options.entry, generics_of(options), options.passes, sink)


def _parameters(options: argparse.Namespace, sink: Sink) -> View:
    from linnet.cli.inspect_parameters import parameters

    return parameters(options.target, generics_of(options), sink)


FORMS: Mapping[str, Form] = {
    "tokens": Form("the words of the text, comments included, with their places", (), _tokens),
    "ast": Form("the syntax tree, with the place of each node", (), _trees),
    "ir": Form(
        "the tensor IR of the entries, in the text form that parses back",
        ("--pass", "--entry", "--set"),
        _modules,
    ),
    "parameters": Form("every parameter, buffer and state, with totals", ("--set",), _parameters),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "target",
        metavar="FILE|CARD",
        type=word,
        help="a file, a package's folder, or a card's name or folder",
    )
    forms = parser.add_mutually_exclusive_group(required=True)
    for name, form in FORMS.items():
        forms.add_argument(
            f"--{name}", dest="form", action="store_const", const=name, help=form.summary
        )
    parser.add_argument(
        "--pass",
        dest="passes",
        action="append",
        default=[],
        choices=PASSES,
        help="with --ir; several run in the order given",
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
        text, document = FORMS[options.form].view(options, sink)
    except LinnetError as error:
        return report([*sink, *error.diagnostics], options.json)
    if sink.errors:
        return report(sink, options.json)
    if options.json:
        print(json.dumps({"version": JSON_VERSION, "form": options.form, **document}, indent=2))
    else:
        print(text)
    return 0


def _refuse_combinations(options: argparse.Namespace) -> None:
    """An option that says nothing about the form is a mistake, not a thing to pass over."""
    refuse: Callable[[str], NoReturn] = options.refuse
    given = {"--pass": options.passes, "--entry": options.entry, "--set": options.generics}
    for name, value in given.items():
        if value and name not in FORMS[options.form].options:
            forms = " or ".join(f"--{f}" for f, form in FORMS.items() if name in form.options)
            refuse(f"{name} goes with {forms}, not with --{options.form}")
