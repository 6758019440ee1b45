"""Names in generated source: Python's, none twice in a scope, none of a keyword or a builtin."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

FRAMEWORK = ("torch", "F", "nn", "Tensor", "self")
_UNCLEAR = ("l", "O", "I")
"""Names that linters refuse, as they look like numbers."""
_RESERVED = frozenset((*keyword.kwlist, *dir(builtins), *FRAMEWORK, *_UNCLEAR))
_NUMBERED = re.compile(r"_\d+$")


class Names:
    """The names of one scope."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def has(self, name: str) -> bool:
        """Whether the name is taken."""
        return name in self._taken

    def new(self, wanted: str) -> str:
        """`wanted`, or that with a number behind it where it is taken."""
        name, number = free(wanted), 1
        stem = _NUMBERED.sub("", name)
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}"
        self._taken.add(name)
        return name


def free(wanted: str) -> str:
    """`wanted` where Python has no meaning for it, else with an underscore. In a class, Python
    gives names that begin with two underscores another name; one alone is no name here."""
    if wanted.startswith("__") or wanted == "_":
        wanted = f"_{wanted.strip('_') or 'value'}"
    return f"{wanted}_" if wanted in _RESERVED else wanted


def snake(name: str) -> str:
    """`KvHeads` as `kv_heads`, `H` as `h`, `In` as `in_`."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return free(parted.lower())


def camel(name: str) -> str:
    """`gate_up` as `GateUp`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def base_of(function: str) -> tuple[str, str | None]:
    """Of `std.nn.norm::RmsNorm.forward.2` the name `forward`, and the block `RmsNorm`; of a
    function outside any block its name alone."""
    parts = [p for p in function.rpartition("::")[2].split(".") if not p.isdecimal()]
    return parts[-1], parts[0] if len(parts) > 1 else None
