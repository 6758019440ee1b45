"""Writes `docs/diagnostics` from the pages that `linnet explain CODE` shows, `linnet/diagnostics`.

python docs/write_diagnostics.py
"""

from __future__ import annotations

import re
from pathlib import Path

from folder_of_pages import write

from linnet.source.codes import CODES
from linnet.source.explanations import explanation, markdown

FOLDER = Path(__file__).parent / "diagnostics"
GROUPS = {
    "E1": "Text and modules",
    "E2": "Types and shapes",
    "E3": "Index notation",
    "E4": "Blocks",
    "E5": "Packages, cards and checkpoints",
    "W1": "Lints",
    "W2": "Lints of `linnet lint`",
}
INTRODUCTION = """\
# Diagnostics

What each code means, with an example that gets it and its repair; `linnet explain E2203` shows the
same on a terminal. A code keeps its meaning in every version.

These pages are made by `docs/write_diagnostics.py` from `linnet/diagnostics`: change them there.
"""


def pages() -> dict[str, str]:
    """The text of every file of the folder."""
    found = {f"{code}.md": _page(code) for code in CODES}
    return {"README.md": _index(), **found}


def _index() -> str:
    lines = [INTRODUCTION]
    for group, title in GROUPS.items():
        lines += [f"## {title}", "", "| code | |", "| --- | --- |"]
        # A `|` would end the cell, in code too.
        rows = ((code, text.replace("|", "\\|")) for code, text in CODES.items())
        lines += [f"| [{code}]({code}.md) | {text} |" for code, text in rows if code[:2] == group]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _page(code: str) -> str:
    page = explanation(code)
    body = markdown(page).replace("```linnet\n", "```rust\n")  # what renderers know to colour
    text = f"# {code}: {page.title}\n\n{body}"
    return re.sub(r"(?<![\w\[`/])([EW]\d{4})(?![\w\]:])", r"[\1](\1.md)", text)


if __name__ == "__main__":
    write(FOLDER, pages())
