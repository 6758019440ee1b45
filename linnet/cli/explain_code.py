"""`linnet explain CODE`: what a diagnostic code means, with examples."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

from linnet.cli.report import report
from linnet.source.codes import CODES, severity_of
from linnet.source.diagnostics import Diagnostic
from linnet.source.explanations import Example, Explanation, Prose, explanation
from linnet.source.shown import shown
from linnet.source.suggest import did_you_mean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

JSON_VERSION = 1

_FORM = re.compile(r"[EW][0-9]{3,5}", re.IGNORECASE)
_WIDEST = 100
_NO_CODE = (
    "a code stands behind `error` or `warning`, as in `error[E2203]`; "
    "for a file or folder of this name, write `./` before it"
)


def is_code(target: str) -> bool:
    """Whether a target has the form of a code, `E2203` or `e2203`, be there such a code or not."""
    return _FORM.fullmatch(target) is not None


def explain_code(target: str, as_json: bool) -> int:
    """Prints the page of a code; an unknown one is a finding."""
    code = target.upper()
    if code not in CODES:
        message = f"there is no code {shown(target)}"
        help_ = did_you_mean(code, CODES) or _NO_CODE
        return report([Diagnostic("E2102", message, None, help=help_)], as_json)
    page = explanation(code)
    if as_json:
        print(json.dumps(_document(page), indent=2))
    else:
        _print(page)
    return 0


def _document(page: Explanation) -> dict[str, object]:
    return {
        "version": JSON_VERSION,
        "code": page.code,
        "severity": severity_of(page.code),
        "title": page.title,
        "parts": [_json(part) for part in page.parts],
    }


def _json(part: Prose | Example) -> dict[str, object]:
    if isinstance(part, Prose):
        return {"kind": "text", "text": part.text}
    return {
        "kind": "example",
        "language": part.language,
        "rejected": part.rejected,
        "path": part.path or None,
        "text": part.text,
    }


def _print(page: Explanation) -> None:
    # Only who reads a page pays for the import.
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False)
    width = min(console.width, _WIDEST)
    color = "red" if severity_of(page.code) == "error" else "yellow"
    _show(console, width, Text.assemble((page.code, f"bold {color}"), ": ", _inline(page.title)))
    for part in page.parts:
        console.print()
        if isinstance(part, Prose):
            _show(console, width, _inline(part.text))
            continue
        _show(
            console, width, Text(f"{part.caption}:", f"bold {color if part.rejected else 'green'}")
        )
        console.print()
        for line in part.text.splitlines():
            # Code is shown as it is, never folded.
            console.print(Text(f"    {line}".rstrip()), soft_wrap=True)


def _show(console: Console, width: int, text: Text) -> None:
    for line in text.wrap(console, width):
        line.rstrip()
        console.print(line, soft_wrap=True)


def _inline(text: str) -> Text:
    """Prose, in colour what stands in backticks."""
    from rich.text import Text

    prose = Text(text)
    prose.highlight_regex(r"`[^`]+`", "cyan")
    return prose
