"""`linnet inspect`: tokens, trees, IR and parameters."""

from __future__ import annotations

import json
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import pytest

from linnet.cli.main import main
from linnet.ir.parse import parse
from linnet.ir.passes.named import PASSES
from linnet.ir.text import show
from linnet.ir.verify import verify
from linnet.ir.walk import operations

Capture = pytest.CaptureFixture[str]
MODEL = """\
module m
// plain
/// Two layers.
pub block Model<N: Dim, H: Dim, T: Float = f32>
where
    H > 0
{
    sub layers: [Layer<H, T>; N]
    sub last: Layer<2 * H, f16>?
    state seen: Tensor[3; i32]

    pub entry first(x: Tensor[H; T]) -> Tensor[H; T] {
        var y = x
        static for l in layers { y = l.forward(y) }
        return y
    }

    pub entry second<B: Dim>(x: Tensor[B, H; T]) -> Tensor[B; T] {
        let y[b] = sum[h] x[b, h] * x[b, h]
        return y
    }
}

pub block Layer<H: Dim, T: Float> {
    param w: Tensor[H; T]
    param b: Tensor[H; T]? = none

    pub fn forward(x: Tensor[H; T]) -> Tensor[H; T] {
        return match b { some(v) => x * w + v none => x * w }
    }
}
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "m.linnet"
    path.write_text(MODEL, "utf-8")
    return str(path)


def document(words: list[str], capsys: Capture) -> dict[str, Any]:
    assert main(["inspect", *words, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def text(words: list[str], capsys: Capture) -> str:
    assert main(["inspect", *words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


# --- tokens ------------------------------------------------------------------


def test_tokens_and_comments_with_places(model: str, capsys: Capture) -> None:
    found = document([model, "--tokens"], capsys)
    assert (found["version"], found["form"], len(found["files"])) == (1, "tokens", 1)
    tokens = found["files"][0]["tokens"]
    assert tokens[0] == {
        "kind": "keyword",
        "text": "module",
        "start": {"line": 1, "column": 1, "offset": 0},
        "end": {"line": 1, "column": 7, "offset": 6},
    }
    assert [(t["kind"], t["text"]) for t in tokens[1:6]] == [
        ("name", "m"),
        ("comment", "// plain"),
        ("doc", "/// Two layers."),
        ("keyword", "pub"),
        ("keyword", "block"),
    ]
    assert {t["kind"] for t in tokens} == {"keyword", "name", "comment", "doc", "sign", "int"}
    for token in tokens:
        assert MODEL[token["start"]["offset"] : token["end"]["offset"]] == token["text"]
    between = [MODEL[a["end"]["offset"] : b["start"]["offset"]] for a, b in pairwise(tokens)]
    assert all(not space.strip() for space in between), "every character is in one token"


def test_tokens_as_text(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.linnet"
    path.write_bytes('module a /* é\n */ const async = 0x1f 1.5 "\\n"'.encode())
    assert text([str(path), "--tokens"], capsys).splitlines() == [
        '1:1-1:7         keyword  "module"',
        '1:8-1:9         name     "a"',
        '1:10-2:4        comment  "/* é\\n */"',
        '2:5-2:10        keyword  "const"',
        '2:11-2:16       reserved "async"',
        '2:17-2:18       sign     "="',
        '2:19-2:23       int      "0x1f"',
        '2:24-2:27       float    "1.5"',
        '2:28-2:32       string   "\\"\\\\n\\""',
    ]


# --- trees -------------------------------------------------------------------

CONST = "module a\nconst N = 1 + -M\n"


def test_a_tree_as_text(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.linnet"
    path.write_text(CONST, "utf-8")
    assert text([str(path), "--ast"], capsys).splitlines() == [
        "Module 1:1-3:1 complete=true",
        "  path: ModulePath 1:8-1:9",
        '    parts: Name 1:8-1:9 text="a"',
        "  items: ConstDecl 2:1-2:17 public=false",
        '    name: Name 2:7-2:8 text="N"',
        '    value: BinaryExpr 2:11-2:17 op="+"',
        "      left: IntLit 2:11-2:12 value=1",
        '      right: UnaryExpr 2:15-2:17 op="-"',
        '        operand: NameExpr 2:16-2:17 name="M"',
    ]


def test_a_tree_as_a_document(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.linnet"
    path.write_text("module a\nuse b::{c as d}\n" + CONST.splitlines()[1], "utf-8")
    found = document([str(path), "--ast"], capsys)
    tree = found["files"][0]["tree"]
    assert (tree["node"], list(tree["fields"])) == (
        "Module",
        ["path", "uses", "items", "doc", "complete", "lost"],
    )
    (use,) = tree["fields"]["uses"]
    (name,) = use["fields"]["names"]
    assert name["node"] == "UseName"
    assert (name["start"]["column"], name["end"]["column"]) == (9, 15)
    (const,) = tree["fields"]["items"]
    assert const["fields"]["type"] is None
    assert const["fields"]["value"]["fields"]["left"] == {
        "node": "IntLit",
        "start": {"line": 3, "column": 11, "offset": 35},
        "end": {"line": 3, "column": 12, "offset": 36},
        "fields": {"value": 1},
    }


def test_text_and_document_of_a_tree_have_the_same_nodes(model: str, capsys: Capture) -> None:
    lines = text([model, "--ast"], capsys).splitlines()
    nodes: list[tuple[str, int, int]] = []

    def visit(value: Any) -> None:
        if isinstance(value, list):
            for part in value:
                visit(part)
        elif isinstance(value, dict):
            nodes.append((value["node"], value["start"]["line"], value["start"]["column"]))
            visit(list(value["fields"].values()))

    visit(document([model, "--ast"], capsys)["files"][0]["tree"])
    assert len(nodes) == len(lines) > 100
    for (name, line, column), shown in zip(nodes, lines, strict=True):
        assert f"{name} {line}:{column}-" in shown


def test_a_deep_tree(tmp_path: Path, capsys: Capture) -> None:
    """As deep as the parser admits, E1104 beyond."""
    path = tmp_path / "a.linnet"
    path.write_text(f"module a\nconst N = {'(-' * 39}1{')' * 39}\n", "utf-8")
    assert text([str(path), "--ast"], capsys).count("UnaryExpr") == 39
    tree = json.dumps(document([str(path), "--ast"], capsys))
    assert tree.count("UnaryExpr") == 39


def test_mistakes_beyond_the_syntax_do_not_matter(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.linnet"
    path.write_text("module a\nuse std.nothing\nconst A: i32 = unknown\n", "utf-8")
    for form in ("--tokens", "--ast"):
        assert text([str(path), form], capsys)
    path.write_text("module a\nconst A: i32 =\n", "utf-8")
    assert main(["inspect", str(path), "--ast"]) == 1
    assert "error[E1101]" in capsys.readouterr().err
    assert main(["inspect", str(path), "--ast", "--json"]) == 1
    out = json.loads(capsys.readouterr().out)
    assert out["diagnostics"][0]["code"] == "E1101"


@pytest.mark.parametrize(
    "target", ["gpt-oss-20b", "models/gpt-oss-20b", "models/gpt-oss-20b/nest.toml"]
)
@pytest.mark.parametrize("form", ["--tokens", "--ast"])
def test_all_sources_of_a_folder(target: str, form: str, capsys: Capture) -> None:
    files = document([target, form], capsys)["files"]
    names = ["attention", "experts", "layers", "lib", "masks", "rope"]
    assert [Path(f["file"]).name for f in files] == [f"{name}.linnet" for name in names]
    out = text([target, form], capsys)
    for f in files:
        assert f"{f['file']}:\n" in out


# --- IR ----------------------------------------------------------------------


def test_every_entry_of_a_file_is_a_module_that_parses_back(model: str, capsys: Capture) -> None:
    found = document([model, "--ir"], capsys)
    assert found["passes"] == []
    texts = {e["entry"]: e["text"] for e in found["entries"]}
    assert list(texts) == ["Model.first", "Model.second"]
    for text_ in texts.values():
        assert show(parse(text_)) == text_
    assert [s.name for s in parse(texts["Model.second"]).symbols] == ["N", "H", "B"]
    both = text([model, "--ir"], capsys)
    assert both == "\n".join(texts.values())
    assert text([model, "--ir", "--entry", "second"], capsys) == texts["Model.second"]


def test_generics_are_bound(model: str, capsys: Capture) -> None:
    words = [model, "--ir", "--entry", "first", "--set", "H=4", "--set", "T=bf16"]
    (x,) = (m := parse(text(words, capsys))).functions[m.entry].params
    assert str(x.type) == "tensor[4; bf16]"
    assert [s.name for s in m.symbols] == ["N"]
    assert main(["inspect", model, "--ir", "--set", "W=1"]) == 1
    assert "error[E2111]" in capsys.readouterr().err


@pytest.mark.parametrize("names", [[name] for name in PASSES] + [["inline", "dce", "vectorize"]])
def test_passes(names: list[str], model: str, capsys: Capture) -> None:
    words = [word for name in names for word in ("--pass", name)]
    found = document([model, "--ir", *words], capsys)
    assert found["passes"] == names
    for entry in found["entries"]:
        module = parse(entry["text"])
        verify(module)
        assert show(module) == entry["text"]
        ops = [op.name for f in module.functions.values() for op in operations(f.body)]
        assert not ("vectorize" in names and "indexed" in ops)
        assert not ("inline" in names and "call" in ops)
        assert len(module.functions) == 1 or "dce" not in names or "inline" not in names


def test_two_modules_with_entries_of_one_name(tmp_path: Path, capsys: Capture) -> None:
    for name in "ab":
        source = f"module {name}\npub entry f(x: f32) -> f32 {{ return x }}\n"
        if name == "b":
            source += "pub entry g(x: f32) -> f32 { return x }\n"
        (tmp_path / f"{name}.linnet").write_text(source, "utf-8")
    found = document([str(tmp_path), "--ir"], capsys)["entries"]
    assert [parse(e["text"]).entry for e in found] == ["a::f", "b::f", "b::g"]
    assert [e["entry"] for e in found] == ["a::f", "b::f", "g"]


def test_the_entry_of_a_card(capsys: Capture) -> None:
    small = ["gpt-oss-20b", "--ir", "--set", "Layers=2"]
    module = parse(text(small, capsys))
    assert module.entry == "gpt_oss::Model.forward"
    assert [s.name for s in module.symbols] == ["B", "S"]
    module = parse(text([*small, "--entry", "decode"], capsys))
    assert module.entry == "gpt_oss::Model.decode"
    assert main(["inspect", "gpt-oss-20b", "--ir", "--entry", "nothing"]) == 1
    assert "error[E2107]" in capsys.readouterr().err


# --- parameters --------------------------------------------------------------


def test_parameters_with_every_generic_bound(model: str, capsys: Capture) -> None:
    words = [model, "--parameters", "--set", "N=2", "--set", "H=4"]
    (block,) = document(words, capsys)["blocks"]
    assert (block["block"], block["generics"]) == ("m::Model", {"N": 2, "H": 4, "T": "f32"})
    rows = [
        (t["path"], t["kind"], t["shape"], t["dtype"], t["bytes"], t["optional"])
        for t in block["tensors"]
    ]
    assert rows == [
        ("layers.0.w", "param", [4], "f32", 16, False),
        ("layers.0.b", "param", [4], "f32", 16, True),
        ("layers.1.w", "param", [4], "f32", 16, False),
        ("layers.1.b", "param", [4], "f32", 16, True),
        ("last.w", "param", [8], "f16", 16, True),
        ("last.b", "param", [8], "f16", 16, True),
        ("seen", "state", [3], "i32", 12, False),
    ]
    assert block["totals"] == {
        "param": {"tensors": 6, "bytes": 96},
        "buffer": {"tensors": 0, "bytes": 0},
        "state": {"tensors": 1, "bytes": 12},
    }


def test_parameters_with_open_generics(model: str, capsys: Capture) -> None:
    (block,) = document([model, "--parameters", "--set", "T=bf16"], capsys)["blocks"]
    assert block["generics"] == {"N": None, "H": None, "T": "bf16"}
    rows = {t["path"]: (t["shape"], t["bytes"]) for t in block["tensors"]}
    assert rows["layers.*.w"] == (["H"], "2 * H * N")
    assert rows["last.w"] == (["2 * H"], "4 * H")
    assert block["totals"]["param"] == {"tensors": 4, "bytes": None}
    assert text([model, "--parameters"], capsys).splitlines() == [
        "m::Model<N, H, T = f32>",
        "  layers.*.w  param   [H] f32  4 * H * N",
        "  layers.*.b  param   [H] f32  4 * H * N optional",
        "  last.w      param   [2 * H] f16  4 * H optional",
        "  last.b      param   [2 * H] f16  4 * H optional",
        "  seen        state   [3] i32  12",
        "4 params, of open size",
        "0 buffers, 0 bytes",
        "1 state, 12 bytes",
    ]


@pytest.mark.parametrize(
    ("word", "code"), [("H=0", "E2206"), ("M=1", "E2111"), ("T=i32", "E2112"), ("H=-1", "E2111")]
)
def test_generics_that_do_not_fit(word: str, code: str, model: str, capsys: Capture) -> None:
    assert main(["inspect", model, "--parameters", "--set", word]) == 1
    assert f"error[{code}]" in capsys.readouterr().err


PACK = """\
module m

