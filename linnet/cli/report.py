"""Printing findings: text for people, one JSON document for tools."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable

from linnet.source.diagnostics import Diagnostic
from linnet.source.render import render_json, render_text, summary_line


def report(diagnostics: Iterable[Diagnostic], as_json: bool = False) -> int:
    """Prints the findings and a summary of them; the exit status is 1 if one is an error.

    Beside errors lints would be noise: what they say may come of the errors.
    """
    every = list(diagnostics)
    errors = sum(d.severity == "error" for d in every)
    found = [d for d in every if d.severity == "error"] if errors else every
    if as_json:
        print(json.dumps(render_json(found), indent=2))
        return 1 if errors else 0
    color = use_color()
    for diagnostic in found:
        print(render_text(diagnostic, color), file=sys.stderr)
    if found:
        print(summary_line(errors, len(found) - errors), file=sys.stderr)
    return 1 if errors else 0


def use_color() -> bool:
    """Colour only for a terminal, and not where https://no-color.org asks for none."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")
