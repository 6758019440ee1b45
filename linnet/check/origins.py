"""What the value of a local was made of, without a copy of it for each local.

let a = x + w      made of x, w
let b = a * 2.0    made of a, and what that was made of when `b` was declared
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """The declarations that an expression names, and the origins of those that are locals."""

    named: frozenset[object]
    below: tuple[Origin, ...] = ()

    def and_(self, other: Origin) -> Origin:
        """What is made of both."""
        return Origin(frozenset(), (self, other))

    def all(self) -> frozenset[object]:
        """All it was made of, at once or by way of others."""
        found = set[object]()
        seen: set[Origin] = {self}
        pending: list[Origin] = [self]
        while pending:
            origin = pending.pop()
            found |= origin.named
            fresh = [o for o in origin.below if o not in seen]
            seen.update(fresh)
            pending += fresh
        return frozenset(found)
