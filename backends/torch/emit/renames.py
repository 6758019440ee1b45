"""Which tensor of a checkpoint each parameter is, as code.

Names that differ from layer to layer in numbers alone, `pairs.3.full.w` and `model.layers.7.w`,
are a loop over the layers; where the numbers of a name follow no rule, the names stand there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

_NUMBER = re.compile(r"([0-9]+)")
_VARIABLES = "ijklmn"
_LONGEST = 80
"""What fits into a line in a loop or two."""


@dataclass(frozen=True, slots=True)
class _Split:
    """A text as what stands around its numbers, one part more than there are numbers."""

    whole: str
    texts: tuple[str, ...]
    numbers: tuple[int, ...]

    @staticmethod
    def of(text: str) -> _Split:
        parts = _NUMBER.split(text)
        return _Split(text, tuple(parts[::2]), tuple(map(int, parts[1::2])))

    @property
    def is_plain(self) -> bool:
        """Whether no number begins with a zero that `str` would not write."""
        return all(text == str(int(text)) for text in _NUMBER.findall(self.whole))


@dataclass(frozen=True, slots=True)
class _Rule:
    """Paths and names for every number below `counts`; `numbers` are those of the two, each a
    constant and a factor for every variable."""

    counts: tuple[int, ...]
    path: tuple[str, ...]
    path_numbers: tuple[tuple[int, ...], ...]
    name: tuple[str, ...]
    name_numbers: tuple[tuple[int, ...], ...]


def state_dict_from(names: Mapping[str, str]) -> Iterator[str]:
    """The function, for the tensor's name by path."""
    rules, single = _rules(names)
    yield "def state_dict_from(checkpoint: Mapping[str, Tensor]) -> dict[str, Tensor]:"
    yield '    """The state dict of the model, of the tensors of a checkpoint by name."""'
    yield "    names = {"
    yield from (f"        {_quoted(path)}: {_quoted(name)}," for path, name in single.items())
    yield "    }"
    for counts in dict.fromkeys(rule.counts for rule in rules):
        indent = "    "
        for variable, count in zip(_VARIABLES, counts, strict=False):
            yield f"{indent}for {variable} in range({count}):"
            indent += "    "
        yield from (indent + line for line in _loop([r for r in rules if r.counts == counts]))
    yield "    return {path: checkpoint[name] for path, name in names.items()}"


def _loop(rules: Sequence[_Rule]) -> Iterator[str]:
    """What is done for each number: those that end alike together."""
    alike: dict[tuple[str, str], list[str]] = {}
    for rule in rules:
        rest = _common_end(rule.path[-1], rule.name[-1])
        heads = [
            _formatted((*texts[:-1], texts[-1].removesuffix(rest)), numbers)
            for texts, numbers in (
                (rule.path, rule.path_numbers),
                (rule.name, rule.name_numbers),
            )
        ]
        alike.setdefault((heads[0], heads[1]), []).append(rest)
    for (path, name), rests in alike.items():
        if len(rests) == 1:
            tail = _braced(rests[0])
            yield from _assigned(f"{path}{tail}", f"{name}{tail}")
            continue
        yield "for rest in ("
        yield from (f"    {_quoted(rest)}," for rest in rests)
        yield "):"
        yield from ("    " + line for line in _assigned(f"{path}{{rest}}", f"{name}{{rest}}"))


def _assigned(path: str, name: str) -> Iterator[str]:
    line = f'names[f"{path}"] = f"{name}"'
    if len(line) <= _LONGEST:
        yield line
    else:
        yield f'names[f"{path}"] = ('
        yield f'    f"{name}"'
        yield ")"


def _common_end(path: str, name: str) -> str:
    """The longest end that both have and that begins behind a dot."""
    ends = (path[k + 1 :] for k, c in enumerate(path) if c == "." and path[k + 1 :])
    return next((e for e in ends if name.endswith(f".{e}")), "")


# --- rules -------------------------------------------------------------------


def _rules(names: Mapping[str, str]) -> tuple[list[_Rule], dict[str, str]]:
    """The rules that there are, and the names that follow none."""
    groups: dict[tuple[str, ...], list[tuple[_Split, _Split]]] = {}
    for path, name in names.items():
        split = _Split.of(path), _Split.of(name)
        groups.setdefault(split[0].texts, []).append(split)
    rules: list[_Rule] = []
    single: dict[str, str] = {}
    for group in groups.values():
        rule = _rule(group)
        if rule is None:
            single |= {p.whole: n.whole for p, n in group}
        else:
            rules.append(rule)
    return rules, single


def _rule(group: Sequence[tuple[_Split, _Split]]) -> _Rule | None:
    path, name = group[0]
    if len({n.texts for _, n in group}) > 1 or not all(s.is_plain for pair in group for s in pair):
        return None
    varying = [k for k in range(len(path.numbers)) if len({p.numbers[k] for p, _ in group}) > 1]
    if not varying or len(varying) > len(_VARIABLES):
        return None
    at = {tuple(p.numbers[k] for k in varying): (p, n) for p, n in group}
    counts = tuple(max(numbers) + 1 for numbers in zip(*at, strict=True))
    if len(at) != len(group) or set(at) != set(product(*map(range, counts))):
        return None
    fitted = [
        [_fit({i: pair[side].numbers[k] for i, pair in at.items()}) for k in range(count)]
        for side, count in enumerate((len(path.numbers), len(name.numbers)))
    ]
    paths, named = ([f for f in side if f is not None] for side in fitted)
    if len(paths) < len(path.numbers) or len(named) < len(name.numbers):
        return None
    return _Rule(counts, path.texts, tuple(paths), name.texts, tuple(named))


def _fit(values: Mapping[tuple[int, ...], int]) -> tuple[int, ...] | None:
    """The constant and the factors of a number; None where it is no sum of these."""
    rank = len(next(iter(values)))
    constant = values[(0,) * rank]
    units = [tuple(int(k == axis) for k in range(rank)) for axis in range(rank)]
    factors = [values[unit] - constant for unit in units]
    for place, value in values.items():
        if constant + sum(f * i for f, i in zip(factors, place, strict=True)) != value:
            return None
    return (constant, *factors)


# --- text --------------------------------------------------------------------


def _formatted(texts: Sequence[str], numbers: Sequence[Sequence[int]]) -> str:
    """What stands between the quotes of an f-string."""
    found = [_braced(texts[0])]
    for number, text in zip(numbers, texts[1:], strict=True):
        found += [_number(number), _braced(text)]
    return "".join(found)


def _number(number: Sequence[int]) -> str:
    constant, *factors = number
    terms = [
        variable if factor == 1 else f"{factor} * {variable}"
        for variable, factor in zip(_VARIABLES, factors, strict=False)
        if factor
    ]
    if not terms:
        return str(constant)
    if constant:
        terms.append(str(constant))
    return f"{{{' + '.join(terms)}}}".replace("+ -", "- ")


def _quoted(text: str) -> str:
    """A literal of ASCII in double quotes."""
    return f'"{_escaped(text)}"'


def _braced(text: str) -> str:
    return _escaped(text).replace("{", "{{").replace("}", "}}")


def _escaped(text: str) -> str:
    """Between double quotes: `ascii` leaves these, and escapes what is no printable ASCII."""
    inner = ascii(text + '"')[1:-2]
    return inner.replace('"', '\\"')
