"""What a block computes of its parameters once, and keeps in buffers that no state dict has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from linnet.backends.code import Code, name
from linnet.backends.torch.emit.names import Names

METHOD = "prepare"
"""The method of a block that computes all of it, if no member has the name."""


@dataclass(slots=True)
class Preparation:
    """The buffers of a block by the expressions that they are computed with."""

    names: Names
    method: str = ""
    buffers: dict[str, str] = field(default_factory=dict[str, str])
    functions: dict[Callable[..., Any], None] = field(
        default_factory=dict[Callable[..., Any], None]
    )

    def buffer(self, made: Code, operands: Sequence[Code]) -> Code:
        """The buffer that holds `made`, which is made of `operands`."""
        if not self.method:
            self.method = self.names.new(METHOD)
        if made.text not in self.buffers:
            self.buffers[made.text] = self.names.new(_title(operands))
            self.functions.update(dict.fromkeys(made.functions))
        return name(f"self.{self.buffers[made.text]}")

    def lines(self) -> Iterator[str]:
        """The statements of the method."""
        return (f"self.{buffer} = {text}" for text, buffer in self.buffers.items())

    def registered(self) -> Iterator[str]:
        """The statements of the constructor."""
        for buffer in self.buffers.values():
            yield f'self.register_buffer("{buffer}", None, persistent=False)'


def _title(operands: Sequence[Code]) -> str:
    """`gate_up_prepared` for what is made of `self.gate_up_blocks` and `self.gate_up_scales`."""
    members = [o.text.removeprefix("self.") for o in operands]
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*members, strict=False))
    stem = "".join(letters[0] for letters in alike)
    stem = stem.rpartition("_")[0] if len(members) > 1 else stem
    return f"{stem}_prepared" if stem.isidentifier() else "prepared"
