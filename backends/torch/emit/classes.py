"""A class for each block: what its constructor makes, and its methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from linnet.backends.code import Code, name
from linnet.backends.interpret.frame import concrete
from linnet.backends.torch.emit.functions import Owner, Written, is_taken
from linnet.backends.torch.emit.names import Names, camel, snake
from linnet.backends.torch.vocabulary import dim_code, torch_dtype
from linnet.dims.dims import Dim, Symbol
from linnet.ir.types import Type
from linnet.lower.outline import Member, Outline, Sub

Dims = Callable[[Dim], Code]


class Classes:
    """The classes of a tree of blocks, by outline."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._owners: dict[Outline, Owner] = {}
        self._titles: dict[Outline, str] = {}
        self._needed: dict[Outline, tuple[Symbol, ...]] = {}

    def owner(self, outline: Outline) -> Owner:
        """Whom the methods of a block belong to."""
        if outline not in self._owners:
            others = (o for o in self._owners if o.key == outline.key)
            self._titles[outline] = self._names.new(_title(outline, next(others, None)))
            taken = [m.name for m in outline.members]
            self._owners[outline] = Owner(outline, _MethodNames(taken))
        return self._owners[outline]

    def renew(self) -> None:
        """Ask again what constructors take, after methods were written."""
        self._needed.clear()

    def title(self, outline: Outline) -> str:
        """The name of the class."""
        self.owner(outline)
        return self._titles[outline]

    def needed(self, outline: Outline) -> tuple[Symbol, ...]:
        """The generics that the constructor takes: those that anything in the block asks for."""
        if outline not in self._needed:
            used = set(self.owner(outline).symbols)
            for member in outline.members:
                if isinstance(member, Member):
                    used |= {s for d in member.type.shape for s in d.symbols()}
                    continue
                inner = dict(member.generics)
                for symbol in self.needed(member.block):
                    used |= inner[symbol].symbols()
                if member.count is not None:
                    used |= member.count.symbols()
            self._needed[outline] = tuple(s for s in outline.symbols if s in used)
        return self._needed[outline]

    def params(self, outline: Outline) -> dict[Symbol, str]:
        """What the constructor calls the generics that it takes; no class below has the name."""
        names = Names(self.title(m.block) for m in outline.members if isinstance(m, Sub))
        return {s: names.new(snake(s.name)) for s in self.needed(outline)}

    def lines(self, outline: Outline) -> Iterator[str]:
        """The class."""
        owner = self.owner(outline)
        yield f"class {self.title(outline)}(nn.Module):"
        yield from _indented(self._constructor(outline, owner))
        for written in owner.all:
            yield ""
            yield from _indented(definition(written, "self"))

    def made(self, outline: Outline, generics: Mapping[Symbol, Dim], dims: Dims) -> str:
        """The call of the constructor."""
        text = ", ".join(dims(generics[s]).text for s in self.needed(outline))
        return f"{self.title(outline)}({text})"

    def _constructor(self, outline: Outline, owner: Owner) -> Iterator[str]:
        local = self.params(outline)

        def dims(dim: Dim) -> Code:
            return dim_code(dim, lambda s: name(local[s], "number"))

        params = "".join(f", {text}: int" for text in local.values())
        yield f"def __init__(self{params}) -> None:"
        yield "    super().__init__()"
        for symbol, attribute in owner.symbols.items():
            yield f"    self.{attribute} = {local[symbol]}"
        for member in outline.members:
            yield f"    {self._member(member, dims)}"
        yield from (f"    {line}" for line in owner.preparation.registered())

    def _member(self, member: Member | Sub, dims: Dims) -> str:
        if isinstance(member, Sub):
            made = self.made(member.block, dict(member.generics), dims)
            if member.count is not None:
                made = f"nn.ModuleList({made} for _ in range({dims(member.count)}))"
            return _stored(member.name, "_modules", made)
        dtype = concrete(member.type.dtype)
        if member.kind == "param":
            grad = "" if dtype.is_float else ", requires_grad=False"
            made = f"nn.Parameter({_tensor('empty', member.type, dims)}{grad})"
            return _stored(member.name, "_parameters", made)
        how = "zeros" if member.kind == "state" else "empty"
        kept = ", persistent=False" if member.kind == "state" else ""
        made = _tensor(how, member.type, dims)
        if is_taken(member.name):
            if kept:
                return f'self._buffers["{member.name}"] = {made}  # not persistent'
            return f'self._buffers["{member.name}"] = {made}'
        return f'self.register_buffer("{member.name}", {made}{kept})'


def _title(outline: Outline, other: Outline | None) -> str:
    """The name of a block; of one that has more or fewer optional members than the `other` of that
    name, also which."""
    title = outline.key.rpartition("::")[2]
    own, its = ({m.name for m in o.members} if o else set[str]() for o in (outline, other))
    if other is None or own == its:
        return title
    word, differ = ("With", own - its) if own - its else ("Without", its - own)
    return title + word + "And".join(camel(m) for m in sorted(differ))


class _MethodNames(Names):
    """Names of methods: none that `nn.Module` has."""

    def new(self, wanted: str) -> str:
        clash = wanted != "forward" and is_taken(wanted)
        return super().new(f"{wanted}_" if clash else wanted)


def _stored(member: str, store: str, made: str) -> str:
    return f'self.{store}["{member}"] = {made}' if is_taken(member) else f"self.{member} = {made}"


def _tensor(how: str, type_: Type, dims: Dims) -> str:
    extents = ", ".join(dims(d).text for d in type_.shape) or "()"
    return f"torch.{how}({extents}, dtype={torch_dtype(type_.dtype)})"


def definition(written: Written, *first: str) -> Iterator[str]:
    """`def name(...)` and its body."""
    params = [*first, *(f"{text}: {type_}" for text, type_ in written.params)]
    own = [*(f"{text}: int" for _, text in written.symbols)]
    if written.device:
        own.append("device: torch.device")
    if own:
        params += ["*", *own]
    yield f"def {written.name}({', '.join(params)}) -> {written.result}:"
    for line in written.lines or ("pass",):
        yield f"    {line}"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"    {line}" if line else "" for line in lines)
