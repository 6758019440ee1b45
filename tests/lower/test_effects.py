"""In which order states are read and written: the order of the program, inside expressions too."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linnet.ir.passes.dce import dce
from linnet.ir.passes.inline import inline
from linnet.ir.passes.vectorize import vectorize
from linnet.ir.verify import verify
from tests.backends.each import BACKENDS, HERE, run
from tests.lower.effects import STATES, Entry, entries
from tests.lower.lowering import source

# `inc(d)` and `c.push(d)` append a digit to a state and give it: numbers show who came first.
BLOCKS = """
struct Pair {{ low: i64 high: i64 }}
block Digits {{
    state s: i64
    pub fn push(by: i64) -> i64 {{ s = s * 10 + by
        return s }}
    pub fn look() -> i64 {{ return s }}
}}
block Model {{
    sub c: Digits
    sub d: Digits
    state t: i64
    fn inc(by: i64) -> i64 {{ t = t * 10 + by
        return t }}
    fn two(a: i64, b: i64 = 0, c: i64 = 0) -> i64 {{ return a * 1000 + b - c }}
    fn at(x: i64, by: i64, more: i64 = 0) -> i64 {{ return x * by + more }}
    pub entry f(x: i64) -> i64 {{
        {body}
    }}
}}
"""

CASES = [
    # body; what it gives for `x = 1`, with every state 0 at first
    ("return t + inc(1) * 100 + t", 0 + 100 + 1),
    ("return inc(1) - t * 2 + inc(2)", 1 - 2 + 12),
    ("return two(inc(1), t) + two(t, inc(2))", 1001 + 1012),
    ("return two(c = inc(1), a = inc(2), b = inc(3))", 12 * 1000 + 123 - 1),
    ("return two(b = inc(1), a = inc(2)) + t", 12 * 1000 + 1 + 12),
    ("let p = Pair { high: inc(1), low: inc(2) }\nreturn p.high * 1000 + p.low", 1012),
    ("let (a, b, c) = (inc(1), t, inc(2))\nreturn a * 10000 + b * 100 + c", 10112),
    ("return if inc(1) < t + 1 { t } else { inc(5) }", 1),
    ("return (if inc(1) > 0 { inc(2) } else { inc(3) }) * 1000 + t", 12012),
    ("let b = x > 5 && inc(1) > 0\nreturn t", 0),
    ("let b = x > 5 || inc(1) > 0\nreturn t", 1),
    ("let b = inc(1) > 0 && inc(2) > 0\nreturn t", 12),
    ("return select(x > 0, inc(1), inc(2)) * 100 + t", 112),
    ("let o: i64? = some(inc(1))\nreturn match o { some(v) => v * 10 + inc(2)  none => 7 }", 22),
    ("t = t + inc(7) + t\nreturn t", 14),
    ("t = inc(inc(1))\nreturn t", 11),
    ("let a = c.push(3) + c.look() * 10 + d.look()\nreturn a * 100 + c.push(4)", 3334),
    ("var n = 0\nwhile inc(1) < 1000 { n = n + 1 }\nreturn n * 10000 + t", 31111),
    (
        "while t < 50 { t = t + x\nlet y = c.push(1)\nt = t + 20 }\nreturn t * 1000 + c.look()",
        63111,
    ),
    ("static for i in 1..4 { t = t * 10 + i\nt = t + c.push(0) }\nreturn t", 123),
    # Index notation: what depends on no index is evaluated once, where it stands.
    ("let n = iota<i64>(3)\nlet v[i] = n[i] * inc(2) + t * n[i] + inc(3)\nreturn v[1]", 27),
    ("let n = iota<i64>(3)\nlet v[i] = t + n[i] * inc(2) + t\nreturn v[1]", 0 + 2 + 2),
    ("let n = iota<i64>(3)\nlet v[i] = at(n[i], inc(1), more = inc(2))\nreturn v[2]", 2 + 12),
    ("let n = iota<i64>(3)\nlet v[i] = at(more = inc(1), by = inc(2), x = n[i])\nreturn v[2]", 25),
]


@pytest.mark.parametrize(("body", "wanted"), CASES, ids=[body[:40] for body, _ in CASES])
@pytest.mark.parametrize("backend", BACKENDS)
def test_order(tmp_path: Path, backend: str, body: str, wanted: int) -> None:
    module = source(tmp_path, BLOCKS.format(body=body)).entry("Model", "f")
    state = {path: np.asarray(np.int64(0)) for path in ("t", "c.s", "d.s")}
    (result,) = run(backend, module, [np.int64(1)], state=state)
    assert int(result) == wanted


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(entry=entries(), x=st.integers(-3, 3))
def test_a_random_entry_means_what_its_statements_do(
    entry: Entry, x: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    module = source(tmp_path_factory.mktemp("effects"), entry.text).entry("Model", "f")
    whole = dce(inline(vectorize(module), lambda _: True))
    verify(whole)
    for version, backend in product((module, whole), HERE):
        wanted = dict.fromkeys(STATES, 0)
        state = {path: np.asarray(np.int64(0)) for path in STATES}
        for argument in (x, 1):
            (result,) = run(backend, version, [np.int64(argument)], state=state)
            assert int(result) == entry.run(argument, wanted)
            assert {path: int(v) for path, v in state.items()} == wanted
