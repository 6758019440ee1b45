"""`linnet nest show CARD --json`: what is known of a card, as one document."""

from __future__ import annotations

from linnet.lower.instances import Instance
from linnet.nest.match import ParameterDecl
from linnet.nest.survey import Survey, nbytes

JSON_VERSION = 1


def document(found: Survey) -> dict[str, object]:
    """The document, whose form is in `docs/commands.md`."""
    card = found.card
    return {
        "version": JSON_VERSION,
        "name": card.name,
        "title": card.title,
        "summary": card.summary,
        "license": card.license,
        "family": card.family,
        "tags": list(card.tags),
        "links": card.links,
        "weights": {"least": found.weights, "most": found.most},
        "checkpoint": {
            "repo": card.weights.repo or None,
            "revision": card.weights.revision or None,
            "files": list(card.weights.files),
        },
        "root": card.root,
        "entry": card.entry,
        "generics": dict(found.program.generics),
        "entries": [
            {"name": name, "signature": text}
            for name, text in zip(found.program.entries, found.entries(), strict=True)
        ],
        "parameters": _parameters(found),
        "states": [_tensor(state) for state in found.states],
    }


def _parameters(found: Survey) -> list[dict[str, object]]:
    """In the order of their declaration. Whether one is there is null where a checkpoint tells."""
    absent = {p.path for p in found.absent}
    lacking = None if found.is_open else False
    return [
        {**_tensor(p), "optional": p.optional, "there": lacking if p.path in absent else True}
        for p in found.parameters
    ]


def _tensor(tensor: ParameterDecl | Instance) -> dict[str, object]:
    return {
        "path": tensor.path,
        "shape": list(tensor.shape),
        "dtype": tensor.dtype,
        "bytes": nbytes([tensor]),
    }
