"""How large a scalar expression is when it is written out."""

from __future__ import annotations

from linnet.ir.scalar import Scalar, children


class Sizes:
    """Counts nodes as a walk meets them: what is used twice counts twice."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        # The expressions are held, so that no other comes to have the identity of one.
        self._known: dict[int, tuple[Scalar, int]] = {}

    def of(self, scalar: Scalar) -> int:
        """The number of nodes of `scalar`."""
        found = self._known.get(id(scalar))
        if found is None:
            found = self._known[id(scalar)] = (scalar, 1 + sum(map(self.of, children(scalar))))
        return found[1]
