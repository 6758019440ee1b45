"""What is visible at a place of a module, innermost first, as the checker's scopes have it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from linnet.lsp.declared import Declaration


@dataclass(frozen=True, slots=True)
class View:
    """Names by layer: an index hides a local, which hides a generic, and so on. `frames` are
    those of the statements around, which grow as statements are gone through."""

    items: dict[str, Declaration]
    members: dict[str, Declaration] = field(default_factory=dict[str, Declaration])
    generics: dict[str, Declaration] = field(default_factory=dict[str, Declaration])
    frames: tuple[dict[str, Declaration], ...] = ()
    indices: dict[str, Declaration] | None = None

    def find(self, name: str) -> Declaration | None:
        """What a name means."""
        return next((layer[name] for layer in self._layers() if name in layer), None)

    def every(self) -> dict[str, Declaration]:
        """All names that mean something."""
        found: dict[str, Declaration] = {}
        for layer in self._layers():
            for name, declaration in layer.items():
                found.setdefault(name, declaration)
        return found

    def _layers(self) -> Iterator[dict[str, Declaration]]:
        if self.indices is not None:
            yield self.indices
        yield from reversed(self.frames)
        yield from (self.generics, self.members, self.items)

    def with_generics(self, more: dict[str, Declaration]) -> View:
        """Inside an item or method with generics of its own."""
        return replace(self, generics={**self.generics, **more})

    def inside(self, frame: dict[str, Declaration]) -> View:
        """Inside statements or an arm with names of their own."""
        return replace(self, frames=(*self.frames, frame))

    def with_indices(self, indices: dict[str, Declaration] | None) -> View:
        """Inside index notation with these indices; None outside it."""
        return replace(self, indices=indices)

    def declare(self, declaration: Declaration) -> None:
        """A name for the statements that follow."""
        self.frames[-1][declaration.name] = declaration
