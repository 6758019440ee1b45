"""What the standard library offers, by name, to those who look for an item and not a module."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from linnet.packages.package import standard_library, walk

# The library is formatted, so that a public item begins its line.
_PUBLIC = re.compile(r"^pub (?:fn|op|block|struct|enum|const|type) (\w+)", re.MULTILINE)


@cache
def library_items() -> Mapping[str, str]:
    """The public items of the library, each with the path of its module: `Linear` is in
    `std.nn.linear`. Files are read, and not parsed."""
    folder = standard_library()
    found: dict[str, str] = {}
    for file in walk(folder):
        module = ".".join(("std", *file.relative_to(folder).with_suffix("").parts))
        for name in _PUBLIC.findall(file.read_text("utf-8")):
            found.setdefault(name, module)
    return found
