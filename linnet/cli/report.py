"""Printing findings: text for people, one JSON document or SARIF log for tools."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import replace

from linnet.source.diagnostics import Diagnostic
from linnet.source.render import render_json, render_text, summary_line

FORMS = ("text", "json", "sarif")


def report(diagnostics: Iterable[Diagnostic], as_json: bool = False) -> int:
    """Prints the findings, as text or as one JSON document; see `report_as`."""
    return report_as("json" if as_json else "text", diagnostics)


def report_as(form: str, diagnostics: Iterable[Diagnostic]) -> int:
    """Prints the findings in one of the `FORMS`, as text with a summary of them; the exit status is
    1 if one is an error.

    Beside errors lints would be noise: what they say may come of the errors.
    """
    every = [_for_the_command_line(d) for d in diagnostics]
    errors = sum(d.severity == "error" for d in every)
    found = [d for d in every if d.severity == "error"] if errors else every
    if form != "text":
        document = render_json(found) if form == "json" else _sarif(found)
        print(json.dumps(document, indent=2))
        return 1 if errors else 0
    color = use_color()
    for diagnostic in found:
        print(render_text(diagnostic, color), file=sys.stderr)
    if found:
        print(summary_line(errors, len(found) - errors), file=sys.stderr)
    return 1 if errors else 0


def _sarif(found: list[Diagnostic]) -> dict[str, object]:
    from linnet.source.sarif import render_sarif  # other forms do without the pages of codes

    return render_sarif(found)


_ARGUMENT = re.compile(r'`?\b(backend|device|numerics|weights)="(\w+)"`?')
_GENERIC = re.compile(r'generics=\{"(\w+)": (\w+)\}')
_TINY = re.compile(r"`tiny=True`")
_FLAG = re.compile(r"\b(as|with) `(cast_dtype|weights)`")


def _for_the_command_line(diagnostic: Diagnostic) -> Diagnostic:
    """Ways out are written for Python's callers; here an argument is an option."""
    return replace(
        diagnostic,
        help=diagnostic.help and _options(diagnostic.help),
        notes=tuple(map(_options, diagnostic.notes)),
    )


def _options(text: str) -> str:
    text = _ARGUMENT.sub(r"`--\1 \2`", text)
    text = _GENERIC.sub(r"`--set \1=\2`", text)
    text = _TINY.sub("`--tiny`", text)
    return _FLAG.sub(lambda found: f"{found[1]} `--{found[2].replace('_', '-')}`", text)


def use_color() -> bool:
    """Colour only for a terminal, and not where https://no-color.org asks for none."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")
