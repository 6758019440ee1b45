"""Relations as text: what the prover makes of them, and where they hold by Python's integers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from linnet.dims.dims import Dim, Symbol, dim_max, dim_min
from linnet.dims.prover import Answer, Facts, Relation
from linnet.dims.relations import Comparison

Env = dict[str, int]
Meaning = Callable[[Env], bool | int]
Test = tuple[set[str], Meaning]

_COMPARISONS: dict[str, Comparison] = {op: op for op in ("==", "!=", "<=", ">=", "<", ">")}


class Scope:
    """Reads dimensions and relations; every capitalised word is a symbol."""

    def __init__(self) -> None:
        self.symbols: dict[str, Symbol] = {}

    def dim(self, text: str) -> Dim:
        known = {n: Dim.of(self.symbols.setdefault(n, Symbol(n))) for n in names(text)}
        functions = {"min": dim_min, "max": dim_max}
        return Dim.of(eval(text.replace("/", "//"), {**functions, **known}))

    def relation(self, text: str) -> Relation:
        left, op, right = re.split(r" (==|!=|<=|>=|<|>) ", text)
        return Relation(_COMPARISONS[op], self.dim(left), self.dim(right))

    def facts(self, text: str) -> Facts:
        return Facts(self.relation(part) for part in parts(text))


def answer(facts: str, goal: str) -> Answer:
    scope = Scope()
    return scope.facts(facts).prove(scope.relation(goal))


def names(text: str) -> list[str]:
    """The symbols of a text, in order."""
    return list(dict.fromkeys(re.findall(r"[A-Z]\w*", text)))


def parts(facts: str) -> list[str]:
    """The relations between commas, but not between those inside of `min(A, B)`."""
    found = [""]
    depth = 0
    for letter in facts:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found if part]


def compiled(text: str) -> Meaning:
    """What a text is under an assignment."""
    code = compile(text.replace("/", "//"), text, "eval")
    return lambda env: eval(code, {"min": min, "max": max}, env)


def assignments(facts: str, goals: str, most: int = 8_000) -> Iterator[Env]:
    """Small natural numbers for all the names, and some about the literals, where `facts` hold.

    About `most` are tried; those that the facts define are not counted.
    """
    stated, wanted = parts(facts), names(f"{facts} {goals}")
    defined = dict(_definitions(stated))
    free = [name for name in wanted if name not in defined]
    literals = {int(n) for n in re.findall(r"\b\d+\b", f"{facts} {goals}")}
    width = max(3, int(most ** (1 / max(1, len(free)))))
    tests = [(set(names(part)), compiled(part)) for part in stated]
    pools = {name: _pool(name, tests, literals, width) for name in free}
    if all(test({}) for about, test in tests if not about):
        yield from _extended({}, free, pools, defined, tests)


def _extended(
    env: Env,
    free: list[str],
    pools: dict[str, list[int]],
    defined: dict[str, str],
    tests: list[Test],
) -> Iterator[Env]:
    """Every way to give the names missing from `env` a value, where the facts hold."""
    due = next((n for n, text in defined.items() if n not in env and _known(text, env)), None)
    if due is not None:
        name, options = due, [int(compiled(defined[due])(env))]
    elif free:
        (name, *free), options = free, pools[free[0]]
    else:
        yield env
        return
    decided = [test for about, test in tests if name in about and about <= {*env, name}]
    for value in options:
        more = {**env, name: value}
        if value >= 0 and all(test(more) for test in decided):
            yield from _extended(more, free, pools, defined, tests)


def _known(text: str, env: Env) -> bool:
    return env.keys() >= set(names(text))


def _definitions(stated: list[str]) -> Iterator[tuple[str, str]]:
    """`Name == value` where the value is made of names that are free or defined before."""
    taken: set[str] = set()
    for part in stated:
        found = re.fullmatch(r"([A-Z]\w*) == (.+)", part)
        if found and found[1] not in taken | set(names(found[2])):
            taken |= {found[1], *names(found[2])}
            yield found[1], found[2]


def _pool(name: str, tests: list[Test], literals: set[int], most: int) -> list[int]:
    """Values that the facts about `name` alone admit: the least, and some near literals."""
    alone = [test for about, test in tests if about == {name}]
    near = {n * k + d for n in literals if n > 4 for k in (1, 2, 3) for d in (-1, 0, 1)}
    admitted = [v for v in range(1200) if all(test({name: v}) for test in alone)]
    close = [v for v in admitted if v in near][: most // 3]
    least = admitted[: most - len(close)]
    return [*least, *(v for v in close if v not in least)]