pub block Block<N: Dim, *Sh: Shape>
where
    N > 0
{
    param w: Tensor[8 / N, *Sh; f32]
}
"""


def test_a_pack_stays_open_beside_what_is_set(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "m.linnet"
    path.write_text(PACK, "utf-8")
    words = ["inspect", str(path), "--parameters", "--set"]
    assert main([*words, "N=2"]) == 0
    assert "  w  param   [4, *Sh] f32  ?\n" in capsys.readouterr().out
    assert main([*words, "N=0"]) == 1
    assert "error[E2206]: `where N > 0` of `m::Block` does not hold" in capsys.readouterr().err
    assert main([*words, "Sh=3"]) == 1
    assert "error[E2111]: `Sh` is a shape pack" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["--parameters", "--ir"])
def test_a_division_by_zero_that_an_open_relation_leaves(
    form: str, tmp_path: Path, capsys: Capture
) -> None:
    """`N > M` is not broken as long as `M` is open, and yet `N` cannot be 0."""
    path = tmp_path / "m.linnet"
    path.write_text(
        "module m\n\npub block Block<N: Dim, M: Dim>\nwhere\n    N > M\n{\n"
        "    param w: Tensor[8 / N; f32]\n\n"
        "    pub entry get() -> Tensor[8 / N; f32] {\n        return w\n    }\n}\n",
        "utf-8",
    )
    assert main(["inspect", str(path), form, "--set", "N=0"]) == 1
    assert "error[E2205]: `8` is divided by zero" in capsys.readouterr().err


def test_a_source_without_blocks(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.linnet"
    path.write_text("module a\nconst N = 1\n", "utf-8")
    assert main(["inspect", str(path), "--parameters"]) == 1
    assert "error[E2107]" in capsys.readouterr().err


def test_parameters_of_a_card(capsys: Capture) -> None:
    """The published checkpoint of gpt-oss-20b: 459 tensors, 13761264768 bytes in its index."""
    (block,) = document(["gpt-oss-20b", "--parameters"], capsys)["blocks"]
    assert block["totals"]["param"] == {"tensors": 459, "bytes": 13761264768}
    rows = {t["path"]: t for t in block["tensors"]}
    assert rows["embed_tokens.weight"] == {
        "path": "embed_tokens.weight",
        "kind": "param",
        "shape": [201088, 2880],
        "dtype": "bf16",
        "bytes": 201088 * 2880 * 2,
        "optional": False,
        "there": True,
    }
    assert rows["lm_head.bias"]["optional"] and not rows["lm_head.bias"]["there"]
    assert all(t["bytes"] % prod(t["shape"]) == 0 for t in block["tensors"])


# --- wrong command lines -----------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tokens", "--pass", "dce"], "--pass goes with --ir, not with --tokens"),
        (["--ast", "--entry", "f"], "--entry goes with --ir, not with --ast"),
        (["--parameters", "--entry", "f"], "--entry goes with --ir, not with --parameters"),
        (["--ast", "--set", "N=1"], "--set goes with --ir or --parameters, not with --ast"),
        (["--ir", "--pass", "vectorise"], "did you mean `vectorize`?"),
        (["--ir", "--pass", "x"], "`x` is not known: choose one of dce, inline, vectorize"),
        (["--ir", "--ast"], "not allowed with"),
        ([], "one of the arguments --tokens --ast --ir --parameters is required"),
    ],
)
def test_a_wrong_combination(words: list[str], said: str, model: str, capsys: Capture) -> None:
    assert main(["inspect", model, *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and said in err and "usage: linnet inspect" in err
    assert main(["inspect", model, *words, "--json"]) == 2
    (finding,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert finding["code"] == "E2102" and said in finding["message"]


@pytest.mark.parametrize("form", ["--tokens", "--ast", "--ir", "--parameters"])
@pytest.mark.parametrize("target", ["no-such", "no-such.linnet"])
def test_what_is_not_there(target: str, form: str, capsys: Capture) -> None:
    assert main(["inspect", target, form]) == 1
    out, err = capsys.readouterr()
    assert out == "" and target in err and "error[E" in err
