"""Whatever the tokens are, checking ends with findings, never with an exception.

Programs that are right, or nearly, get a few tokens deleted, doubled, swapped or replaced by
tokens of the same file or of the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linnet.check.scope import Scope
from linnet.check.typed import Local
from linnet.check.types import ErrorType
from linnet.lower.module import lower_function
from linnet.pipeline import CheckResult, check_paths
from linnet.source.errors import LinnetError
from linnet.source.render import render_text

ROOT = Path(__file__).parents[2]
FOLDERS = [
    ROOT / "tests" / "golden" / "check",
    ROOT / "tests" / "golden" / "lower",
    ROOT / "stdlib",
    ROOT / ".." / "shared" / "seed" / "gpt-oss-20b" / "src",
]
TOKEN = re.compile(
    r"//[^\n]*|[A-Za-z_]\w*|\d[\w.]*|\.\.\.|\.\.|->|=>|==|!=|<=|>=|&&|\|\||::|\s+|[^\s\w]"
)
# Split where it is used, as a list of the words would be a page long.
COMMON = """
0 1 2 3 8 255 9223372036854775807 1.5 true none some(x) x y i N H *S T f32 i32 bool Tensor
+ - * / % == != < <= > >= && || ! & ^ [0] [i] [*s] [...] [1:3] ? ( ) [ ] { } , : = let var
sum[i] min max cast<T> fill([N],1) iota(N) reshape select static while where return match
state param sub fn struct type enum const block
"""
Edit = tuple[str, float, float, int]


@cache
def sources() -> list[tuple[Path, list[str]]]:
    files = [f for folder in FOLDERS for f in sorted(folder.rglob("*.linnet"))]
    texts = [(f, f.read_bytes().decode("utf-8", "replace")) for f in files]
    # The seed is slow to check and deep inputs have tests of their own.
    return [(f, TOKEN.findall(text)) for f, text in texts if len(text) < 20_000]


def edited(tokens: list[str], edits: list[Edit]) -> str:
    """`tokens` with the edits made one after the other, at places given as fractions."""
    out = list(tokens)
    for kind, where, other, word in edits:
        solid = [i for i, t in enumerate(out) if not t.isspace() and not t.startswith("//")]
        if not solid:
            break
        at, source = solid[int(where * len(solid))], solid[int(other * len(solid))]
        if kind == "delete":
            out[at] = " "
        elif kind == "double":
            out.insert(at, out[at] + " ")
        elif kind == "swap":
            out[at], out[source] = out[source], out[at]
        elif kind == "copy":
            out[at] = alike(out, solid, at, source)
        else:
            words = COMMON.split()
            out[at] = words[word % len(words)]
    return "".join(out)


def alike(tokens: list[str], solid: list[int], at: int, start: int) -> str:
    """The next token after `start` of the same sort as the one at `at`: a name for a name."""
    sort = tokens[at][0].isalpha(), tokens[at][0].isdigit()
    later = [i for i in solid if i > start] + solid
    return next(t for i in later if ((t := tokens[i])[0].isalpha(), t[0].isdigit()) == sort)


def lowered(result: CheckResult) -> None:
    """An accepted function without open dtypes or packs lowers, or is refused with findings."""
    for key, function in result.program.functions.items():
        open_ = [g for g in function.generics if g.kind != "Dim" and g.default is None]
        if function.block is None and not open_ and key.partition("::")[0] in result.program.roots:
            try:
                lower_function(result.program, key)
            except LinnetError as error:
                assert error.diagnostics


fraction = st.floats(0, 1, exclude_max=True, allow_nan=False)
edit = st.tuples(
    st.sampled_from(["delete", "double", "swap", "copy", "copy", "copy", "word", "word"]),
    fraction,
    fraction,
    st.integers(0, 999),
)


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(fraction, st.lists(edit, min_size=1, max_size=3))
def test_never_raises(which: float, edits: list[Edit]) -> None:
    files = sources()
    path, tokens = files[int(which * len(files))]
    result = check_paths([path], overlay={path: edited(tokens, edits)})
    for finding in result.sink:
        assert render_text(finding)
        if finding.span is not None:
            assert 0 <= finding.span.start <= finding.span.end <= len(finding.span.file.text)
    if not result.sink.errors:
        lowered(result)


def unknown(thing: object, seen: set[int]) -> Iterator[object]:
    """What in a typed program has an unknown type; the variable of a walk over blocks may."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    inner: list[object]
    if isinstance(thing, Mapping):
        inner = list(cast("Mapping[object, object]", thing).values())
    elif isinstance(thing, tuple | list):
        inner = list(cast("Sequence[object]", thing))
    elif is_dataclass(thing) and not isinstance(thing, Local):
        inner = [getattr(thing, f.name) for f in fields(thing) if f.name != "span"]
    else:
        return
    for part in inner:
        if isinstance(part, ErrorType):
            yield thing
        else:
            yield from unknown(part, seen)


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(fraction, st.lists(edit, min_size=1, max_size=3))
def test_nothing_is_silenced_without_a_finding(which: float, edits: list[Edit]) -> None:
    """Findings that follow from others are left out, and unknown types silence what depends on
    them: some error must be there for it."""
    files = [f for f in sources() if "golden" not in f[0].parts]
    path, tokens = files[int(which * len(files))]
    asked: list[str] = []
    report = Scope.error

    def noted(scope: Scope, code: str, *args: Any, **named: Any) -> None:
        asked.append(code)
        report(scope, code, *args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scope, "error", noted)
        result = check_paths([path], overlay={path: edited(tokens, edits)})
    if not result.sink.errors:
        assert not asked
        assert not list(unknown(result.program, set()))
