"""The road through the compiler: text in, checked program out.

`linnet.nest.load` goes on from here: checked program and numbers for its
generics in, tensor IR out (`linnet.lower`), and a backend that runs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linnet.check.program import check_modules
from linnet.check.typed import Program
from linnet.packages.modules import ModuleGraph, load_modules
from linnet.source.diagnostics import Sink
from linnet.source.render import summary_line


@dataclass(frozen=True, slots=True)
class CheckResult:
    """`program` is whole only if `sink.errors` is 0."""

    program: Program
    sink: Sink
    graph: ModuleGraph

    def __repr__(self) -> str:
        errors, modules = self.sink.errors, len(self.graph.modules)
        found = summary_line(errors, len(list(self.sink)) - errors) if list(self.sink) else "sound"
        return f"<check of {modules} module{'s' if modules != 1 else ''}: {found}>"


def check_paths(
    paths: Path | str | Sequence[Path | str],
    overlay: Mapping[Path, str] | None = None,
    folder: Path | None = None,
) -> CheckResult:
    """Find and parse the modules of `paths` (files or folders, or one of them) and all they use,
    and check them.

    `overlay` gives texts that win over files, as an editor's unsaved buffers do. Messages name
    files as `paths` are written, or the `folder` that was given where the paths follow from it.
    """
    paths = [paths] if isinstance(paths, Path | str) else paths
    sink = Sink()
    graph = load_modules([Path(p) for p in paths], sink, overlay or {}, folder)
    return CheckResult(check_modules(graph.modules, sink), sink, graph)
