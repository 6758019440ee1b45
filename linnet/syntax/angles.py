"""Finds the `>` that closes a generic argument list.

`f<A, B>(x)` against `a < b`: the tokens up to the `>` must read as generic arguments
(dimension expressions, dtypes, shape literals, `*S`), which admit no comparison, no `&&`, no
keyword; and what follows the `>` must not be an operand, as it would be for a comparison, but
`(` or `{`, or `[` after the name of a reduction. What can be read either way, `f(a < b, c > (d))`,
is a generic call.
"""

from __future__ import annotations

from linnet.syntax.tokens import Token, words

_OPERATORS = frozenset(["SIGN", "STAR", "BINARY"])
_ARITHMETIC = frozenset(["+", "-", "*", "/", "%"])
# What begins an operand, brackets aside. A `>` before one of these compares.
_OPERANDS = words(
    "NAME TENSOR REDUCE INT FLOAT STRING TRUE FALSE NONE SOME IF MATCH SIGN BANG RESERVED"
)


class Angles:
    """Answers for one list of tokens; each is scanned about once, however `<` nest."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.known: dict[int, int | None] = {}

    def closing(self, at: int, declares: bool, in_type: bool = False) -> int | None:
        """The number of the `>` for the `<` at a place. `declares` admits `T: Float = bf16`;
        in a declaration and `in_type` a `>=` closes the list and leaves its `=`:
        `type Pair<N: Dim>= ..`, `let x: KV<B>= y`."""
        if declares or in_type:
            return self.scan(at, declares, in_type)
        if at not in self.known:
            self.known[at] = self.scan(at, False, False)
        return self.known[at]

    def generic_before(self, close: int, name_type: str) -> bool:
        """Whether what follows a `>` shows that it closed generic arguments."""
        after = self.tokens[close + 1].type if close + 1 < len(self.tokens) else ""
        if after == "LSQB":
            return name_type == "REDUCE"
        return after not in _OPERANDS

    def close(self, at: int) -> None:
        """Marks a `>` as the end of generics; cuts it from the `=` of a `>=`."""
        token = self.tokens[at]
        if token.text == ">=":
            rest = Token("EQUAL", "=", token.start + 1, token.end, token.file)
            self.tokens.insert(at + 1, rest)
            token.text, token.end = ">", token.start + 1
        token.type = "RANGLE"

    def scan(self, start: int, declares: bool, in_type: bool) -> int | None:
        """Reads generic arguments from the `<` at `start` and gives the place of their end."""
        tokens = self.tokens
        open_: list[tuple[str, int]] = [("<", start)]
        splits = declares or in_type
        wanted = True  # whether an operand must come next
        for at in range(start + 1, len(tokens)):
            token = tokens[at]
            kind, text = token.type, token.text
            before = tokens[at - 1]
            if kind in ("NAME", "INT", "RESERVED", "TRUE", "FALSE"):
                if not wanted:
                    break
                wanted = False
            elif kind == "COMMA" or kind == "DOT":
                if wanted:
                    break
                wanted = True
            elif text in _ARITHMETIC and kind in _OPERATORS:
                if wanted and text not in "+-" and not self.pack(before):
                    break
                wanted = True
            elif text == "<":
                if wanted or before.type != "NAME":
                    break
                open_.append(("<", at))
                wanted = True
            elif text == ">" or (text == ">=" and splits and len(open_) == 1):
                if open_[-1][0] != "<" or (wanted and before.type != "COMMA"):
                    break
                place = open_.pop()[1]
                if not open_:
                    return at
                self.known[place] = at
            elif kind == "LPAR" or kind == "LSQB":
                call = kind == "LPAR" and before.type == "NAME" and before.text in ("min", "max")
                if not wanted and not call:
                    break
                open_.append((text, at))
                wanted = True
            elif kind == "RPAR" or kind == "RSQB":
                if open_[-1][0] != ("(" if kind == "RPAR" else "["):
                    break
                if wanted and before.type not in ("COMMA", "LSQB"):
                    break
                open_.pop()
                wanted = False
            elif declares and kind in ("COLON", "EQUAL") and not wanted:
                wanted = True
            else:
                break
        self.known.update((place, None) for sign, place in open_[1:] if sign == "<")
        return None

    def pack(self, before: Token) -> bool:
        """Whether a `*` after a token begins a pack, `*S`."""
        return before.type in ("COMMA", "LSQB", "LPAR") or before.text == "<"
