"""Programs that are right, or nearly, made wrong: the inputs of `test_fuzz.py`."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEED = ROOT / ".." / "shared" / "seed" / "gpt-oss-20b" / "src"
FOLDERS = [
    ROOT / "tests" / "golden" / "check",
    ROOT / "tests" / "golden" / "lower",
    ROOT / "stdlib",
    SEED,
]
TOKEN = re.compile(
    r"//[^\n]*|[A-Za-z_]\w*|\d[\w.]*|\.\.\.|\.\.|->|=>|==|!=|<=|>=|&&|\|\||::|\s+|[^\s\w]"
)
# Split where it is used, as a list of the words would be a page long.
COMMON = """
0 1 2 3 8 255 9223372036854775807 1.5 true none some(x) x y i N H *S T f32 i32 bool Tensor
+ - * / % == != < <= > >= && || ! & ^ [0] [i] [*s] [...] [1:3] ? ( ) [ ] { } , : = let var
sum[i] min max cast<T> fill([N],1) iota(N) reshape select static while where return match
state param sub fn struct type enum const block
"""
Edit = tuple[str, float, float, int]
KINDS = ["delete", "double", "swap", "copy", "copy", "copy", "word", "word"]


@cache
def sources() -> list[tuple[Path, list[str]]]:
    """The files of `FOLDERS` and their tokens."""
    files = [f for folder in FOLDERS for f in sorted(folder.rglob("*.linnet"))]
    texts = [(f, f.read_bytes().decode("utf-8", "replace")) for f in files]
    # The seed is slow to check and deep inputs have tests of their own.
    return [(f, TOKEN.findall(text)) for f, text in texts if len(text) < 20_000]


def edited(tokens: list[str], edits: list[Edit]) -> str:
    """`tokens` with the edits made one after the other, at places given as fractions."""
    out = list(tokens)
    for kind, where, other, word in edits:
        solid = [i for i, t in enumerate(out) if not t.isspace() and not t.startswith("//")]
        if not solid:
            break
        at, source = solid[int(where * len(solid))], solid[int(other * len(solid))]
        if kind == "delete":
            out[at] = " "
        elif kind == "double":
            out.insert(at, out[at] + " ")
        elif kind == "swap":
            out[at], out[source] = out[source], out[at]
        elif kind == "copy":
            out[at] = alike(out, solid, at, source)
        else:
            words = COMMON.split()
            out[at] = words[word % len(words)]
    return "".join(out)


def alike(tokens: list[str], solid: list[int], at: int, start: int) -> str:
    """The next token after `start` of the same sort as the one at `at`: a name for a name."""
    sort = tokens[at][0].isalpha(), tokens[at][0].isdigit()
    later = [i for i in solid if i > start] + solid
    return next(t for i in later if ((t := tokens[i])[0].isalpha(), t[0].isdigit()) == sort)


# Bytes that mean something to the lexer, or to who reads or shows a text.
BYTES = [
    *(b"\x00", b"\r", b"\n", b"\t", b"\xff", b"\xc3", b"//", b"/*", b"*/", b'"', b"\\"),
    *(c.encode() for c in ("\ufeff", "\u00e9", "\u202e", "\u2028", "\U0001f600")),
]
BETWEEN = [" // c\n", "// é\r\n", "/* c */", "/** d */ ", "\n/// d\n", "\n\n\n", "\r\n", " ", "\t"]


def mutant(seed: int) -> tuple[Path, bytes]:
    """A file, and what stands in it instead: one for each seed."""
    draw = random.Random(seed)
    path, tokens = draw.choice(sources())
    form = draw.randrange(10)
    if form == 0:
        return path, noise(draw)
    text = "".join(tokens)
    if form < 6:
        edits = [
            (draw.choice(KINDS), draw.random(), draw.random(), draw.randrange(1000))
            for _ in range(draw.randint(1, 4))
        ]
        text = edited(tokens, edits)
    if form in (4, 5):
        text = commented(draw, text)
    return path, torn(draw, text.encode()) if form >= 5 else text.encode()


def noise(draw: random.Random) -> bytes:
    """No program at all, or one that ends in nonsense."""
    words = [*COMMON.split(), "module m", "pub fn f() -> i32 {", "\n", "é", "@", "`"]
    length = draw.randrange(60)
    text = {
        "bytes": bytes(draw.randrange(256) for _ in range(length)),
        "ascii": bytes(draw.randrange(32, 127) for _ in range(length)),
        "words": " ".join(draw.choices(words, k=length)).encode(),
    }[draw.choice(["bytes", "ascii", "words"])]
    return (b"module m\n" if draw.random() < 0.5 else b"") + text


def commented(draw: random.Random, text: str) -> str:
    """Comments, and other white space, between any two tokens."""
    tokens = TOKEN.findall(text)
    for _ in range(draw.randint(1, 5)):
        tokens.insert(draw.randrange(len(tokens) + 1), draw.choice(BETWEEN))
    return "".join(tokens)


def torn(draw: random.Random, text: bytes) -> bytes:
    """Bytes changed, left out, doubled or put in; the end missing."""
    out = bytearray(text)
    for _ in range(draw.randint(1, 3)):
        at, length = draw.randrange(len(out) + 1), draw.choice([1, 1, 1, 2, 5, 40])
        match draw.randrange(6):
            case 0:
                del out[at : at + length]
            case 1:
                out[at:at] = out[at : at + length]
            case 2:
                out[at:at] = draw.choice(BYTES)
            case 3:
                out[at : at + 1] = bytes([draw.randrange(256)])
            case 4:
                out[at : at + 1] = draw.choice(BYTES)
            case _:
                del out[at if draw.random() < 0.3 else len(out) :]
    return bytes(out)
