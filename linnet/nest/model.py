"""A loaded model as its user sees it, whatever the backend."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import RLock
from types import MappingProxyType
from typing import Any, NoReturn, SupportsIndex

from linnet.backends.base import Runtime, RuntimeFault
from linnet.check.typed import TFunction
from linnet.generate.settings import check_settings
from linnet.generate.stream import Generated, Stream
from linnet.lower.bindings import bind
from linnet.lower.instances import signature
from linnet.lower.writes import Writes
from linnet.nest.card import Card
from linnet.nest.generating import Generating, Prompt
from linnet.nest.inputs import check_inputs
from linnet.nest.program import CardProgram
from linnet.nest.results import Results, structured
from linnet.nest.text_files import Origin
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from linnet.source.files import Span
from linnet.source.suggest import did_you_mean

AGAIN = "load it again: `nest.load`; on torch, `load_state_dict` then gives it these weights"
SMALLER = "give it shorter or fewer inputs, or bind smaller generics"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a loaded model: call it with its inputs, by position or name."""

    name: str
    signature: str
    doc: str | None
    _model: Model

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._model.run(self.name, args, named)

    def __repr__(self) -> str:
        return f"<entry {self.signature}>"


class Model:
    """`model(...)` runs the card's entry, `model.prefill(...)` any by name.

    `entry(name)` is for an entry whose name an attribute of this class has.
    `unbound` are the checkpoint's tensors that no parameter is bound to.
    `writes` counts what may have changed the states. Calls from several threads take turns.
    """

    def __init__(
        self,
        program: CardProgram,
        runtime: Runtime,
        backend: str,
        unbound: tuple[str, ...],
        results: Results,
        origin: Origin,
    ) -> None:
        self._program = program
        self._runtime = runtime
        self._results = results
        self._origin = origin
        self._generating: Generating | None = None
        self._writing = Writes(program.program)
        # A run reads the states, and replaces them at its end.
        self._turn = RLock()
        self.writes = 0
        self.backend = backend
        self.unbound = unbound
        self.entries = program.entries

    @property
    def card(self) -> Card:
        """The card that was loaded."""
        return self._program.card

    @property
    def program(self) -> CardProgram:
        """The card's checked source under its generics."""
        return self._program

    @property
    def generics(self) -> Mapping[str, Any]:
        """What the root's generics are bound to; a default does not stand here."""
        return MappingProxyType(self._program.generics)

    @property
    def state(self) -> Mapping[str, Any]:
        """The states by path, as they are after the last call."""
        return MappingProxyType(self._runtime.state)

    def reset_state(self) -> None:
        """Every state at zero, as after loading."""
        with self._turn:
            self.writes += 1
            self._runtime.reset_state()

    @property
    def variants(self) -> Mapping[str, int]:
        """How often each part has been compiled, where the backend compiles for the shapes of
        inputs: that a new text does not compile anew can be seen here."""
        return MappingProxyType(dict(self._runtime.variants))

    def source(self) -> str | None:
        """The generated source, where the backend generates any."""
        return self._runtime.source()

    def entry(self, name: str) -> Entry:
        """The entry called `name`."""
        function = self._function(name)
        program = self._program
        text = signature(program.program, program.root, program.generics, name)
        return Entry(name, text, function.doc, self)

    def stream(
        self,
        prompt: Prompt,
        *,
        max_new: int | None = None,
        temperature: float = 0.0,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int | None = None,
        stop: str | Iterable[str] | None = None,
        tokenizer: str | os.PathLike[str] | None = None,
    ) -> Stream:
        """Pieces of the text that follows `prompt`: a text, tokens, or messages of a chat.

        The text ends with a token that the card or checkpoint says ends one, before any text of
        `stop`, after `max_new` tokens, or when the caches are full. `temperature` 0 takes the
        likeliest token each time; else one is drawn from the `top_k` likeliest and of these from
        the fewest that have `top_p` of all probability, the same ones for the same `seed`.
        `tokenizer` is a `tokenizer.json` or its folder, by default the card's or the checkpoint's.
        All states are reset. A `LinnetError` says what does not fit.
        """
        settings = check_settings(max_new, temperature, top_k, top_p, seed, stop)
        if self._generating is None:
            self._generating = Generating(self._program, self._origin)
        return self._generating.stream(self, prompt, settings, tokenizer)

    def generate(
        self,
        prompt: Prompt,
        *,
        max_new: int | None = None,
        temperature: float = 0.0,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int | None = None,
        stop: str | Iterable[str] | None = None,
        tokenizer: str | os.PathLike[str] | None = None,
    ) -> Generated:
        """The text that `stream` gives, whole, with its tokens and why it ended."""
        return self.stream(
            prompt,
            max_new=max_new,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            seed=seed,
            stop=stop,
            tokenizer=tokenizer,
        ).result()

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.run(self.card.entry, args, named)

    def __getattr__(self, name: str) -> Entry:
        if name.startswith("_") or name not in self.entries:
            known = ", ".join(self.entries) if not name.startswith("_") else ""
            near = did_you_mean(name, self.entries) if known else None
            note = f"; its entries are {known}" if known else ""
            note += f"; {near}" if near else ""
            raise AttributeError(f"the model has no attribute `{name}`{note}")
        return self.entry(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.entries]

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """A `LinnetError`: a model is neither copied nor pickled. Its entries are lowered for one
        set of weights, so that a copy would run on those of the original."""
        message = f"the loaded model `{self.card.name}` cannot be copied or pickled"
        raise LinnetError([Diagnostic("E2190", message, None, help=AGAIN)])

    def __repr__(self) -> str:
        return f"<model {self.card.name} on {self.backend}: {', '.join(self.entries)}>"

    def run(self, entry: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Check the inputs and run `entry`; its result has the form of an input of its type."""
        function = self._function(entry)
        block = self._program.block
        scope = bind((*block.generics, *function.generics), self._program.generics)
        try:
            inputs = check_inputs(function, scope, args, named, self._runtime.take)
            with self._turn:
                self.writes += self._writing.of(function.key)
                results = self._runtime.call(entry, inputs.arrays, inputs.given)
        except RuntimeFault as fault:
            raise LinnetError([_finding(fault, entry)]) from None
        except MemoryError:
            message = f"`{entry}` needs more memory than there is"
            raise LinnetError([Diagnostic("E5004", message, None, help=SMALLER)]) from None
        lowered = self._results[entry, inputs.given]
        return structured(function.result, lowered, iter(results))

    def _function(self, name: str) -> TFunction:
        if name not in self.entries:
            has = f"its entries are {', '.join(self.entries)}"
            near = did_you_mean(str(name), self.entries)
            message = f"`{self.card.name}` has no entry `{name}`"
            notes = (has,) if near else ()
            raise LinnetError([Diagnostic("E2107", message, None, notes=notes, help=near or has)])
        return self._program.program.functions[self._program.block.methods[name]]


def _finding(fault: RuntimeFault, entry: str) -> Diagnostic:
    """What a run came upon, at the place in the source where that is known."""
    span = fault.place if isinstance(fault.place, Span) else None
    at = f", at {fault.place}" if isinstance(fault.place, str) else ""
    return Diagnostic(fault.code, fault.message, span, notes=(f"in a run of `{entry}`{at}",))
