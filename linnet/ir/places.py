"""Where operations come from, for faults and for people."""

from __future__ import annotations

from linnet.source.files import Span

Place = Span | str
"""The span of the source, or where the module was read from its text form, `file:line`."""


def shown(place: Place) -> str:
    """`file:line`."""
    if isinstance(place, str):
        return place
    return f"{place.file.path}:{place.file.position(place.start).line}"
