"""How expressions are read."""

from __future__ import annotations

import pytest

from linnet.syntax import ast
from tests.syntax.dump import body, codes, dump, expression, good


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a || b && c", "(|| a (&& b c))"),
        ("a && b == c", "(&& a (== b c))"),
        ("a == b < c", "(== a (< b c))"),
        ("a < b | c", "(< a (| b c))"),
        ("a | b ^ c & d", "(| a (^ b (& c d)))"),
        ("a & b + c * d", "(& a (+ b (* c d)))"),
        ("a * b + c", "(+ (* a b) c)"),
        ("a - b - c", "(- (- a b) c)"),
        ("a / b * c % d", "(% (* (/ a b) c) d)"),
        ("a < b < c", "(< (< a b) c)"),
        ("a == b != c", "(!= (== a b) c)"),
        ("-a * b", "(* (- a) b)"),
        ("!a && b", "(&& (! a) b)"),
        ("- -+a", "(- (- (+ a)))"),
        ("-f(x)[0].y", "(- (at (call f x) 0).y)"),
        ("(a + b) * c", "(* (+ a b) c)"),
        ("a - (b - c)", "(- a (- b c))"),
        ("1 - -9223372036854775808", "(- 1 (- 9223372036854775808))"),
        ("a\n- b", "(- a b)"),
    ],
)
def test_precedence(text: str, tree: str) -> None:
    assert expression(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x < y && z > (w)", "(&& (< x y) (> z w))"),
        ("cast<i32>(K - Q)", "(call cast <i32> (- K Q))"),
        ("f<A, B>(x)", "(call f <A B> x)"),
        ("a < b", "(< a b)"),
        ("a < b > c", "(> (< a b) c)"),
        ("f(a < b, c > d)", "(call f (< a b) (> c d))"),
        ("f(a < b, c > -d)", "(call f (< a b) (> c (- d)))"),
        ("f(a < b, c > (d))", "(call f (call a <b c> d))"),
        ("f(a < x[i], c > (d))", "(call f (< a (at x i)) (> c d))"),
        ("f(a < g(b), c > (d))", "(call f (< a (call g b)) (> c d))"),
        ("f(a < 1.0, c > (d))", "(call f (< a 1.0) (> c d))"),
        ("f(a < b, k = c > (d))", "(call f (< a b) k=(> c d))"),
        ("q<[Out], In, T>(w, s)", "(call q <[Out] In T> w s)"),
        ("q<[*S, N + 1], *S>(w)", "(call q <[*S (+ N 1)] *S> w)"),
        ("q<[], T>(w)", "(call q <[] T> w)"),
        (
            "g<2 * (A + B) / 2, max(A, B), -1>(x)",
            "(call g <(/ (* 2 (+ A B)) 2) (call max A B) (- 1)> x)",
        ),
        ("g<A, B,>(x,)", "(call g <A B> x)"),
        ("m.layer.f<A>(x)", "(call m.layer.f <A> x)"),
        ("xs[0].f<A>(x)", "(call (at xs 0).f <A> x)"),
        ("iota<i64>(S)[i]", "(at (call iota <i64> S) i)"),
        ("f<A>(x) < g<B>(y)", "(< (call f <A> x) (call g <B> y))"),
        ("x < y || f<A>(z) > w", "(|| (< x y) (> (call f <A> z) w))"),
        ("KV<A, B> { key: k }", "(StructExpr <KV> <A B> <(FieldValue key k)>)"),
        (
            "a.KV { key: k, value: v, }",
            "(StructExpr <a KV> _ <(FieldValue key k) (FieldValue value v)>)",
        ),
        ("KV { key: a < b }", "(StructExpr <KV> _ <(FieldValue key (< a b))>)"),
        ("Empty {}", "(StructExpr <Empty> _ <>)"),
    ],
)
def test_generic_or_comparison(text: str, tree: str) -> None:
    assert expression(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("sum[k] x[k] + 1", "(ReduceExpr sum _ <k> (+ (at x k) 1))"),
        ("2 * sum[k] x[k] + 1", "(* 2 (ReduceExpr sum _ <k> (+ (at x k) 1)))"),
        ("a + b * max[k] x[k]", "(+ a (* b (ReduceExpr max _ <k> (at x k))))"),
        ("-sum[k] x[k] * 2", "(- (ReduceExpr sum _ <k> (* (at x k) 2)))"),
        ("(sum[k] x[k]) + 1", "(+ (ReduceExpr sum _ <k> (at x k)) 1)"),
        ("sum<f32>[i, *s] x[i, *s]", "(ReduceExpr sum f32 <i *s> (at x i *s))"),
        ("a < sum<f32>[k] x[k]", "(< a (ReduceExpr sum f32 <k> (at x k)))"),
        ("prod[i] max[j] x[i, j]", "(ReduceExpr prod _ <i> (ReduceExpr max _ <j> (at x i j)))"),
        ("max(a, b)", "(call max a b)"),
        ("max", "max"),
        ("x.sum[k]", "(at x.sum k)"),
        (
            "f(sum[k] x[k], min[k] x[k])",
            "(call f (ReduceExpr sum _ <k> (at x k)) (ReduceExpr min _ <k> (at x k)))",
        ),
        (
            "any[k] x[k] && all[k] y[k]",
            "(ReduceExpr any _ <k> (&& (at x k) (ReduceExpr all _ <k> (at y k))))",
        ),
        (
            "KV { key: sum<f32>[k] x[k] }",
            "(StructExpr <KV> _ <(FieldValue key (ReduceExpr sum f32 <k> (at x k)))>)",
        ),
    ],
)
def test_reductions(text: str, tree: str) -> None:
    assert expression(text) == tree


