"""Parameters, bindings and headers that do not fit: one report, grouped by kind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from linnet.nest.bindings import Bindings, load_bindings
from linnet.nest.card import load_card
from linnet.nest.checkpoint import Checkpoint
from linnet.nest.header import TensorInfo
from linnet.nest.match import ParameterDecl, Report, match
from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile, Span

SOURCE = SourceFile("lib.linnet", "param norm: Tensor[H; T]\nparam head: Tensor[H; T]\n")
NORM = Span(SOURCE, 6, 10)
HEAD = Span(SOURCE, 31, 35)
FILE = Path("m.safetensors")


def bindings(table: dict[str, str] | None = None) -> Bindings:
    found = Bindings(implicit=table is None)
    found.update(table or {})
    return found


def checkpoint(**tensors: tuple[str, tuple[int, ...]]) -> Checkpoint:
    return Checkpoint(
        (), {n: TensorInfo(n, FILE, dtype, shape, 0, 0) for n, (dtype, shape) in tensors.items()}
    )


def norm(
    shape: tuple[int, ...] = (2,), dtype: str = "f32", optional: bool = False
) -> ParameterDecl:
    return ParameterDecl("norm", shape, dtype, optional, NORM)


def head(
    shape: tuple[int, ...] = (2,), dtype: str = "f32", optional: bool = False
) -> ParameterDecl:
    return ParameterDecl("head", shape, dtype, optional, HEAD)


def texts(report: Report) -> list[str]:
    assert all(d.code == "E5002" for d in report.problems)
    return [d.message for d in report.problems]


def test_all_fits() -> None:
    held = checkpoint(a=("F32", (2,)), b=("F32", (3,)), c=("U8", ()))
    report = match([norm(), head((3,))], bindings({"norm": "a", "head": "b"}), held)
    assert texts(report) == []
    assert {p: t.name for p, t in report.bound.items()} == {"norm": "a", "head": "b"}
    assert (report.absent, [t.name for t in report.unbound]) == ((), ["c"])


def test_without_bindings_the_paths_are_the_names() -> None:
    held = checkpoint(norm=("F32", (2,)))
    report = match([norm(), head()], bindings(), held)
    assert texts(report) == [
        "the checkpoint lacks a tensor: `head`, for the parameter `head`, declared as [2] f32"
    ]
    assert report.problems[0].span == HEAD


def test_an_optional_parameter_without_binding_is_absent() -> None:
    report = match(
        [norm(), head(optional=True)], bindings({"norm": "norm"}), checkpoint(norm=("F32", (2,)))
    )
    assert (texts(report), [p.path for p in report.absent]) == ([], ["head"])
    report = match([norm(optional=True)], bindings(), checkpoint())
    assert (texts(report), [p.path for p in report.absent]) == ([], ["norm"])


def test_an_optional_parameter_with_a_binding_must_be_there() -> None:
    report = match([norm(optional=True)], bindings({"norm": "a"}), checkpoint())
    assert texts(report) == [
        "the checkpoint lacks a tensor: `a`, for the parameter `norm`, declared as [2] f32"
    ]


def test_missing_binding() -> None:
    report = match([norm(), head()], bindings({"norm": "a"}), checkpoint(a=("F32", (2,))))
    assert texts(report) == ["a parameter has no binding: `head`, declared as [2] f32"]
    assert report.problems[0].span == HEAD


def test_a_binding_of_no_parameter() -> None:
    table = {"norm": "a", "haeds": "b", "head": "c"}
    report = match([norm(), head(), ParameterDecl("heads", (), "f32", True)], bindings(table), None)
    assert texts(report) == ["a binding names no parameter: `haeds`, bound to `b`"]
    assert report.problems[0].help == "did you mean `heads`?"


def test_a_tensor_that_is_not_there() -> None:
    report = match(
        [norm()], bindings({"norm": "model.nrom"}), checkpoint(**{"model.norm": ("F32", (2,))})
    )
    assert report.problems[0].help == "did you mean `model.norm`?"
    assert [t.name for t in report.unbound] == ["model.norm"]


def test_shape_and_dtype() -> None:
    held = checkpoint(norm=("F32", (3,)), head=("BF16", (2, 1)))
    report = match([norm(), head((1, 2))], bindings(), held)
    assert texts(report) == [
        "a tensor has another dtype than its parameter: "
        "`head` is f32, `head` in m.safetensors is BF16",
        "2 tensors have another shape than their parameters",
    ]
    assert report.problems[0].help == (
        "with `cast_dtype` floating-point tensors are converted as they are read"
    )
    assert report.problems[1].notes == (
        "`norm` is [2], `norm` in m.safetensors is [3]",
        "`head` is [1, 2], `head` in m.safetensors is [2, 1]",
    )
    assert report.problems[1].span == NORM
    assert [r.span for r in report.problems[1].related] == [HEAD]


@pytest.mark.parametrize(
    ("parameter", "tensor", "plain", "cast"),
    [
        ("f32", "F32", True, True),
        ("f32", "BF16", False, True),
        ("bf16", "F64", False, True),
        ("f16", "F16", True, True),
        ("f32", "I32", False, False),
        ("i32", "F32", False, False),
        ("i32", "I64", False, False),
        ("u8", "U8", True, True),
        ("u8", "F8_E4M3", True, True),
        ("u8", "F8_E5M2", True, True),
        ("bf16", "F8_E4M3", False, False),
        ("i8", "U8", False, False),
        ("bool", "BOOL", True, True),
        ("u8", "BOOL", False, False),
        ("f32", "C64", False, False),
    ],
)
def test_dtypes(parameter: str, tensor: str, plain: bool, cast: bool) -> None:
    held = checkpoint(norm=(tensor, (2,)))
    declared = [norm(dtype=parameter)]
    assert (not match(declared, bindings(), held).problems) == plain
    assert (not match(declared, bindings(), held, cast_dtype=True).problems) == cast


def test_one_tensor_for_two_parameters() -> None:
    table = bindings({"norm": "a", "head": "a"})
    held = checkpoint(a=("F32", (2,)))
    report = match([norm(), head()], table, held)
    assert texts(report) == ["one tensor is bound to several parameters: `a`, by `norm` and `head`"]
    report = match([norm(), head()], table, held, tied=[("head", "norm")])
    assert texts(report) == []
    assert report.bound["norm"] is report.bound["head"]


def test_a_tie_binds_what_has_no_binding() -> None:
    """A tied head that the file lacks is the embedding, with and without bindings."""
    held = checkpoint(norm=("F32", (2,)))
    for table in (bindings({"norm": "norm"}), bindings()):
        report = match([norm(), head()], table, held, tied=[("norm", "head")])
        assert texts(report) == []
        assert report.bound["head"].name == "norm"
        assert match([norm(), head()], table, held).problems


def test_ties_that_cannot_be_kept() -> None:
    report = match(
        [norm(), head()],
        bindings({"norm": "a", "head": "b"}),
        checkpoint(a=("F32", (2,)), b=("F32", (2,))),
        tied=[("norm", "head"), ("norm", "nose")],
    )
    assert texts(report) == ["2 ties cannot be kept"]
    assert report.problems[0].notes == (
        "its members are bound apart: `norm` to `a`, `head` to `b`",
        "`nose` is no parameter",
    )


def test_all_kinds_in_one_report_in_their_order() -> None:
    third = ParameterDecl("third", (1,), "f32")
    report = match(
        [norm(), head(), third],
        bindings({"zzz": "x", "norm": "a", "head": "gone"}),
        checkpoint(a=("I32", (9,))),
    )
    assert [t.split(":")[0] for t in texts(report)] == [
        "a binding names no parameter",
        "a parameter has no binding",
        "the checkpoint lacks a tensor",
        "a tensor has another dtype than its parameter",
        "a tensor has another shape than its parameter",
    ]


def layer(index: int) -> ParameterDecl:
    return ParameterDecl(f"layers.{index}.norm", (2,), "f32")


def test_bindings_of_elements_that_overridden_generics_lack() -> None:
    table = bindings({f"layers.{i}.norm": f"l{i}" for i in range(4)})
    held = checkpoint(**{f"l{i}": ("F32", (2,)) for i in range(4)})
    declared, own = [layer(0), layer(1)], [layer(i).path for i in range(4)]
    assert texts(match(declared, table, held)) == ["2 bindings name no parameter"]
    report = match(declared, table, held, aside=own)
    assert (texts(report), [t.name for t in report.unbound]) == ([], ["l2", "l3"])
    assert [*report.bound] == ["layers.0.norm", "layers.1.norm"]
    assert texts(match([], table, held, aside=own)) == []
    # What the card's own model lacks as well is a mistake.
    assert texts(match(declared, table, held, aside=own[:3])) == [
        "a binding names no parameter: `layers.3.norm`, bound to `l3`"
    ]


def test_a_tie_of_elements_that_overridden_generics_lack() -> None:
    table = bindings({"layers.0.norm": "a"})
    tied = [("layers.0.norm", "layers.1.norm")]
    report = match([layer(0)], table, None, tied=tied, aside=["layers.0.norm", "layers.1.norm"])
    assert texts(report) == []
    assert texts(match([layer(0)], table, None, tied=tied)) == [
        "a tie cannot be kept: `layers.1.norm` is no parameter"
    ]


def test_the_parameters_that_a_model_has() -> None:
    declared = [norm(optional=True), head(optional=True)]
    report = match(declared, bindings({"head": "x"}), None)
    assert (report.present, report.absent) == ((declared[1],), (declared[0],))
    report = match(declared, bindings({"head": "x"}), None, tied=[("norm", "head")])
    assert (report.present, report.absent) == (tuple(declared), ())


def test_checking_names_needs_no_numpy() -> None:
    code = (
        "import sys, linnet.nest.card, linnet.nest.bindings, linnet.nest.match, linnet.nest.mxfp4,"
        "linnet.nest.locate, linnet.nest.hub, linnet.nest.progress\n"
        "print([m for m in ('numpy', 'ml_dtypes', 'rich', 'huggingface_hub') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[]\n"


def test_places_in_the_bindings_file(make_card: Callable[..., Path]) -> None:
    card = load_card(make_card(), Sink())
    assert card is not None
    table = load_bindings(card.weights.bindings, Sink())
    assert table is not None
    report = match([norm()], table, None)
    assert report.problems[0].span is not None
    assert report.problems[0].span.text == '"head.weight"'
