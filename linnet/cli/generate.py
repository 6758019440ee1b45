"""`linnet generate CARD --prompt TEXT`: the text goes to standard output as it is made."""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from linnet.cli.common import word
from linnet.cli.given import Rows, tokens
from linnet.cli.loading import add_loading, loaded
from linnet.cli.report import report
from linnet.nest.words import counted
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from linnet.source.shown import reason

if TYPE_CHECKING:
    from linnet.generate.stream import Stream

_ARGUMENT = re.compile("`(max_new|temperature|top_k|top_p|seed|stop|tokenizer)`")
WRONG_COMMAND_LINE = 2
INTERRUPTED = 130
WHY = {
    "eos": "the model ended it",
    "stop": "a stop text came",
    "max_new": "as many as asked for",
    "max_seq": "the caches are full",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    add_loading(parser)
    prompt = parser.add_mutually_exclusive_group(required=True)
    prompt.add_argument("--prompt", metavar="TEXT", help="what to go on from; `-`: standard input")
    prompt.add_argument(
        "--tokens", type=tokens, metavar="1,2,3", help="the prompt as numbers of tokens"
    )
    parser.add_argument(
        "--chat", action="store_true", help="the prompt is a user's message, in the chat template"
    )
    parser.add_argument(
        "--max-new", type=_integer, metavar="N", help="default: until the caches are full"
    )
    parser.add_argument(
        "--temperature", type=_number, metavar="T", default=0.0, help="default: 0, the likeliest"
    )
    parser.add_argument("--top-k", type=_integer, metavar="K", help="only the likeliest K tokens")
    parser.add_argument(
        "--top-p", type=_number, metavar="P", help="only the likeliest, of P together"
    )
    parser.add_argument("--seed", type=_integer, metavar="S", help="default: another each time")
    parser.add_argument(
        "--stop",
        action="append",
        default=[],
        type=word,
        metavar="TEXT",
        help="end before this text; as often as wanted",
    )
    parser.add_argument(
        "--tokenizer",
        type=word,
        metavar="PATH",
        help="a tokenizer.json or its folder; default: the card's or the checkpoint's",
    )
    parser.add_argument("--json", action="store_true", help="one document at the end")


def run(options: argparse.Namespace) -> int:
    """Loads the card and writes the text, then how many tokens it had and how fast they came."""
    try:
        settings = _settings(options)  # before a checkpoint is read
    except LinnetError as error:
        report(map(_by_options, error.diagnostics), options.json)
        return WRONG_COMMAND_LINE
    try:
        prompt = _prompt(options)
        stream = loaded(options).stream(prompt, **settings, tokenizer=options.tokenizer)
        interrupted = _write(stream, quiet=options.json)
    except LinnetError as error:
        return report(map(_by_options, error.diagnostics), options.json)
    if options.json:
        print(json.dumps(_document(stream), indent=2))
    else:
        print(_summary(stream), file=sys.stderr)
    return INTERRUPTED if interrupted else 0


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `Model.stream`; a `LinnetError` of what is wrong with the options alone."""
    from linnet.generate.settings import check_settings

    names = ("max_new", "temperature", "top_k", "top_p", "seed", "stop")
    settings = {name: getattr(options, name) for name in names}
    check_settings(**settings)
    if options.prompt is None and options.chat:
        raise _refused("`--chat` takes a text: give one by `--prompt`")
    if options.prompt is None and len(options.tokens) > 1:
        raise _refused("one text is generated at a time")
    return settings


def _by_options(finding: Diagnostic) -> Diagnostic:
    """A finding about an argument of Python, by the option that gives it."""
    message = _ARGUMENT.sub(_option, finding.message)
    return replace(
        finding, message=message, help=finding.help and _ARGUMENT.sub(_option, finding.help)
    )


def _option(found: re.Match[str]) -> str:
    return f"`--{found[1].replace('_', '-')}`"


def _prompt(options: argparse.Namespace) -> Any:
    """A text, tokens, or messages."""
    if options.prompt is None:
        rows: Rows = options.tokens
        return rows[0]
    text = _standard_input() if options.prompt == "-" else options.prompt
    return [{"role": "user", "content": text}] if options.chat else text


def _standard_input() -> str:
    """All of it, as it is: a line end at its end is a part of the prompt."""
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refused(f"standard input is not UTF-8: byte {error.start}") from None
    except (OSError, AttributeError) as error:
        why = reason(error) if isinstance(error, OSError) else "it is closed"
        raise _refused(f"standard input cannot be read: {why}") from None


def _refused(message: str) -> LinnetError:
    return LinnetError([Diagnostic("E2102", message, None)])


def _write(stream: Stream, quiet: bool) -> bool:
    """Write pieces as they come; whether the user interrupted it."""
    terminal = sys.stdout.isatty()
    try:
        for piece in stream:
            if not quiet:
                print(_harmless(piece) if terminal else piece, end="", flush=True)
    except KeyboardInterrupt:
        return True
    finally:
        if not quiet and stream.text:
            print(flush=True)
    return False


def _harmless(piece: str) -> str:
    """A piece with nothing in it that a terminal would obey, but for ends of lines and tabs."""
    return "".join(
        c if c in "\n\t" or (c >= " " and not "\x7f" <= c <= "\x9f") else f"\\x{ord(c):02x}"
        for c in piece
    )


def _rate(stream: Stream) -> float | None:
    """Tokens a second after the first; None of one token."""
    seconds = stream.total_s - stream.first_token_s
    return (len(stream.tokens) - 1) / seconds if seconds > 0 else None


def _summary(stream: Stream) -> str:
    reason_ = stream.finish_reason
    why = "interrupted" if reason_ is None else WHY[reason_]
    text = (
        f"{counted(len(stream.tokens), 'token')} ({why}) after {len(stream.prompt)} of the prompt"
    )
    if stream.tokens:
        text += f"; the first after {stream.first_token_s:.3f} s"
    rate = _rate(stream)
    return text if rate is None else f"{text}, then {rate:.1f} tokens/s"


def _document(stream: Stream) -> dict[str, Any]:
    return {
        "version": 1,
        "text": stream.text,
        "tokens": stream.tokens,
        "finish_reason": stream.finish_reason,
        "prompt_tokens": len(stream.prompt),
        "first_token_s": stream.first_token_s if stream.tokens else None,
        "tokens_per_s": _rate(stream),
    }


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is no integer") from None


def _number(text: str) -> int | float:
    """One that is written as an integer stays one, so that findings tell it as it was written."""
    try:
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is no number") from None
