"""A keyword that is not spelt right: `retrun x`, `lett y = x`, `if c { a } esle { b }`.

Such a word is read as a name, so that the parser stops at it or just behind it. It was meant to be
a keyword if what stands there can be read with that keyword in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from linnet.source.diagnostics import Diagnostic
from linnet.source.suggest import did_you_mean
from linnet.syntax.assigned import statement_name
from linnet.syntax.expected import expected_words, unexpected
from linnet.syntax.habits import FOREIGN_WORDS
from linnet.syntax.tokens import KEYWORDS, KINDS, Token, words

# Tells the terminals that can follow tokens of a unit.
Following = Callable[[list[Token]], set[str]]

_TERMINALS = {**{word: KINDS[word] for word in KEYWORDS}, "Tensor": "TENSOR"}
_BINDERS = words("LET VAR FOR")
_SHORT = 3  # two letters are as near to `if` as to `in`


def misspelt(tokens: list[Token], at: int, following: Following) -> Diagnostic | None:
    """E1101 where the parser stopped at token `at` because of a misspelt keyword, else None."""
    # Of `iff x > 0.0`, `x` is read as the next statement.
    second = statement_name(tokens, at, following(tokens[:at]))
    behind = at if second is None else second
    for place in (behind - 1, behind):
        if not 0 <= place < len(tokens) or not _may_be(tokens, place):
            continue
        before, token = tokens[:place], tokens[place]
        accepted = following(before)
        rest = tokens[place + 1] if place < at and place + 1 < len(tokens) else None
        possible = [word for word, terminal in _TERMINALS.items() if terminal in accepted]
        # Who is not near is not tried: that reads all that stands before it again.
        near = [word for word in possible if keyword_meant(token.text, [word])]
        fitting = [w for w in near if _goes_on(before, token, _TERMINALS[w], rest, following)]
        help = keyword_meant(token.text, fitting) or _glued(before, token, rest, following)
        if help is not None:
            return replace(unexpected(token, expected_words(accepted)), help=help)
    return None


def _may_be(tokens: list[Token], at: int) -> bool:
    """Whether a token is a name, but none that is declared around."""
    text = tokens[at].text
    declared = any(
        token.text == text and (before.type in _BINDERS or after.type == "COLON")
        for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )
    return tokens[at].type == "NAME" and not declared and text not in FOREIGN_WORDS


def keyword_meant(text: str, keywords: Iterable[str]) -> str | None:
    """The help line for a word that may be one of `keywords`, misspelt."""
    return did_you_mean(text, keywords) if len(text) >= _SHORT else None


def _goes_on(
    before: list[Token], token: Token, terminal: str, rest: Token | None, following: Following
) -> bool:
    """Whether `rest` can follow `terminal` in the place of `token`."""
    return rest is None or rest.type in following([*before, replace(token, type=terminal)])


def _glued(
    before: list[Token], token: Token, rest: Token | None, following: Following
) -> str | None:
    """`returnx`, where a space is missing."""
    for word in ("return", "let", "var", "while"):
        name = token.text.removeprefix(word)
        if name in (token.text, "") or not name.isidentifier():
            continue
        keyword = replace(token, type=_TERMINALS[word], text=word)
        read = [*before, keyword, replace(token, text=name)]
        named = _TERMINALS[word] in following(before) and "NAME" in following(read[:-1])
        if named and (rest is None or rest.type in following(read)):
            return f"did you mean `{word} {name}`?"
    return None
