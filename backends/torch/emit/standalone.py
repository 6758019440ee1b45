"""A model as a file that stands alone: it imports PyTorch, and on a GPU what starts Triton's
kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from linnet.backends.base import Sources
from linnet.backends.torch.emit import library
from linnet.backends.torch.emit.module import Selecting, Writer, joined
from linnet.backends.torch.emit.renames import state_dict_from

Kernels = Literal["inline", "import"]
"""Where the functions that the model calls are: in the file itself, or in Linnet."""


def standalone(
    title: str,
    sources: Sources,
    entries: Iterable[str],
    selecting: Selecting,
    kernels: Kernels = "inline",
    names: Mapping[str, str] | None = None,
) -> str:
    """The text of the file. `names` are those of the checkpoint's tensors by path; with None, or
    where they are the paths, there is nothing to rename. A `LinnetError` where an entry cannot be
    lowered."""
    outline, values = sources.outline()
    renamed = names is not None and any(path != name for path, name in names.items())
    taken = {"state_dict_from", "Mapping", *(library.names() if kernels == "inline" else ())}
    writer = Writer(title, outline, values, selecting, taken=taken)
    for entry in entries:
        writer.entry(entry, sources.lower(entry, ()))
    parts, called = writer.parts(), tuple(writer.called())
    imports = {module: set(found) for module, found in writer.imports().items()}
    if kernels == "inline":
        found = library.pasted(called)
        for module, needed in found.imports.items():
            imports.setdefault(module, set()).update(needed)
        called = found.others
        parts = [*found.definitions, *parts]
    if renamed and names is not None:
        parts.append("\n".join(state_dict_from(names)))
        imports.setdefault("collections.abc", set()).add("Mapping")
    head = list(_head(writer, selecting, bool(called), renamed))
    return joined(head, imports, called, parts)


def _head(writer: Writer, selecting: Selecting, imports: bool, renamed: bool) -> Iterator[str]:
    """What the file says of itself."""
    given = "state_dict_from(checkpoint)" if renamed else "checkpoint"
    kind = selecting.device.partition(":")[0]
    yield f'"""{writer.title}, written by Linnet with numerics `{selecting.numerics}` for {kind}.'
    yield ""
    yield f'    with torch.device("{kind}"):'
    yield "        net = model()"
    yield f"    net.load_state_dict({given})"
    yield "    with torch.inference_mode():"
    yield "        ..."
    yield ""
    yield "`checkpoint` is the tensors of the checkpoint by name, as `safetensors.torch.load_file`"
    yield "gives them."
    if writer.has_states:
        yield "Entries overwrite the states in place."
    if imports:
        yield "It needs Linnet installed: the kernels that it imports are not written out."
    yield '"""'