REDUCED = "(ReduceExpr sum _ <k> (at x k))"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("let sum = sum[k] x[k] return sum[0]",
         f"(LetStmt False sum _ _ {REDUCED}) (return (at sum 0))"),
        ("let sum: i32 = sum[k] x[k] return sum",
         f"(LetStmt False sum (NamedTypeExpr <i32> _) _ {REDUCED}) (return sum)"),
        ("let (a, sum) = sum[k] x[k] return sum[0]",
         f"(LetTupleStmt <a sum> {REDUCED}) (return (at sum 0))"),
        ("let sum[k] = x[k] return sum[0]",
         "(LetStmt False sum _ <k> (at x k)) (return (at sum 0))"),
        ("var sum = sum[k] x[k] sum[i] = sum[i] return 1",
         f"(LetStmt True sum _ _ {REDUCED}) (AssignStmt sum <i> (at sum i)) (return 1)"),
        ("var sum = 1 y = sum[0] return 1",
         "(LetStmt True sum _ _ 1) (AssignStmt y _ (at sum 0)) (return 1)"),
        ("static for sum in subs { y = sum[0] } return sum[k] x[k]",
         f"(StaticForStmt sum subs _ <(AssignStmt y _ (at sum 0))>) (return {REDUCED})"),
        ("while c { let sum = 1 y = sum[0] } return sum[k] x[k]",
         "(WhileStmt c <(LetStmt False sum _ _ 1) (AssignStmt y _ (at sum 0))>) "
         f"(return {REDUCED})"),
        ("return match o { some(sum) => sum[0] none => sum[k] x[k] }",
         "(return (MatchExpr o <(MatchArm (SomePattern sum) (at sum 0)) "
         f"(MatchArm none {REDUCED})>))"),
    ],
)  # fmt: skip
def test_a_local_hides_a_reduction(text: str, tree: str) -> None:
    assert body(text) == tree


def test_a_parameter_hides_a_reduction() -> None:
    assert body("return sum[0]", "fn f(sum: i32) -> i32") == "(return (at sum 0))"
    assert body("return sum[k] x[k]", "fn f(max: i32) -> i32") == f"(return {REDUCED})"


