"""Text from loaded cards: tokenizer, ends and template from card or checkpoint, and what is wrong
with them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from linnet import nest
from linnet.nest import Model, hub
from linnet.nest import generating as generating_module
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from tests.generate.scripted import byte_level
from tests.nest import small
from tests.nest.babble import TEMPLATE, load, token, write_card, write_weights

START, END, MESSAGE, RETURN = range(4)
HELLO, THERE, IS = token("hello"), token(" there"), token(" is")


def finding(call: Any, *args: Any, **named: Any) -> Diagnostic:
    with pytest.raises(LinnetError) as caught:
        call(*args, **named)
    (found,) = caught.value.diagnostics
    return found


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return write_card(tmp_path)


@pytest.fixture
def model(card: Path, tmp_path: Path) -> Model:
    weights = write_weights(
        tmp_path, [HELLO, THERE, IS, RETURN], generation_config={"eos_token_id": [RETURN, 9]}
    )
    return load(card, weights=weights)


def test_text_from_text(model: Model) -> None:
    found = model.generate("hello")
    assert (found.text, found.finish_reason) == (" there is", "eos")
    assert found.tokens == (THERE, IS, RETURN)
    assert found.prompt_tokens == 1
    assert 0 < found.first_token_s <= found.total_s
    assert list(model.stream("hello")) == [" there", " is"]
    assert model.generate([HELLO], max_new=1).text == " there"
    assert model.generate(np.array([HELLO]), stop="is").text == " there "


def test_a_card_says_what_ends_a_text(tmp_path: Path) -> None:
    card = write_card(tmp_path, ("[weights]", f"[generate]\neos = [{IS}]\n\n[weights]"))
    text = (card / "nest.toml").read_text()
    (card / "nest.toml").write_text(text.replace('[generate]\nprefill = "prefill"\n\n', ""))
    weights = write_weights(
        tmp_path, [HELLO, THERE, IS, RETURN], generation_config={"eos_token_id": RETURN}
    )
    assert load(card, weights=weights).generate("hello").text == " there"


def test_the_caches_end_a_text(card: Path, tmp_path: Path) -> None:
    weights = write_weights(tmp_path, [HELLO, HELLO])
    model = load(card, weights=weights)
    found = model.generate("hello", max_new=1000)
    assert (len(found.tokens), found.finish_reason) == (31, "max_seq")
    found = load(card, weights=weights, generics={"MaxSeq": 5}).generate("hello")
    assert (len(found.tokens), found.finish_reason) == (4, "max_seq")


@pytest.mark.parametrize("config", [3, [3], None])
def test_one_token_or_several_end_a_text(config: Any, card: Path, tmp_path: Path) -> None:
    weights = write_weights(tmp_path, [HELLO, 3, 3], generation_config={"eos_token_id": config})
    found = load(card, weights=weights).generate("hello", max_new=2)
    assert found.finish_reason == ("max_new" if config is None else "eos")


# --- chats ------------------------------------------------------------------------

CHAT = [{"role": "user", "content": "hello<|end|>"}]


@pytest.mark.parametrize("where", ["file", "config", "list"])
def test_messages_go_through_the_template(where: str, card: Path, tmp_path: Path) -> None:
    listed = [{"name": "tools", "template": "no"}, {"name": "default", "template": TEMPLATE}]
    config = {"file": "not this one", "config": TEMPLATE, "list": listed}[where]
    weights = write_weights(
        tmp_path, [MESSAGE, HELLO, RETURN], tokenizer_config={"chat_template": config}
    )
    if where == "file":
        (weights / "chat_template.jinja").write_text(TEMPLATE)
    stream = load(card, weights=weights).stream(CHAT, max_new=1)
    assert list(stream) == ["hello"]
    # The control tokens are the template's, not the user's.
    assert [t for t in stream.prompt if t < 4] == [START, MESSAGE, END, START, MESSAGE]


def test_the_words_of_a_template(card: Path, tmp_path: Path) -> None:
    config = {
        "chat_template": "{{ bos_token ~ eos_token }}",
        "bos_token": "<|start|>",
        "eos_token": {"content": "<|end|>"},
        "pad_token": None,
    }
    weights = write_weights(tmp_path, [END, HELLO], tokenizer_config=config)
    assert load(card, weights=weights).stream(CHAT, max_new=1).prompt == (START, END)


def test_messages_without_a_template(model: Model) -> None:
    found = finding(model.generate, CHAT)
    assert (found.code, found.message) == (
        "E5005",
        "`babble` has no chat template, so messages have no form",
    )
    assert "chat_template.jinja" in found.notes[0]


ONE: dict[str, Any] = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(
    "prompt", [3, None, [], ["hello"], [1.5], [True], [HELLO, "a"], b"hello", ONE, np.int64(3)]
)
def test_a_prompt_that_is_none(prompt: Any, model: Model) -> None:
    assert finding(model.generate, prompt).code == "E2102"


@pytest.mark.parametrize("prompt", [[[HELLO]], np.array([[HELLO, IS]])])
def test_several_prompts(prompt: Any, model: Model) -> None:
    found = finding(model.generate, prompt)
    assert (found.code, found.help) == ("E2102", "give one of them, `prompt[0]`")


# --- the files ----------------------------------------------------------------------


def test_the_card_is_looked_through_first(card: Path, tmp_path: Path) -> None:
    weights = write_weights(tmp_path, [HELLO, THERE])
    (weights / "tokenizer.json").rename(card / "tokenizer.json")
    (weights / "tokenizer.json").write_text("{}")
    assert load(card, weights=weights).generate("hello", max_new=1).text == " there"


def test_a_tokenizer_that_is_given(card: Path, tmp_path: Path) -> None:
    weights = write_weights(tmp_path, [HELLO, THERE])
    file = tmp_path / "mine.json"
    (weights / "tokenizer.json").rename(file)
    model = load(card, weights=weights / "model.safetensors")
    assert finding(model.generate, "hello").code == "E5005"
    assert model.generate("hello", max_new=1, tokenizer=file).text == " there"
    file.rename(tmp_path / "tokenizer.json")
    assert model.generate("hello", max_new=1, tokenizer=str(tmp_path)).text == " there"
    assert "does not exist" in finding(model.generate, "hello", tokenizer="nowhere").message
    assert finding(model.generate, "hello", tokenizer=3).code == "E2102"


def test_without_a_tokenizer_numbers_go_on(card: Path, tmp_path: Path) -> None:
    weights = write_weights(tmp_path, [HELLO, THERE, IS])
    (weights / "tokenizer.json").unlink()
    model = load(card, weights=weights)
    assert model.generate([HELLO], max_new=2).text == f"{THERE},{IS}"
    for named in ({"prompt": "hello"}, {"prompt": [HELLO], "stop": "1"}):
        found = finding(model.generate, **named)
        assert found.message == "`babble` has no tokenizer, so text cannot become tokens"
        assert found.notes == (f"looked for tokenizer.json in {card}, {weights}",)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("tokenizer.json", "{}", "is no tokenizer: "),
        ("tokenizer.json", "\xff", "it is not UTF-8: byte 0"),
        ("generation_config.json", "[", "it is no JSON: "),
        ("generation_config.json", "[]", "it holds no object"),
        ("generation_config.json", '{"eos_token_id": "end"}', "its `eos_token_id` is no token"),
        ("generation_config.json", '{"eos_token_id": [-1]}', "its `eos_token_id` is no token"),
        ("tokenizer_config.json", '{"chat_template": 3}', "its `chat_template` is no text"),
        ("chat_template.jinja", "{% if %}", "is no chat template: "),
    ],
)
def test_a_malformed_file(name: str, content: str, text: str, model: Model, tmp_path: Path) -> None:
    (tmp_path / "weights" / name).write_bytes(content.encode("latin-1"))
    found = finding(model.generate, "hello" if name == "generation_config.json" else CHAT)
    assert found.code == "E5003"
    assert found.message.startswith(str(tmp_path / "weights" / name)) and text in found.message


def test_a_link_out_of_the_folder_is_not_followed(card: Path, tmp_path: Path) -> None:
    weights = write_weights(tmp_path, [HELLO, THERE])
    (weights / "tokenizer.json").rename(tmp_path / "elsewhere.json")
    (weights / "tokenizer.json").symlink_to(tmp_path / "elsewhere.json")
    found = finding(load(card, weights=weights).generate, "hello")
    assert found.code == "E5003" and found.message.endswith("it is a link that leaves the folder")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Hugging Face cache that holds the checkpoint, without a tokenizer."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    snapshots = tmp_path / "cache" / "models--a--babble" / "snapshots"
    snapshots.mkdir(parents=True)
    folder = write_weights(tmp_path, [HELLO, THERE])
    (folder / "tokenizer.json").unlink()
    return folder.rename(snapshots / "0123456789abcdef0123456789abcdef01234567")


def test_files_beside_the_checkpoint_are_downloaded(
    card: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def download(repo: str, name: str, *, revision: str, cache_dir: Path) -> str:
        asked.append(name)
        if name != "tokenizer.json":
            raise FileNotFoundError(name)
        (cache / name).write_text(byte_level().to_str())
        return str(cache / name)

    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(hf_hub_download=download))
    monkeypatch.setattr(hub, "find_spec", lambda name: name)
    monkeypatch.setattr(hub, "_has_network", lambda: True)
    model = nest.load(card, "numpy")
    assert asked == [], "a model that runs needs none of them"
    assert model.generate("hello", max_new=1).text == " there"
    assert asked[0] == "tokenizer.json" and len(asked) == 4
    assert nest.load(card, "numpy").generate("hello", max_new=1).text == " there"
    assert len(asked) == 4


def test_why_they_are_not_downloaded(card: Path, cache: Path) -> None:
    model = nest.load(card, "numpy", offline=True)
    found = finding(model.generate, "hello")
    assert found.notes == (
        f"looked for tokenizer.json in {card}, {cache}",
        "a/babble was not asked for it: the network is not to be used",
    )


def test_random_weights_take_the_tokenizer_of_the_cache(card: Path, cache: Path) -> None:
    (cache / "tokenizer.json").write_text(byte_level().to_str())
    assert load(card).generate("hello", max_new=3).prompt_tokens == 1


# --- entries ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "text", "place"),
    [
        ('prefill = "prefil"', "`Model` has no entry `prefil`", '"prefil"'),
        ('decode = "follow"', "`follow` must take tokens and their position", '"follow"'),
        (
            'decode = "wide"',
            "the tokens of `wide` are Tensor[1, 4; i32], not Tensor[Rows, 1; i32]",
            '"wide"',
        ),
        (
            'prefill = "wide"',
            "the tokens of `wide` are Tensor[1, 4; i32], whose number is not open",
            '"wide"',
        ),
        (
            'prefill = "back"',
            "`back` gives Tensor[1, S; i32], not Tensor[Rows, Vocab; T], floats for each row",
            '"back"',
        ),
        ('length = "T"', "`Model` has no generic `T`", '"T"'),
        ('lenght = "MaxSeq"', "unknown key `lenght` in `[generate]`", "lenght"),
        ("eos = 3", "`eos` in `[generate]` must be a list of tokens", "3"),
        ("eos = [-1]", "`eos` in `[generate]` must be a list of tokens", "[-1]"),
        ("decode = 3", "`decode` in `[generate]` must be a name", "3"),
    ],
)
def test_a_wrong_table(line: str, text: str, place: str, tmp_path: Path) -> None:
    card = write_card(tmp_path, ('[generate]\nprefill = "prefill"\n', f"[generate]\n{line}\n"))
    found = finding(load, card)
    assert found.code == "E5001" and found.message.startswith(text)
    assert found.span is not None and found.span.text == place


def test_other_names_of_entries(tmp_path: Path) -> None:
    card = write_card(
        tmp_path, ('prefill = "prefill"', 'prefill = "begin"\ndecode = "step"\nlength = "Room"')
    )
    source = (card / "src" / "lib.linnet").read_text().replace("MaxSeq", "Room")
    source = source.replace("entry prefill", "entry begin").replace("entry decode", "entry step")
    (card / "src" / "lib.linnet").write_text(source)
    toml = (card / "nest.toml").read_text().replace("MaxSeq = 32", "Room = 7")
    (card / "nest.toml").write_text(toml)
    found = load(card).generate([HELLO])
    assert (len(found.tokens), found.finish_reason) == (6, "max_seq")


def test_a_card_without_the_entries(tmp_path: Path) -> None:
    model = small.load(small.write_card(tmp_path))
    with pytest.raises(LinnetError) as caught:
        model.generate([1])
    assert [d.code for d in caught.value.diagnostics] == ["E5005", "E5005"]
    for role, found in zip(("prefill", "decode"), caught.value.diagnostics, strict=True):
        assert found.message == (f"`small` does not generate text: `Model` has no entry `{role}`")
        assert found.notes[0].startswith(f"what generates text is {role}(")


def test_nan_in_a_table_is_an_error_and_none_elsewhere_is_not(card: Path, tmp_path: Path) -> None:
    weights = write_weights(tmp_path, [HELLO, THERE, IS])
    table = load_file(weights / "model.safetensors")["table"]
    table[THERE, 7] = np.nan
    save_file({"table": table}, weights / "model.safetensors")
    model = load(card, weights=weights)
    stream = model.stream("hello")
    assert next(stream) == " there"
    found = finding(next, stream)
    assert found.code == "E5005" and found.message.startswith("1 of the model's 300 logits are nan")
    assert stream.finish_reason is None
    assert model.generate("hello", max_new=1).text == " there"


def test_one_text_at_a_time(model: Model) -> None:
    stream = model.stream("hello")
    assert next(stream) == " there"
    model([IS])  # an entry that changes no state disturbs nothing
    assert next(stream) == " is"
    for disturb in (
        lambda: model.generate("hello"),
        lambda: model.decode([[IS]], 5),
        model.reset_state,
    ):
        stream = model.stream("hello")
        assert next(stream) == " there"
        disturb()
        found = finding(next, stream)
        assert found.code == "E5005" and "called in between" in found.message


# --- gpt-oss ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny() -> Model:
    return nest.load("gpt-oss-20b", "numpy", tiny=True, generics={"Layers": 2, "Batch": 2})


def test_caches_give_what_the_whole_text_gives(tiny: Model) -> None:
    prompt = [1, 2, 3, 4, 5, 6, 7]
    tokens = tiny.generate(prompt, max_new=6).tokens
    logits = tiny.forward([[*prompt, *tokens]])[0]
    for at, chosen in enumerate(tokens, len(prompt) - 1):
        # With and without caches logits differ by up to 1e-5, and so the largest, too.
        assert logits[at, chosen] >= logits[at].max() - 2e-5


@pytest.fixture
def chunk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    yield lambda size: monkeypatch.setattr(generating_module._Scorer, "chunk", size)


@pytest.mark.parametrize("size", [1, 3, 7, 8, 20])
def test_a_prompt_is_read_in_parts(size: int, tiny: Model, chunk: Any) -> None:
    asked: list[tuple[int, int]] = []
    prompt = list(range(10, 27))

    class Watched:
        writes = 0

        def run(self, entry: str, args: Any, named: Any) -> Any:
            tokens, pos = args
            assert entry == "prefill" and tokens.shape[0] == 2
            assert tokens[0].tolist() == tokens[1].tolist() == prompt[pos : pos + tokens.shape[1]]
            asked.append((pos, tokens.shape[1]))
            return tiny.run(entry, args, named)

        def reset_state(self) -> None:
            tiny.reset_state()

    entries = generating_module.text_entries(tiny.program, generating_module.Sink())
    assert entries is not None
    whole = generating_module._Scorer(Watched(), entries)
    whole.begin()
    wanted = whole.prefill(prompt, 0)
    assert asked == [(0, 17)]
    asked.clear()
    chunk(size)
    parted = generating_module._Scorer(Watched(), entries)
    parted.begin()
    found = parted.prefill(prompt, 0)
    assert asked == [(at, min(size, 17 - at)) for at in range(0, 17, size)]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5)


def test_the_ends_of_gpt_oss_are_those_of_its_checkpoint() -> None:
    assert json.loads(json.dumps(nest.load("gpt-oss-20b", "numpy", tiny=True).card.generate)) == {
        "eos": [200002, 199999, 200012]
    }


def test_a_text_on_pytorch_is_that_of_the_reference(tiny: Model) -> None:
    """The likeliest tokens, in f32 on both; in bf16 what NumPy does not know becomes logits."""
    framework: Any = pytest.importorskip("torch")
    small_ones: Any = {"tiny": True, "generics": {"Layers": 2, "Batch": 2}}
    torch = nest.load("gpt-oss-20b", "torch", **small_ones)
    assert torch.generate([1, 2, 3], max_new=6).tokens == tiny.generate([1, 2, 3], max_new=6).tokens
    small_ones["generics"]["T"] = "bf16"
    half = nest.load("gpt-oss-20b", "torch", **small_ones)
    found = half.generate([1, 2, 3], max_new=3, temperature=1.0, seed=1)
    assert (len(found.tokens), found.finish_reason) == (3, "max_new")
    given = framework.tensor([1, 2, 3])
    assert torch.generate(given, max_new=2).tokens == torch.generate([1, 2, 3], max_new=2).tokens
