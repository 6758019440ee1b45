"""Messages as one text, by the chat template of a checkpoint: a template of Jinja.

It comes with the weights, so it runs in the sandbox that transformers runs it in
(`transformers/utils/chat_template_utils.py`), with the same functions at hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from linnet.generate.refused import refused

Message = Mapping[str, Any]


class Marks:
    """Texts of users in which what spells a control token is marked, as the template puts them
    beside control tokens of its own.

    Each character of such a word has a sign before it, which no text has: templates may still cut
    and compare the rest of a message. The beginning of a control token at the end of a text is
    marked, too, as another text may follow.
    """

    def __init__(self, control: Iterable[str], texts: Iterable[str]) -> None:
        self._control = sorted((c for c in control if c), key=len, reverse=True)
        every = "".join(texts)
        self.sign = _unused(every)
        alternatives = "|".join(map(re.escape, self._control)) or "(?!)"
        self._spelled = re.compile(alternatives)
        self._meant = re.compile(f"((?<!{self.sign})(?:{alternatives}))")

    def put(self, value: Any) -> Any:
        """A value of a message, its texts marked."""
        if isinstance(value, str):
            return self._put(value)
        if isinstance(value, Mapping):
            pairs = cast("Mapping[Any, Any]", value).items()
            return {self.put(k): self.put(v) for k, v in pairs}
        if isinstance(value, list | tuple):
            return [self.put(v) for v in cast("Iterable[Any]", value)]
        return value

    def _put(self, text: str) -> str:
        marked = self._spelled.sub(lambda m: self._signed(m[0]), text)
        begun = self._begun(marked)
        return marked[: len(marked) - begun] + self._signed(marked[len(marked) - begun :])

    def _begun(self, text: str) -> int:
        """How many characters at the end of a text are the beginning of a control token."""
        lengths = (n for c in self._control for n in range(1, len(c)) if text.endswith(c[:n]))
        return max(lengths, default=0)

    def _signed(self, text: str) -> str:
        return "".join(self.sign + character for character in text)

    def parts(self, rendered: str) -> Iterator[str]:
        """The control tokens that the template wrote, and what is between them."""
        return (part for part in self._meant.split(rendered) if part)

    def without(self, text: str) -> str:
        """A text as it was."""
        return text.replace(self.sign, "")


def _unused(text: str) -> str:
    """A character that is not in `text`: one that Unicode keeps for such uses."""
    for number in (*range(0xFDD0, 0xFDF0), *range(0xF0000, 0xFFFFE)):
        if chr(number) not in text:
            return chr(number)
    raise refused("the messages have all characters for private use", code="E2102")


def texts_of(value: Any) -> Iterator[str]:
    """All texts in a value of messages."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for pair in cast("Mapping[Any, Any]", value).items():
            yield from texts_of(pair)
    elif isinstance(value, list | tuple):
        for part in cast("Iterable[Any]", value):
            yield from texts_of(part)


def check_messages(messages: Sequence[Any]) -> None:
    """Each is a mapping with a `role`, a text; a `LinnetError` (E2102) of the first that is not."""
    for number, message in enumerate(messages):
        role = cast("Message", message).get("role") if isinstance(message, Mapping) else None
        if not isinstance(role, str):
            hint = 'a message is such as {"role": "user", "content": "Hello"}'
            raise refused(f"message {number} has no role that is a text", code="E2102", help=hint)


class ChatTemplate:
    """A template's source and its file's name; `words` are the texts of the special tokens, which
    templates know as `bos_token` and so on."""

    def __init__(self, source: str, name: str, words: Mapping[str, str]) -> None:
        from jinja2 import TemplateSyntaxError

        self.source = source
        self._words = dict(words)
        try:
            self._template = _environment().from_string(source)
        except TemplateSyntaxError as error:
            message = f"{name} is no chat template: {error.message}, in its line {error.lineno}"
            raise refused(message, code="E5003") from None

    def render(self, messages: Sequence[Message]) -> str:
        """The text up to where the model is to go on."""
        given: dict[str, Any] = {**self._words, "messages": messages, "tools": None}
        try:
            return self._template.render(given, documents=None, add_generation_prompt=True)
        # A template may fail in any way, and none is a fault of this program.
        except Exception as error:
            why = str(error).strip().partition("\n")[0] or type(error).__name__
            raise refused(f"the chat template does not take the messages: {why}") from None


def _environment() -> Any:
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_generation(), loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    known: dict[str, Any] = environment.globals
    known["raise_exception"] = _raise_exception
    known["strftime_now"] = _strftime_now
    known["namespace"] = _namespace()
    return environment


def _namespace() -> Any:
    """`namespace(...)`, whose names do not begin with `_`: those are Python's own."""
    from jinja2.exceptions import SecurityError
    from jinja2.utils import Namespace

    class Plain(Namespace):
        def __init__(*args: Any, **kwargs: Any) -> None:
            attributes = dict(*args[1:], **kwargs)
            for name in attributes:
                _check(name)
            Namespace.__init__(args[0], attributes)

        def __setitem__(self, name: str, value: Any) -> None:
            _check(name)
            super().__setitem__(name, value)

    def _check(name: Any) -> None:
        if str(name).startswith("_"):
            raise SecurityError(f"no name of a namespace begins with `_`, as `{name}` does")

    return Plain


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Unlike Jinja's, it leaves `<` and `&` as they are."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _raise_exception(message: str) -> None:
    from jinja2 import TemplateError

    raise TemplateError(message)


def _strftime_now(form: str) -> str:
    return datetime.now().strftime(form)


def _generation() -> Any:
    """`{% generation %}` marks what a model wrote, for training: here it is what it contains."""
    from jinja2 import nodes
    from jinja2.ext import Extension

    class Generation(Extension):
        tags = {"generation"}  # noqa: RUF012

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.Scope(body, lineno=line)

    return Generation