def test_a_member_hides_a_reduction_in_its_block_only() -> None:
    method = "fn f() -> i32 { return max[0] }"
    module = good(
        f"module m block A {{ param max: i32 {method} }} fn g() -> i32 {{ return max[k] x[k] }}"
    )
    block, function = module.items
    assert isinstance(block, ast.BlockDecl) and isinstance(function, ast.FunctionDecl)
    assert dump(block.methods[0].body[0]) == "(return (at max 0))"
    assert dump(function.body[0]) == "(return (ReduceExpr max _ <k> (at x k)))"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("if a < b { c } else { d }", "(IfExpr (< a b) c d)"),
        ("if a { b } else if c { d } else { e }", "(IfExpr a b (IfExpr c d e))"),
        ("1 + if a { b } else { c } * 2", "(+ 1 (* (IfExpr a b c) 2))"),
        ("if (KV { a: b }).a { c } else { KV { a: d } }",
         "(IfExpr (StructExpr <KV> _ <(FieldValue a b)>).a c "
         "(StructExpr <KV> _ <(FieldValue a d)>))"),
        ("if f(KV { a: b }) { c } else { d }",
         "(IfExpr (call f (StructExpr <KV> _ <(FieldValue a b)>)) c d)"),
        ("if if a { b } else { c } { d } else { e }", "(IfExpr (IfExpr a b c) d e)"),
        ("match x { some(v) => y + v  none => y }",
         "(MatchExpr x <(MatchArm (SomePattern v) (+ y v)) (MatchArm none y)>)"),
        ("match x { A => a, B => b, }",
         "(MatchExpr x <(MatchArm (VariantPattern A) a) (MatchArm (VariantPattern B) b)>)"),
        ("match x { A => KV { a: b } B => -c }",
         "(MatchExpr x <(MatchArm (VariantPattern A) (StructExpr <KV> _ <(FieldValue a b)>)) "
         "(MatchArm (VariantPattern B) (- c))>)"),
        ("match x { A => a < b B => c > (d) }",
         "(MatchExpr x <(MatchArm (VariantPattern A) (< a b)) "
         "(MatchArm (VariantPattern B) (> c d))>)"),
    ],
)  # fmt: skip
def test_braces_of_bodies_and_struct_values(text: str, tree: str) -> None:
    assert expression(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x[:, 1:3]", "(at x (SliceExpr _ _ _) (SliceExpr 1 3 _))"),
        ("x[a:b:2, ..., 0]", "(at x (SliceExpr a b 2) (EllipsisExpr) 0)"),
        ("x[0::2]", "(at x (SliceExpr 0 _ 2))"),
        ("x[::2, :b, a:]", "(at x (SliceExpr _ _ 2) (SliceExpr _ b _) (SliceExpr a _ _))"),
        ("x[*s, ids[b], i + 1]", "(at x *s (at ids b) (+ i 1))"),
        ("x[P:P + B,]", "(at x (SliceExpr P (+ P B) _))"),
        ("reshape(x, [A, B * 2])", "(call reshape x [A (* B 2)])"),
        ("concat(a, b, axis = -1)", "(call concat a b axis=(- 1))"),
        ("(a, b + 1,)", "(TupleExpr <a (+ b 1)>)"),
        ("some(none)", "(SomeExpr none)"),
        (r'"a\n\u{e9}\"" ', "'a\\né\"'"),
        ("0xff + 0b1010 + 1_000", "(+ (+ 255 10) 1000)"),
        ("3.141_592 + 1e-5 + 1e5", "(+ (+ 3.141592 1e-5) 1e5)"),
        ("true && false", "(&& True False)"),
        ("f()(x)", "(call (call f) x)"),
        ("random.normal(k)", "(call random.normal k)"),
    ],
)
def test_other_expressions(text: str, tree: str) -> None:
    assert expression(text) == tree


def test_statements_end_where_the_next_token_cannot_continue_them() -> None:
    assert body("let a = b x[i] = c let (d, e) = f y = g h = i return j") == (
        "(LetStmt False a _ _ b) (AssignStmt x <i> c) (LetTupleStmt <d e> f) "
        "(AssignStmt y _ g) (AssignStmt h _ i) (return j)"
    )


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("while if a { b } else { c } != d { } return x",
         "(WhileStmt (!= (IfExpr a b c) d) <>) (return x)"),
        ("static for i in if a { b } else if c { d } else { e } .. n { x = i } return x",
         "(StaticForStmt i (IfExpr a b (IfExpr c d e)) n <(AssignStmt x _ i)>) (return x)"),
        ("return match if a { b } else { c } { A => KV { a: b } }",
         "(return (MatchExpr (IfExpr a b c) <(MatchArm (VariantPattern A) "
         "(StructExpr <KV> _ <(FieldValue a b)>))>))"),
    ],
)  # fmt: skip
def test_an_else_in_a_head_does_not_open_the_body(text: str, tree: str) -> None:
    assert body(text) == tree


def test_static_for() -> None:
    assert body("static for i in 0..N * 2 { x = i } return x") == (
        "(StaticForStmt i 0 (* N 2) <(AssignStmt x _ i)>) (return x)"
    )


def test_spans_cover_what_was_written() -> None:
    item = good("module m const X = (a + b) * f<C>(d) ").items[0]
    assert isinstance(item, ast.ConstDecl) and isinstance(item.value, ast.BinaryExpr)
    product = item.value
    assert product.span.text == "(a + b) * f<C>(d)"
    assert product.op_span.text == "*"
    assert product.left.span.text == "(a + b)"
    assert product.right.span.text == "f<C>(d)"


def test_a_greater_equal_sign_may_close_generics() -> None:
    assert body("let x: KV<B>= y return x") == (
        "(LetStmt False x (NamedTypeExpr <KV> <B>) _ y) (return x)"
    )
    assert expression("x[a : b < c >= d]") == "(at x (SliceExpr a (>= (< b c) d) _))"


def test_glued_keywords_are_names() -> None:
    assert body("let letter = 1 return letter") == "(LetStmt False letter _ _ 1) (return letter)"
    assert codes("module m fn f() -> i32 { letx = 1 return letx }") == []  # an assignment to `letx`
    assert codes("module m fn f() -> i32 { letx x = 1 return x }") == ["E1101"]
