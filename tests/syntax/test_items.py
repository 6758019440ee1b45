"""How files, items and blocks are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.syntax import ast
from linnet.syntax.parser import parse
from tests.syntax.dump import dump, good, parsed

SEED = Path(__file__).parents[2] / ".." / "shared" / "seed" / "gpt-oss-20b" / "src"
STDLIB = Path(__file__).parents[2] / "stdlib"


def item(text: str) -> str:
    return dump(good(f"module m {text}").items[0])


def test_a_whole_file() -> None:
    module = good("""
        /// The module.
        module a.b
        use crate.c::{d, e as f,}
        use std.random
        /// A constant.
        /// Two lines.
        pub const N = 3
        //// no documentation
        const M: f32 = 1.5
        /** A shape. */
        type Hidden<B: Dim, H: Dim = 4> = Tensor[B, H; bf16]
        pub enum Pooling { Mean, /// The first.
 Cls, }
        struct KV<*S: Shape, T: Float = bf16> where N > 0 {
            key: Tensor[*S; T]  /** Maybe. */ value: T?, more: KV<[*S], T>
        }
    """)
    assert module.path.dotted() == "a.b" and module.doc == "The module."
    assert [dump(use) for use in module.uses] == [
        "(UseDecl (ModulePath <crate c>) <(UseName d _) (UseName e f)>)",
        "(UseDecl (ModulePath <std random>) _)",
    ]
    assert [dump(i) for i in module.items] == [
        "(ConstDecl True N _ 3 A constant.\nTwo lines.)",
        "(ConstDecl False M (NamedTypeExpr <f32> _) 1.5 _)",
        "(AliasDecl False Hidden <(Generic B False Dim _) (Generic H False Dim 4)> "
        "(TensorTypeExpr <B H> bf16) A shape.)",
        "(EnumDecl True Pooling <(EnumVariant Mean _) (EnumVariant Cls The first.)> _)",
        "(StructDecl False KV <(Generic S True Shape _) (Generic T False Float bf16)> <(> N 0)> "
        "<(StructField key (TensorTypeExpr <*S> T) _) "
        "(StructField value (OptionalTypeExpr (NamedTypeExpr <T> _)) Maybe.) "
        "(StructField more (NamedTypeExpr <KV> <[*S] T>) _)> _)",
    ]


def test_a_function() -> None:
    text = (
        "pub op f<N: Dim>(/** The input. */ x: Tensor[N; f32], y: f32? = none,)"
        " -> (Tensor[N; f32], i32) where A < B, C > (D), N % 2 == 0, { return x }"
    )
    module = good(f"module m {text}")
    function = module.items[0]
    assert isinstance(function, ast.FunctionDecl)
    assert (function.kind, function.public, function.name.text) == ("op", True, "f")
    assert dump(function.params) == (
        "<(Param x (TensorTypeExpr <N> f32) _ The input.) "
        "(Param y (OptionalTypeExpr (NamedTypeExpr <f32> _)) none _)>"
    )
    assert (
        dump(function.result)
        == "(TupleTypeExpr <(TensorTypeExpr <N> f32) (NamedTypeExpr <i32> _)>)"
    )
    assert dump(function.where) == "<(< A B) (> C D) (== (% N 2) 0)>"
    assert function.head.text == text[: text.index(", {")]
    assert function.end.text == "}" and function.span.text == text


def test_a_block() -> None:
    text = """pub block B<H: Dim> where H > 0 {
        /// The weight.
        param w: Tensor[H; f32]
        param b: Tensor[H; f32]? = none
        /// Runs.
        pub entry run() -> i32 { return 1 }
        sub m: Other<H, 2 * H>
        sub ms: [Other<H>; H / 2]
        fn g(k: KV = KV { a: 1 }) -> KV<H> { return k }
        state s: Tensor[H; f32]
        buffer c: Tensor[H; f32]
    }"""
    block = good(f"module m /// Doc.\n{text}").items[0]
    assert isinstance(block, ast.BlockDecl)
    assert block.doc == "Doc." and block.head.text == "pub block B<H: Dim> where H > 0"
    assert block.span.text == text
    assert [(m.kind, m.name.text, m.doc) for m in block.members] == [
        ("param", "w", "The weight."),
        ("param", "b", None),
        ("sub", "m", None),
        ("sub", "ms", None),
        ("state", "s", None),
        ("buffer", "c", None),
    ]
    assert dump(block.members[1].default) == "none"
    assert dump(block.members[3].type) == "(ArrayTypeExpr (NamedTypeExpr <Other> <H>) (/ H 2))"
    assert [(m.kind, m.public, m.name.text, m.doc) for m in block.methods] == [
        ("entry", True, "run", "Runs."),
        ("fn", False, "g", None),
    ]


def test_an_entry_may_stand_outside_a_block() -> None:
    assert item("entry f(x: i32) -> i32 { return x }").startswith("(FunctionDecl entry False f")


def test_white_space_carries_no_meaning() -> None:
    text = "module m fn f(a: i32) -> i32 { let b = a * 2 return b }"
    assert dump(good(text).items) == dump(good(text.replace(" ", "\n\t")).items)


def test_each_mistake_is_reported_and_the_rest_is_read() -> None:
    module, found = parsed("""module m
        fn a() -> i32 { return ) }
        block B {
            param w: Tensor[3; f32
            param v: i32
            fn bad() -> i32 { let = 3 return 1 }
            fn good() -> i32 { return 1 }
        }
        const C = 3
        fn d( -> i32 { return 1 }
        fn e() -> i32 { return 1 }""")
    assert [(f.code, f.span.file.position(f.span.start).line) for f in found if f.span] == [
        ("E1101", 2),
        ("E1101", 5),
        ("E1101", 6),
        ("E1101", 10),
    ]
    assert module is not None and not module.complete
    assert [i.name.text for i in module.items] == ["B", "C", "e"]
    block = module.items[0]
    assert isinstance(block, ast.BlockDecl)
    assert [m.name.text for m in block.members] == ["v"]
    assert [m.name.text for m in block.methods] == ["good"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("fn f() -> i32 { return 1 const c = 3", ["c"]),
        ("fn f() -> i32 { return 1 fn g() -> i32 { return 2 }", ["g"]),
        ("fn f() -> i32 { while c { return 1 } pub block B { } const c = 1", ["B", "c"]),
        ("block B { fn f() -> i32 { return 1 pub fn g() -> i32 { return 2 } } const c = 1",
         ["B", "c"]),
        ("fn f() -> i32 return 1 } fn g() -> i32 { return 2 }", ["g"]),
        ("block B param w: i32 fn f() -> i32 { return 1 } } fn g() -> i32 { return 2 }", ["g"]),
        ("fn f() -> i32 { return 1 } } fn g() -> i32 { return 2 }", ["f", "g"]),
    ],
)  # fmt: skip
def test_braces_that_do_not_match_cost_one_report(text: str, names: list[str]) -> None:
    module, found = parsed(f"module m {text}")
    assert [f.code for f in found] == ["E1101"]
    assert module is not None and [i.name.text for i in module.items] == names


@pytest.mark.parametrize("folder", [SEED, STDLIB])
def test_shipped_sources_are_read_without_a_finding(folder: Path) -> None:
    files = sorted(folder.rglob("*.linnet"))
    if not files:
        pytest.skip(f"no sources in {folder.name}")
    for path in files:
        sink = Sink()
        module = parse(SourceFile(path.name, path.read_text(encoding="utf-8")), sink)
        assert (path.name, list(sink)) == (path.name, [])
        assert module is not None and module.complete


def test_the_seed_has_the_items_it_declares() -> None:
    path = SEED / "attention.linnet"
    if not path.exists():
        pytest.skip("the seed card is not here")
    module = good(path.read_text(encoding="utf-8"))
    assert [i.name.text for i in module.items] == [
        "window_mask", "SinkAttention", "split_heads", "merge_heads",
    ]  # fmt: skip
    block = module.items[1]
    assert isinstance(block, ast.BlockDecl)
    assert len(block.generics) == 7 and len(block.where) == 5 and len(block.members) == 7
    assert [m.name.text for m in block.methods] == [
        "forward", "decode", "prefill", "decode_rows", "prefill_slots", "prefill_packed",
        "step_packed",
    ]  # fmt: skip
