"""A model as generated source: written when it is asked for, and run by PyTorch."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from linnet.backends.contract import Given, RuntimeFault, Sources
from linnet.backends.interpret.frame import bind_symbols
from linnet.backends.torch.dtypes import TORCH
from linnet.backends.torch.emit.module import Selecting, Source, Writer
from linnet.backends.torch.faults import GENERATED
from linnet.backends.torch.inductor.compiling import Inductor
from linnet.dims.dims import Dim, Symbol
from linnet.ir.types import Type

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class _Entry:
    """What an entry takes, by which the symbols are bound that a call has to give."""

    params: tuple[Type, ...]
    values: Mapping[Symbol, Dim]


@dataclass(slots=True)
class Generated:
    """The classes of a model. Entries that are asked for later are written then: the classes are
    made again, and the modules that there are become theirs."""

    name: str
    entries: tuple[str, ...]
    sources: Sources
    selecting: Selecting
    inductor: Inductor | None = None
    module: nn.Module = field(init=False)
    _writer: Writer = field(init=False)
    _source: Source = field(init=False)
    _space: ModuleType = field(init=False)
    _plain: nn.Module = field(init=False)
    _ready: dict[str, _Entry] = field(default_factory=dict[str, "_Entry"])

    def __post_init__(self) -> None:
        outline, values = self.sources.outline()
        self._writer = Writer(self.name, outline, values, self.selecting, self.entries)
        self.module = self._plain = self._made()

    def source(self) -> str:
        """The source of all entries."""
        self._require(self.entries)
        return self._source.text

    def method(self, entry: str, given: Given) -> Callable[..., Any]:
        """What runs an entry: to be called with tensors."""
        key = _key(entry, given)
        if self.inductor is not None:
            self._require(self.entries)  # those written later would have all compiled anew
        self._require([entry], given)
        written = self._source.entries[key]
        if key in self._source.functions:
            function = getattr(self._space, written.name)
        else:
            owner: type[nn.Module] = getattr(self._space, self._source.root)
            function = getattr(owner, written.name).__get__(self._plain)
        if written.device:
            function = partial(function, device=self._device())
        symbols = written.symbols
        return self._bound(self._ready[key], function, symbols) if symbols else function

    def _device(self) -> torch.device:
        """Where the model is; of one without tensors, where it is to run."""
        held = next(chain(self.module.parameters(), self.module.buffers()), None)
        return torch.device(self.selecting.device) if held is None else held.device

    def _bound(
        self, entry: _Entry, function: Callable[..., Any], symbols: Sequence[tuple[Symbol, str]]
    ) -> Callable[..., Any]:
        """`function` with the dimensions that only the entry's types tell."""
        types = [t.under(entry.values) for t in entry.params]

        def run(*arguments: Tensor) -> Any:
            found = bind_symbols(types, arguments, {}, TORCH)
            known = {s: Dim.of(n) for s, n in found.items()}
            named: dict[str, Any] = {}
            for symbol, text in symbols:
                named[text] = entry.values[symbol].substitute(known).as_int()
                if named[text] is None:
                    raise RuntimeFault(f"the dimension `{symbol}` has no value here")
            return function(*arguments, **named)

        return run

    def _require(self, entries: Sequence[str], given: Given = ()) -> None:
        missing = [e for e in entries if _key(e, given) not in self._ready]
        for entry in missing:
            self._write(entry, given)
        if missing:
            self._renew()

    def _write(self, entry: str, given: Given) -> None:
        lowered = self.sources.lower(entry, given)
        function = lowered.module.functions[lowered.module.entry]
        self._writer.entry(_key(entry, given), lowered)
        self._ready[_key(entry, given)] = _Entry(
            tuple(p.type for p in function.params), lowered.values
        )

    def _renew(self) -> None:
        """The classes again; the modules of the model become of the new ones."""
        known = self._source.prepared
        made = self._made()
        for old, new in zip(self.module.modules(), made.modules(), strict=True):
            face = type(old)
            old.__class__ = _faced(face, type(new))
            old.__dict__.update((k, v) for k, v in new.__dict__.items() if type(v) is int)
            for buffer in new._buffers.keys() - old._buffers.keys():  # pyright: ignore[reportPrivateUsage]
                old.register_buffer(buffer, None, persistent=False)
        self._plain = _without_face(self.module, type(made))
        if known != self._source.prepared:
            self.prepare()

    def prepare(self) -> None:
        """Compute what is made of parameters alone, for the entries that are written."""
        if self._source.prepared:
            with torch.no_grad():
                self._space.prepare(self.module)

    def _made(self) -> nn.Module:
        """The model on no device."""
        self._source = self._writer.source()
        file = f"{GENERATED}{self.name} {next(_numbers)}>"
        lines = self._source.text.splitlines(keepends=True)
        linecache.cache[file] = len(self._source.text), None, lines, file
        self._space = ModuleType("linnet_generated")
        self._run(self._source, file)
        with torch.device("meta"):
            made: nn.Module = self._space.model()
        return made

    def _run(self, source: Source, file: str) -> None:
        space = self._space.__dict__
        if self.inductor is None:
            exec(compile(source.text, file, "exec"), space)
            return
        tree, pieces = self.inductor.tree(source)
        exec(compile(tree, file, "exec"), space)
        self.inductor.compile(space, pieces)


def _without_face(module: nn.Module, plain: type[nn.Module]) -> nn.Module:
    """What is `module` in all but its class, which is the generated one: no compiler has to look
    into a face."""
    twin = plain.__new__(plain)
    object.__setattr__(twin, "__dict__", module.__dict__)
    return twin


def _faced(face: type[nn.Module], new: type[nn.Module]) -> type[nn.Module]:
    """`new` under what the class has been given as a face, if it has."""
    outer = getattr(face, "linnet_face", None)
    return new if outer is None else outer(new)


def _key(entry: str, given: Given) -> str:
    return " ".join([entry, *(f"{name}={there}" for name, there in given)])
