"""Whatever the text is, reading, formatting and checking end with findings, never with an
exception.

Programs that are right, or nearly, get a few tokens deleted, doubled, swapped or replaced by
tokens of the same file or of the language (`mutants.py`); in the box also bytes, and comments.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
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
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.errors import LinnetError
from linnet.source.files import SourceFile, Span
from linnet.source.render import render_text
from linnet.syntax.format.source import formatted
from tests.check.mutants import KINDS, Edit, edited, mutant, sources
from tests.syntax.dump import parsed
from tests.syntax.test_format import holds


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
    st.sampled_from(KINDS),
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
        stands(finding)
    if not result.sink.errors:
        lowered(result)


def stands(finding: Diagnostic) -> None:
    """A finding can be shown, and all places it speaks of are inside their files."""
    assert render_text(finding)
    spans = [finding.span, *(related.span for related in finding.related)]
    assert all(inside(span) for span in spans if span is not None), finding


def inside(span: Span) -> bool:
    return 0 <= span.start <= span.end <= len(span.file.text)


# `LINNET_FUZZ=600 pytest tests/check/test_fuzz.py -k box -s` goes on for ten minutes, with others
# than these mutants.
EXAMPLES, SECONDS = 300, 10.0


def test_a_box_of_mutants(tmp_path: Path) -> None:
    """Tokens and bytes changed, comments put anywhere, noise: reading, formatting and checking
    end with findings at most."""
    longer = float(os.environ.get("LINNET_FUZZ", "0"))
    first = time.time_ns() if longer else 0
    end = time.monotonic() + (longer or SECONDS)
    count = 0
    while time.monotonic() < end and (longer or count < EXAMPLES):
        path, data = mutant(first + count)
        try:
            survives(tmp_path, path, data)
        except Exception as error:
            raise AssertionError(f"mutant({first + count}) of {path.name}:\n{data!r}") from error
        count += 1
    print(f"{count} mutants")
    assert count >= EXAMPLES // 20


def survives(folder: Path, path: Path, data: bytes) -> None:
    """`data` in place of a file of the package of `path`, or as a file alone."""
    text = data.decode("utf-8", "replace")
    module, found = parsed(text)
    for finding in found:
        stands(finding)
    if module is not None and module.complete:
        assert not found
        holds(text)
    else:
        assert found and formatted(SourceFile("m.linnet", text), Sink()) is None
    file = folder / "m.linnet"
    file.write_bytes(data)
    for result in (check_paths([file]), check_paths([path], overlay={path: text})):
        for finding in result.sink:
            stands(finding)
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
