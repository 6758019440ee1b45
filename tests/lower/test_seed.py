"""Every entry of the gpt-oss card, under its numbers and with everything open."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.check.typed import Program
from linnet.dims.prover import Facts
from linnet.ir.parse import parse
from linnet.ir.passes.dce import dce
from linnet.ir.passes.inline import inline
from linnet.ir.passes.vectorize import vectorize
from linnet.ir.text import same, show
from linnet.ir.verify import problems
from linnet.lower.instances import entries, parameters, violations
from linnet.lower.module import lower_entry
from linnet.pipeline import check_paths
from tests.lower.lowering import operations

CARD = Path(__file__).parents[2] / ".." / "shared" / "seed" / "gpt-oss-20b"
ROOT = "gpt_oss::Model"
NUMBERS = {
    "Vocab": 201088, "H": 2880, "Heads": 64, "KvHeads": 8, "HeadDim": 64, "Inner": 2880,
    "Experts": 32, "TopK": 4, "Layers": 24, "Window": 128, "Batch": 2, "MaxSeq": 4096,
}  # fmt: skip
ENTRIES = [
    "forward", "next_token", "decode", "prefill", "decode_rows", "prefill_slots",
    "prefill_packed", "step_packed", "states",
]  # fmt: skip

pytestmark = pytest.mark.skipif(not CARD.is_dir(), reason="the seed card is not there")


@pytest.fixture(scope="module")
def program() -> Program:
    result = check_paths([CARD])
    assert not result.sink.errors
    return result.program


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_lowers(program: Program, entry: str) -> None:
    assert entries(program, ROOT) == ENTRIES
    module = lower_entry(program, ROOT, NUMBERS, entry, lambda _: True)
    assert problems(module) == []
    function = program.functions[program.blocks[ROOT].methods[entry]]
    assert [s.name for s in module.symbols] == [g.name for g in function.generics]
    assert same(parse(show(module), module.symbols), module)


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_is_sound_open_and_after_every_pass(program: Program, entry: str) -> None:
    module = lower_entry(program, ROOT, None, entry, lambda _: True)
    function = program.functions[program.blocks[ROOT].methods[entry]]
    facts = Facts((*program.blocks[ROOT].facts, *function.facts))
    plain = vectorize(module)
    whole = inline(plain, lambda _: True)
    for version in (module, plain, dce(plain), dce(whole)):
        assert problems(version, facts) == []
        assert same(parse(show(version), version.symbols), version)
    assert list(dce(whole).functions) == [module.entry]


@pytest.mark.parametrize("entry", ["forward", "decode"])
def test_layers_do_not_grow_the_ir(program: Program, entry: str) -> None:
    sizes = [
        len(operations(lower_entry(program, ROOT, NUMBERS | {"Layers": n}, entry, lambda _: True)))
        for n in (2, 24)
    ]
    assert sizes[0] == sizes[1]


def test_parameters_of_the_card(program: Program) -> None:
    found = parameters(program, ROOT, NUMBERS)
    by_path = {i.path: i for i in found}
    assert len(by_path) == len(found)
    # Each layer has two norms, four biased projections, sinks, a router and six expert tensors.
    assert sum(i.kind == "param" for i in found) == 24 * (2 + 8 + 1 + 2 + 6) + 4
    assert sum(i.kind == "state" for i in found) == 48
    weight = by_path["pairs.11.full.mlp.gate_up_blocks"]
    assert (weight.shape, weight.dtype) == ((32, 5760, 90, 16), "u8")
    assert by_path["pairs.0.sliding.self_attn.cache_k"].shape == (2, 8, 4096, 64)
    assert [i.path for i in found][:2] == [
        "embed_tokens.weight",
        "pairs.0.sliding.input_layernorm.weight",
    ]
    assert [i.path for i in found][-2:] == ["lm_head.weight", "lm_head.bias"]


def test_where_clauses_of_the_card(program: Program) -> None:
    assert violations(program, ROOT, NUMBERS) == []
    found = violations(program, ROOT, NUMBERS | {"Heads": 63})
    assert [(v.path, str(v.relation), v.values) for v in found] == [
        ("", "Heads % KvHeads == 0", "Heads = 63, KvHeads = 8")
    ]
