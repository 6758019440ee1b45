"""Words for a syntax error: what stood there, what could have, what the writer may have meant."""

from __future__ import annotations

from dataclasses import replace

from linnet.source.diagnostics import Diagnostic, Related
from linnet.source.files import SourceFile, Span
from linnet.syntax.assigned import statement_name
from linnet.syntax.habits import habit, side_by_side
from linnet.syntax.stop import Stop
from linnet.syntax.tokens import KEYWORDS, Token, words

_EXPRESSION = words(
    "INT FLOAT STRING TRUE FALSE NONE SOME LPAR LSQB IF MATCH SIGN BANG REDUCE NAME"
)
_INDEXED = frozenset(["STAR", "ELLIPSIS", "COLON", "PATH_SEP"])
_TYPE = frozenset(["TENSOR", "NAME", "LSQB", "LPAR"])
_STATEMENT = frozenset(["LET", "VAR", "RETURN", "STATIC", "WHILE", "NAME"])
_CONTINUATION = words("BINARY SIGN STAR DOT LPAR LSQB LANGLE STRUCT_OPEN QMARK")
_MODULE = frozenset(["NAME", "CRATE", "SELF", "SUPER"])
_WORDS = {
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "LBRACE": "`{`",
    "STRUCT_OPEN": "`{`",
    "RBRACE": "`}`",
    "LANGLE": "`<`",
    "RANGLE": "`>`",
    "COMMA": "`,`",
    "DOT": "`.`",
    "COLON": "`:`",
    "SEMICOLON": "`;`",
    "EQUAL": "`=`",
    "QMARK": "`?`",
    "BANG": "`!`",
    "STAR": "`*`",
    "ARROW": "`->`",
    "FAT_ARROW": "`=>`",
    "PATH_SEP": "`::`",
    "RANGE": "`..`",
    "ELLIPSIS": "`...`",
    "BINARY": "an operator",
    "SIGN": "an operator",
    "NAME": "a name",
    "INT": "a number",
    "FLOAT": "a number",
    "STRING": "a string",
    "TENSOR": "a type",
    "REDUCE": "a reduction",
    "$END": "the next item",
}
_CLOSERS = {"(": ("RPAR", "`)`"), "[": ("RSQB", "`]`"), "{": ("RBRACE", "`}`")}

_WORD_OPERATORS = frozenset(["and", "or", "not", "elif"])


def syntax_error(
    tokens: list[Token], at: int, following: Token | None, accepted: set[str], unclosed: list[int]
) -> Diagnostic:
    """E1101 for token `at` of a unit. `following` is the first token after the unit, in whose
    place the unit ended early; `unclosed` are the unit's brackets that nothing closes."""
    second = statement_name(tokens, at, accepted)
    if second is not None and (help := side_by_side(tokens, second)):
        return replace(unexpected(tokens[second], ["an operator"]), help=help)
    found = tokens[at] if at < len(tokens) else following
    wanted = expected_words(accepted)
    related: tuple[Related, ...] = ()
    opener = next((tokens[u] for u in reversed(unclosed) if u < at), None)
    if opener is not None:
        kind, sign = _CLOSERS[opener.text]
        label = f"this `{opener.text}` is not closed"
        if kind in accepted:
            related = (Related(opener.span, label),)
            wanted = [sign, *(word for word in wanted if word != sign)][:4]
        elif opener.text != "{":
            related = (Related(opener.span, label),)
            wanted = [f"{sign} for the `{opener.text}` before it"]
    near = [n for n in (at - 1, at - 2) if n >= 0 and tokens[n].text in _WORD_OPERATORS]
    if near:
        at = near[0]
        found, wanted, related = tokens[at], [], ()
    if found is None:
        return replace(_diagnostic(_end(tokens[-1].file), "end of file", wanted), related=related)
    named = opener is None and "NAME" in accepted and not accepted & {"INT", "LET"}
    help = habit(Stop(tokens, at, found, accepted, named)) or _unopened(tokens, at, found)
    return replace(unexpected(found, wanted), related=related, help=help)


def unexpected(token: Token, wanted: list[str]) -> Diagnostic:
    """E1101 for a token in whose place one of `wanted` could stand."""
    return _diagnostic(token.span, _shown(token), wanted)


def _diagnostic(span: Span, shown: str, wanted: list[str]) -> Diagnostic:
    message = f"unexpected {shown}" + (f", expected {_either(wanted)}" if wanted else "")
    return Diagnostic("E1101", message, span, "not expected here")


def _end(file: SourceFile) -> Span:
    at = len(file.text.rstrip())
    return Span(file, at, at)


def _shown(token: Token) -> str:
    if token.type == "STRING":
        return "string"
    text = token.text if len(token.text) <= 40 else token.text[:37] + "..."
    return f"keyword `{text}`" if text in KEYWORDS else f"`{text}`"


def _either(words: list[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + " or " + words[-1]


def _unopened(tokens: list[Token], at: int, found: Token) -> str | None:
    """What to say of a closing bracket that nothing before it opened."""
    opener = {")": "(", "]": "["}.get(found.text)
    if opener is None:
        return None
    before = [token.text for token in tokens[:at]]
    if before.count(opener) > before.count(found.text):
        return None
    return f"no `{opener}` is open here"


def expected_words(accepted: set[str]) -> list[str]:
    """What could stand there, as a writer would say it: few words, grouped."""
    left = set(accepted)
    groups: list[str] = []
    if left >= {"INT", "NAME", "LPAR"}:
        groups.append("an expression")
        left -= _EXPRESSION | _INDEXED
    elif "TENSOR" in left:
        groups.append("a type")
        left -= _TYPE
    elif left >= {"LET", "RETURN"}:
        groups.append("a statement")
        left -= _STATEMENT | _CONTINUATION
    elif left >= _MODULE:
        groups.append("a module path")
        left -= _MODULE
    if "BINARY" in left or "DOT" in left:
        rest = left - _CONTINUATION
        if "RPAR" in rest:  # `name =` in a call: possible, seldom meant
            rest -= {"EQUAL"}
        left = rest if rest or groups else {"BINARY"}
    if len(left) > 1:
        left.discard("$END")
    named = {_WORDS.get(kind, f"`{kind.lower()}`") for kind in left}
    return (groups + sorted(named, key=_rank))[:5]


def _rank(word: str) -> tuple[int, str]:
    closing = ("`)`", "`]`", "`}`", "`>`")
    return (closing.index(word) if word in closing else 4 if word == "`,`" else 5, word)
