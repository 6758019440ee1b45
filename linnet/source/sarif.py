"""Findings as a SARIF 2.1.0 log, the form in which code hosts and editors take them.

A location is a file with a region: lines and columns count from 1, a column is a Unicode code
point, and the end is excluded, as in the JSON document. The label of a place is the message of its
location.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from linnet import __version__
from linnet.source.codes import CODES, severity_of
from linnet.source.diagnostics import Diagnostic
from linnet.source.explanations import Prose, explanation, markdown
from linnet.source.files import Span

VERSION = "2.1.0"
SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def render_sarif(diagnostics: Iterable[Diagnostic]) -> dict[str, object]:
    """A log with one run. Its rules are the codes that occur."""
    found = list(diagnostics)
    rules = sorted({d.code for d in found})
    driver = {"name": "linnet", "version": __version__, "rules": [_rule(code) for code in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, rules.index(d.code)) for d in found],
    }
    return {"$schema": SCHEMA, "version": VERSION, "runs": [run]}


def _rule(code: str) -> dict[str, object]:
    page = explanation(code)
    prose = " ".join(part.text for part in page.parts[:1] if isinstance(part, Prose))
    return {
        "id": code,
        "shortDescription": {"text": CODES[code]},
        "fullDescription": {"text": prose},
        "help": {"text": prose, "markdown": markdown(page)},
        "defaultConfiguration": {"level": severity_of(code)},
    }


def _result(diagnostic: Diagnostic, rule: int) -> dict[str, object]:
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.severity,
        "message": {"text": _message(diagnostic)},
    }
    if diagnostic.span is not None:
        result["locations"] = [_location(diagnostic.span, diagnostic.label)]
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": number, **_location(r.span, r.label)}
            for number, r in enumerate(diagnostic.related, 1)
        ]
    return result


def _message(diagnostic: Diagnostic) -> str:
    """Notes and help are lines of the message: a result has no other place for them."""
    lines = [diagnostic.message, *(f"note: {note}" for note in diagnostic.notes)]
    if diagnostic.help is not None:
        lines.append(f"help: {diagnostic.help}")
    return "\n".join(lines)


def _location(span: Span, label: str) -> dict[str, object]:
    start, end = span.file.position(span.start), span.file.position(span.end)
    place = {
        "artifactLocation": {"uri": _uri(span.file.path)},
        "region": {
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        },
    }
    return {"physicalLocation": place, **({"message": {"text": label}} if label else {})}


def _uri(path: str) -> str:
    """A `file:` URI of an absolute path; a relative one stays relative to the working folder."""
    given = Path(path)
    # The bytes of a name that is no UTF-8 stand in the text as surrogates.
    quoted = quote(given.as_posix().encode("utf-8", "surrogateescape"), safe="/~")
    if not given.is_absolute():
        return quoted
    return f"file://{quoted}" if quoted.startswith("/") else f"file:///{quoted}"
