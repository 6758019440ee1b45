"""A device for graphs that there is everywhere: it records by running."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

Results = tuple[Tensor, ...]


class Recorder:
    """Records work by doing it and undoing what that does to states; a replay does it again."""

    def __init__(self, waits: bool = False) -> None:
        self.waits = waits
        self.states: list[Tensor] = []
        self.warmed = self.captured = self.replayed = 0

    def warm_up(self, run: Callable[[], Results]) -> Results:
        self.warmed += 1
        return run()

    def capture(self, run: Callable[[], Results]) -> tuple[Callable[[], None], Results]:
        if self.waits:
            raise RuntimeError("operation not permitted when stream is capturing")
        self.captured += 1
        before = [s.clone() for s in self.states]
        results = run()
        for state, old in zip(self.states, before, strict=True):
            state.copy_(old)

        def replay() -> None:
            self.replayed += 1
            for kept, new in zip(results, run(), strict=True):
                kept.copy_(new)

        return replay, results
