"""`linnet generate`: text as it is made, the line at the end, the document, mistakes, Ctrl-C."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from linnet import nest
from linnet.cli.main import main
from linnet.generate.stream import Stream
from linnet.source.errors import LinnetError
from tests.cli.runs import interruptible
from tests.nest.babble import TEMPLATE, token, write_card, write_weights

Capture = pytest.CaptureFixture[str]
HELLO, THERE, IS = token("hello"), token(" there"), token(" is")
RETURN = 3
SPEED = r"the first after \d+\.\d{3} s"


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """The command with a card whose text is ` there is`."""
    card = write_card(tmp_path)
    weights = write_weights(
        tmp_path,
        [HELLO, THERE, IS, RETURN],
        generation_config={"eos_token_id": RETURN},
        tokenizer_config={"chat_template": TEMPLATE},
    )
    return ["generate", str(card), "--weights", str(weights)]


def test_the_text_and_the_line_at_the_end(words: list[str], capsys: Capture) -> None:
    assert main([*words, "--prompt", "hello"]) == 0
    out, err = capsys.readouterr()
    assert out == " there is\n"
    pattern = (
        rf"3 tokens \(the model ended it\) after 1 of the prompt; {SPEED}, then [\d.]+ tokens/s\n"
    )
    assert re.fullmatch(pattern, err)


def test_one_token_has_no_speed(words: list[str], capsys: Capture) -> None:
    assert main([*words, "--tokens", str(HELLO), "--max-new", "1"]) == 0
    out, err = capsys.readouterr()
    assert out == " there\n"
    pattern = rf"1 token \(as many as asked for\) after 1 of the prompt; {SPEED}\n"
    assert re.fullmatch(pattern, err)


def test_pieces_are_written_as_they_come(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    advance = Stream.__next__

    def watched(stream: Stream) -> str:
        written.append(sys.stdout.getvalue())
        return advance(stream)

    monkeypatch.setattr(Stream, "__next__", watched)
    assert main([*words, "--prompt", "hello"]) == 0
    assert written == ["", " there", " there is"]


def test_standard_input_is_the_prompt(
    words: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"the theory is hello"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main([*words, "--prompt", "-", "--stop", " is", "--stop", "never"]) == 0
    out, err = capsys.readouterr()
    assert out == " there\n" and "a stop text came" in err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\xff")))
    assert main([*words, "--prompt", "-"]) == 1
    assert "standard input is not UTF-8: byte 1" in capsys.readouterr().err


def test_the_document(words: list[str], capsys: Capture) -> None:
    assert main([*words, "--prompt", "hello", "--json"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    times = document.pop("first_token_s"), document.pop("tokens_per_s")
    assert all(isinstance(t, float) and t > 0 for t in times)
    assert document == {
        "version": 1,
        "text": " there is",
        "tokens": [THERE, IS, RETURN],
        "finish_reason": "eos",
        "prompt_tokens": 1,
    }
    assert err == ""


def test_a_message_of_a_chat(words: list[str], capsys: Capture) -> None:
    assert main([*words, "--prompt", "hello", "--chat", "--max-new", "1", "--json"]) == 0
    # <|start|> user <|message|> hello <|end|> <|start|> assistant <|message|>: words by letters.
    assert json.loads(capsys.readouterr().out)["prompt_tokens"] > 7


def test_the_same_seed_gives_the_same(words: list[str], capsys: Capture) -> None:
    hot = [*words, "--prompt", "hello", "--temperature", "2", "--top-k", "50", "--top-p", "0.9"]

    def text(*more: str) -> str:
        assert main([*hot, *more, "--max-new", "20"]) == 0
        return capsys.readouterr().out

    assert text("--seed", "1") == text("--seed", "1") != text("--seed", "2")


@pytest.mark.parametrize(
    ("more", "status", "findings"),
    [
        (["--max-new", "0"], 2, ["E2102: `--max-new` must be an integer above 0, not `0`"]),
        (
            ["--temperature", "-1", "--top-k", "0", "--top-p", "1.5", "--seed", "-3"],
            2,
            [
                "E2102: `--temperature` must be a number from 0, not infinite, not `-1`",
                "E2102: `--top-k` must be an integer above 0, not `0`",
                "E2102: `--top-p` must be a number above 0, at most 1, not `1.5`",
                "E2102: `--seed` must be an integer from 0, not `-3`",
            ],
        ),
        (["--temperature", "nan"], 2, ["E2102: `--temperature` must be a number from 0, "]),
        (["--set", "MaxSeq=1"], 1, ["E5005: the prompt has 1 token, and the caches hold 1"]),
        (["--tokenizer", "nowhere"], 1, ["E5003: there is no tokenizer at nowhere"]),
        (["--weights", "random"], 1, ["E5005: `babble` has no tokenizer"]),
    ],
)
def test_mistakes_are_findings(
    more: list[str], status: int, findings: list[str], words: list[str], capsys: Capture
) -> None:
    assert main([*words, "--prompt", "hello", *more]) == status
    out, err = capsys.readouterr()
    assert out == ""
    for finding in findings:
        assert f"error[{finding[:5]}]{finding[5:]}" in err
    assert err.count("error[") == len(findings)
    assert main([*words, "--prompt", "hello", *more, "--json"]) == status
    codes = [d["code"] for d in json.loads(capsys.readouterr().out)["diagnostics"]]
    assert codes == [f[:5] for f in findings]


def test_longer_caches_are_bound_by_an_option(capsys: Capture, words: list[str]) -> None:
    assert main([*words, "--prompt", "hello", "--set", "MaxSeq=1"]) == 1
    assert "bind longer caches: `--set MaxSeq=4`" in capsys.readouterr().err
    long = ",".join("1" * 300)
    assert main(["generate", "gpt-oss-tiny", "--tokens", long]) == 1
    assert "bind longer caches: `--set MaxSeq=512`" in capsys.readouterr().err
    more = ["--set", "MaxSeq=512", "--max-new", "1"]
    assert main(["generate", "gpt-oss-tiny", "--tokens", long, *more]) == 0
    with pytest.raises(LinnetError) as caught:
        nest.load("gpt-oss-tiny", "numpy").stream([1] * 300)
    assert 'bind longer caches: generics={"MaxSeq": 512}' in str(caught.value)


def test_a_missing_tokenizer_names_the_option(words: list[str], capsys: Capture) -> None:
    assert main([*words, "--prompt", "hello", "--weights", "random"]) == 1
    err = capsys.readouterr().err
    assert "= note: looked for tokenizer.json in " in err
    assert "give its folder as `--tokenizer`" in err


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ([], "one of the arguments --prompt --tokens is required"),
        (["--prompt", "a", "--tokens", "1"], "not allowed with argument"),
        (["--prompt", "a", "--max-new", "x"], "`x` is no integer"),
        (["--prompt", "a", "--top-p", "x"], "`x` is no number"),
        (["--prompt", "a", "--stop", ""], "an empty text is no value"),
    ],
)
def test_a_wrong_command_line(
    more: list[str], text: str, words: list[str], capsys: Capture
) -> None:
    assert main([*words, *more]) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--tokens", "1;2"], ["--tokens", "1", "--chat"]])
def test_one_text_from_tokens(more: list[str], words: list[str], capsys: Capture) -> None:
    assert main([*words, *more]) == 2
    assert "error[E2102]: " in capsys.readouterr().err


def test_an_error_in_between_comes_after_the_text(words: list[str], capsys: Capture) -> None:
    file = Path(words[-1]) / "model.safetensors"
    table = load_file(file)["table"]
    table[THERE] = np.nan
    save_file({"table": table}, file)
    assert main([*words, "--prompt", "hello"]) == 1
    out, err = capsys.readouterr()
    assert out == " there\n"
    assert "error[E5005]: 300 of the model's 300 logits are nan" in err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_given_nothing_to_obey(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = iter(["a\x1b[2J", "\tb\n", "\x9b", "é\x07"])
    monkeypatch.setattr(Stream, "__next__", lambda stream: next(pieces))
    monkeypatch.setattr(Stream, "text", "something")
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert main([*words, "--prompt", "hello"]) == 0
    assert sys.stdout.getvalue() == "a\\x1b[2J\tb\n\\x9bé\\x07\n"


def test_ctrl_c_keeps_what_was_written(
    words: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    advance = Stream.__next__

    def interrupted(stream: Any) -> str:
        if stream.tokens:
            raise KeyboardInterrupt
        return advance(stream)

    monkeypatch.setattr(Stream, "__next__", interrupted)
    assert main([*words, "--prompt", "hello"]) == 130
    out, err = capsys.readouterr()
    assert out == " there\n"
    assert err.startswith("1 token (interrupted) after 1 of the prompt; ")
    assert main([*words, "--prompt", "hello", "--json"]) == 130
    document = json.loads(capsys.readouterr().out)
    assert (document["text"], document["finish_reason"]) == (" there", None)


def test_ctrl_c_in_a_process_of_its_own() -> None:
    """A model that would go on for thousands of tokens, of which a few are written."""
    line = "generate gpt-oss-20b --tiny --tokens 1,2 --set MaxSeq=4000 --set Layers=2"
    process = subprocess.Popen(
        [sys.executable, "-m", "linnet", *line.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        preexec_fn=interruptible,
    )
    assert process.stdout is not None
    first = process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert first.isdigit() and out.endswith("\n")
    assert re.match(r"\d+ tokens? \(interrupted\) after 2 of the prompt", err), err
