"""`linnet inspect --ir`: the entries as tensor IR, after the passes that are named."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.cli.lowered import lowered_entries
from linnet.ir.passes.named import PASSES
from linnet.ir.text import show
from linnet.nest.generics import Generics
from linnet.source.diagnostics import Sink


def modules(
    target: str, entry: str | None, generics: Generics, passes: Sequence[str], sink: Sink
) -> tuple[str, dict[str, object]]:
    """The text of each entry's module, and the document of them."""
    texts: dict[str, str] = {}
    for name, module in lowered_entries(target, entry, generics, sink).items():
        for each in passes:
            module = PASSES[each](module)
        texts[name] = show(module)
    entries = [{"entry": name, "text": text} for name, text in texts.items()]
    return "\n".join(texts.values()).rstrip("\n"), {"passes": list(passes), "entries": entries}
