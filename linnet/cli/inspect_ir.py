"""`linnet inspect --ir`: the entries as tensor IR, after the passes that are named."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.cli.lowered import lowered_entries
from linnet.ir.passes.named import PASSES
from linnet.ir.text import show
from linnet.nest.generics import Generics
from linnet.source.diagnostics import Sink
from linnet.source.shown import shown
from linnet.source.suggest import did_you_mean


def unknown_pass(names: Sequence[str]) -> str | None:
    """What is wrong with the names of passes, if anything is."""
    for name in names:
        if name not in PASSES:
            near = did_you_mean(name, PASSES)
            known = f"the passes are {', '.join(PASSES)}"
            return f"there is no pass {shown(name)}: {f'{near} ' if near else ''}{known}"
    return None


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
