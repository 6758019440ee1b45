"""A declaration of the seed card taken out is one error, wherever it is named.

Each row: the declaration as `removals.py` names it, the code, the file and the line of the error.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.render import render_text
from tests.check.mutants import SEED
from tests.check.removals import removals

ROWS: list[tuple[str, str, str, int]] = [
    ("attention:use:tables", "E1201", "attention", 65),
    ("attention:generic:window_mask.Q", "E1201", "attention", 31),
    ("attention:generic:SinkAttention.HeadDim", "E1201", "attention", 54),
    ("attention:generic:SinkAttention.T", "E1201", "attention", 57),
    ("attention:sub:SinkAttention.q_proj", "E1201", "attention", 67),
    ("attention:param:SinkAttention.sinks", "E1201", "attention", 81),
    ("attention:state:SinkAttention.cache_k", "E1201", "attention", 103),
    ("attention:generic:split_heads.D", "E1201", "attention", 319),
    ("attention:parameter:split_heads.x", "E1201", "attention", 321),
    ("experts:use:sigmoid", "E1201", "experts", 76),
    ("experts:generic:MixtureOfExperts.TopK", "E1201", "experts", 37),
    ("experts:sub:MixtureOfExperts.router", "E1201", "experts", 52),
    ("experts:method:MixtureOfExperts.forward", "E2107", "lib", 59),
    ("experts:method:MixtureOfExperts.ranks", "E1201", "experts", 202),
    ("lib:use:RmsNorm", "E1201", "lib", 53),
    ("lib:generic:LayerPair.Window", "E1201", "lib", 158),
    ("lib:sub:Model.embed_tokens", "E1201", "lib", 376),
    ("rope:const:THETA", "E1201", "rope", 27),
    ("rope:function:tables", "E1201", "attention", 23),
    ("rope:generic:tables.S", "E1201", "rope", 33),
]


@pytest.mark.skipif(not SEED.is_dir(), reason="the shared folder is not here")
@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r[0]} {r[1]}")
def test_one_error_for_what_is_taken_out(row: tuple[str, str, str, int]) -> None:
    what, code, file, line = row
    module, kind, name = what.split(":")
    path = (SEED / f"{module}.linnet").resolve()
    (text,) = [t for k, n, t in removals(path) if (k, n) == (kind, name)]
    found = list(check_paths([SEED.parent], {path: text}).sink)
    report = "\n".join(map(render_text, found))
    assert [d.code for d in found] == [code], report
    span = found[0].span
    assert span is not None
    at = Path(span.file.path).stem, span.file.position(span.start).line
    assert at == (file, line), report
