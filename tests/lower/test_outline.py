"""What blocks declare, over their own generics."""

from __future__ import annotations

from pathlib import Path

from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.lower.module import lower_entry_as_written
from linnet.lower.outline import Member, Outline, Sub, outline_of
from tests.lower.lowering import source

TEXT = """
block Linear<In: Dim, Out: Dim, T: Float> {
    param weight: Tensor[Out, In; T]
    param bias: Tensor[Out; T]?
    pub fn forward<R: Dim>(x: Tensor[R, In; T]) -> Tensor[R, Out; T] {
        let y[r, o] = sum[i] x[r, i] * weight[o, i]
        return match bias { some(b) => y + b  none => y }
    }
}
pub block Model<H: Dim, Layers: Dim, T: Float = f32> {
    sub first: Linear<H, 2 * H, T>
    sub layers: [Linear<2 * H, 2 * H, T>; Layers]
    sub last: Linear<2 * H, H, T>
    state seen: Tensor[H; f32]
    pub entry run<R: Dim>(x: Tensor[R, H; T]) -> Tensor[R, H; T] {
        var y = first.forward(x)
        static for layer in layers { y = layer.forward(y) }
        return last.forward(y)
    }
}
"""


def outline(folder: Path, *there: str) -> tuple[Outline, dict[str, int | None]]:
    program = source(folder, TEXT).program
    found, meant = outline_of(program, "m::Model", {"H": 3, "Layers": 2}, set(there).__contains__)
    return found, {s.name: d.as_int() for s, d in meant.items()}


def test_members_are_over_the_generics_of_their_block(tmp_path: Path) -> None:
    found, meant = outline(tmp_path)
    assert meant == {"H": 3, "Layers": 2}
    h, layers = found.symbols
    first, array, last, state = found.members
    assert isinstance(first, Sub) and isinstance(array, Sub) and isinstance(last, Sub)
    in_, out = first.block.symbols
    assert dict(first.generics) == {in_: Dim.of(h), out: Dim.of(h) * 2}
    assert array.count == Dim.of(layers)
    assert isinstance(state, Member) and state.kind == "state"
    assert first.block.members == (
        Member("weight", "param", first.block.members[0].type),  # pyright: ignore
    )
    weight = first.block.members[0]
    assert isinstance(weight, Member)
    assert weight.type.shape == (Dim.of(out), Dim.of(in_)) and weight.type.dtype == DType.F32


def test_blocks_that_declare_the_same_are_one(tmp_path: Path) -> None:
    found, _ = outline(tmp_path, "first.bias")
    first, array, last = (found.sub(name) for name in ("first", "layers", "last"))
    assert array.block is last.block
    assert first.block is not last.block
    assert [m.name for m in first.block.members] == ["weight", "bias"]


def test_methods_have_the_symbols_of_their_block(tmp_path: Path) -> None:
    program = source(tmp_path, TEXT).program
    generics = {"H": 3, "Layers": 2}
    found, meant = outline_of(program, "m::Model", generics, lambda _: False)
    written = lower_entry_as_written(program, "m::Model", generics, "run", lambda _: False)
    assert {s: written.values[s] for s in found.symbols} == meant
    linear = found.sub("first").block
    methods = [f for name, f in written.module.functions.items() if "Linear.forward" in name]
    # One for each of the three ways in which its generics are bound.
    assert len(methods) == 3
    assert {s for f in methods for s in f.params[0].type.shape[1].symbols()} == {linear.symbols[0]}
