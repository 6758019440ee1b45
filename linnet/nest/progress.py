"""A progress bar for long work: on a terminal only, and on its error stream."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def progress(label: str, total: int, enabled: bool = True) -> Generator[Callable[[int], None]]:
    """Yields what is called with the number of bytes done since the last call."""
    if not enabled or not sys.stderr.isatty():
        yield lambda done: None
        return
    # Only a terminal pays for the import.
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(True))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.advance(task, done)
