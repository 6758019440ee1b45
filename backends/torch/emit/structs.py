"""Structs of the source that functions take and give, as named tuples."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence

from linnet.backends.code import Code, call, name
from linnet.backends.torch.emit.names import Names
from linnet.ir.core import Fields


def grouped(structs: Iterable[Fields], integers: frozenset[int] = frozenset()) -> list[Fields]:
    """Those that are worth a tuple: of several fields, none of them among the `integers`."""
    return [f for f in structs if len(f.fields) > 1 and integers.isdisjoint(range(f.first, f.stop))]


def places(count: int, structs: Iterable[Fields]) -> Iterator[int | Fields]:
    """`count` parameters or results in order: the number of each, or the struct that some are."""
    at = 0
    for fields in structs:
        yield from range(at, fields.first)
        yield fields
        at = fields.stop
    yield from range(at, count)


def attributes(fields: Fields) -> tuple[str, ...]:
    """What the fields are called in Python."""
    names = Names()
    return tuple(names.new(_attribute(f)) for f in fields.fields)


def _attribute(field: str) -> str:
    text = field.lstrip("_") or "value"
    return f"{text}_" if keyword.iskeyword(text) or hasattr(tuple, text) else text


def stem(fields: Fields, hint: str) -> str:
    """Of `turns_cosines`, the hint of the first field, what the whole is called: `turns`."""
    return hint.removesuffix(f"_{fields.fields[0]}") or "value"


class Structs:
    """The classes of a file, by struct."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._titles: dict[tuple[str, tuple[str, ...]], str] = {}

    @property
    def titles(self) -> set[str]:
        """The names of the classes."""
        return set(self._titles.values())

    def title(self, fields: Fields) -> str:
        """The name of its class."""
        key = fields.struct, attributes(fields)
        if key not in self._titles:
            self._titles[key] = self._names.new(fields.struct.rpartition("::")[2])
        return self._titles[key]

    def definitions(self) -> Iterator[str]:
        """The classes."""
        for (_, own), title in self._titles.items():
            yield "\n".join([f"class {title}(NamedTuple):", *(f"    {f}: Tensor" for f in own)])

    def gathered(
        self, structs: Iterable[Fields], codes: Sequence[Code], holding: Mapping[str, str]
    ) -> list[Code]:
        """`codes` with one in place of each struct: the variable that holds it, by `holding` one of
        its class, or a tuple made of its fields."""
        return [
            codes[place] if isinstance(place, int) else self._one(place, codes, holding)
            for place in places(len(codes), structs)
        ]

    def _one(self, fields: Fields, every: Sequence[Code], holding: Mapping[str, str]) -> Code:
        codes = every[fields.first : fields.stop]
        title, names = self.title(fields), attributes(fields)
        held = codes[0].text.rpartition(".")[0]
        parts = [f"{held}.{n}" for n in names]
        if holding.get(held) == title and [c.text for c in codes] == parts:
            return name(held)
        return call(title, *codes)
