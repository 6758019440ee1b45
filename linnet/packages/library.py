"""What the standard library offers, by name, to those who look for an item and not a module."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from linnet.packages.package import standard_library, walk

# The library is formatted, so that a public item begins its line.
_PUBLIC = re.compile(r"^pub (?:fn|op|block|struct|enum|const|type) (\w+)", re.MULTILINE)


# What the library has nothing for, and why.
ABSENT = {
    "dropout": "leave it out: a model that runs drops nothing",
    "functional": "each function is in a module of its own, as `softmax` is in `std.nn.softmax`",
    "init": "parameters come from a checkpoint",
    "optim": "a program says what is computed, and not how it is trained",
}


def plain(name: str) -> str:
    """A name without what is a matter of style: `RMSNorm` is `rms_norm`."""
    return name.replace("_", "").casefold()


def in_library(name: str) -> str | None:
    """The item of the library that is called so, as `std.nn.softmax::softmax` is `softmax`,
    `Softmax` or `std.nn.softmax.softmax`: the `use` that imports it."""
    found = spelt(re.split(r"\.|::", name)[-1], library_items())
    return None if found is None else f"`use {library_items()[found]}::{{{found}}}`"


def spelt(name: str, items: Iterable[str]) -> str | None:
    """The item that `name` is, or is in another style."""
    found = [item for item in items if plain(item) == plain(name)]
    # A block is written as a class is, an op as a function.
    found.sort(key=lambda item: (item != name, item[0].isupper() != name[0].isupper()))
    return found[0] if found else None


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
