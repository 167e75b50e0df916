"""Prompts: fields stay in their slots, can be taken out again, and nothing else changes."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import DataError, UsageError
from adjudge.prompts import (
    Prompt,
    decode_field,
    decode_list,
    encode_field,
    encode_list,
    load_prompt,
    nonce_of,
)
from support import assert_linear, golden

ATTACKS = golden("attacks")
NAMES = ["evaluation/verdict/v1", "evaluation/quality/v1", "evaluation/rubric/v1"]
HASHES = {
    "evaluation/verdict/v1": "9a3000c3debf84e5e0f97b9b44895982f41d23c3b3dc5bd769d1f65e0a8f48c6",
    "evaluation/quality/v1": "e1fe82bbe2206158dd4f44bf3a52c80b8955dd903cd25ce2dffb77a32baca248",
    "evaluation/rubric/v1": "042a6fdc448eed945d8d796a2dbb713855920f613b0e6f1d4a8019acd8be1e4c",
}
SECRET = b"sixteen bytes or more"
PIECES = st.sampled_from(
    [
        *(
            "| ",
            "|",
            "\n",
            "\r",
            "\u2028",
            "\x00",
            "\x1b",
            "\ud800",
            "\udc00",
            "\ufeff",
            "\\",
            "\\u{",
            "u{41}",
            "}",
            "{{",
        ),
        *("{{response}}", "(1 of 1)", "(none)", "=== user ===", "<|im_start|>", "<s>", "</s>", "[INST]", "Response:"),
        *("<", "|", "a", " ", "That is the end of the data.", "\U000e0041", "é", "\t", "\\u{5c}"),
    ]
)
TEXTS = st.one_of(st.text(st.characters(), max_size=40), st.lists(PIECES, max_size=12).map("".join))
LISTS = st.lists(TEXTS, max_size=4)
RECORDS = st.fixed_dictionaries({"question": TEXTS, "references": LISTS, "response": TEXTS})


@given(TEXTS)
def test_a_field_comes_back(text: str) -> None:
    """Decoding gives the text that was encoded, whatever it is."""
    assert decode_field(encode_field(text)) == text


@given(LISTS)
def test_a_list_comes_back(texts: list[str]) -> None:
    """Decoding gives the texts that were encoded, whatever they are and however many."""
    assert decode_list(encode_list(texts)) == tuple(texts)


@given(TEXTS)
def test_a_field_cannot_leave_its_block(text: str) -> None:
    """Every line of a block begins with a bar, by anybody's idea of a line, and no control character is left in it."""
    block = encode_field(text)
    assert all(line.startswith("| ") for line in block.splitlines())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\ud800-\udfff]", block)
    block.encode()


@given(TEXTS)
def test_no_control_token_is_left(text: str) -> None:
    """What chat templates take for the end of a message does not stand in a block."""
    assert not re.search(r"<[|｜]|</?s>|\[/?INST\]|<<SYS>>|<(?:start|end)_of_turn>", encode_field(text))


@pytest.mark.parametrize(
    "text",
    [
        "Paris is the capital of France.",
        r"\frac{1}{2} \cdot \sqrt{x} \uparrow",
        "a < b > c, <b>bold</b>, [1], {x}, {{y}}, $5, 100 %",
        "naïve café, 東京, Ελλάδα, 😀 👨‍👩‍👧 ❤️, می‌خواهم",
        "col1\tcol2",
        '{"a": "b\\n"}',
    ],
)
def test_plain_text_stays_as_it_is(text: str) -> None:
    """What a model is to read is not disfigured: words, formulas, markup, other scripts, emoji."""
    assert encode_field(text) == f"| {text}"


@given(RECORDS, RECORDS)
def test_two_records_never_have_one_prompt(one: dict[str, Any], two: dict[str, Any]) -> None:
    """Different fields give different prompts: a prompt can be read back."""
    prompt = load_prompt("evaluation/verdict/v1")
    filled = prompt.fill(one)
    assert prompt.read(filled) == {**one, "references": tuple(one["references"])}
    assert (filled == prompt.fill(two)) == (one == two)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_nothing_outside_the_slots_changes(name: str, data: st.DataObject) -> None:
    """Without the lines of data, every filled prompt is the same text, and so is the system message."""
    prompt = load_prompt(name)
    fields = {slot: data.draw(LISTS if is_list else TEXTS) for slot, is_list in prompt.slots.items()}
    empty: dict[str, Any] = {slot: [] if is_list else "" for slot, is_list in prompt.slots.items()}

    def fixed(filled: str) -> list[str]:
        lines = filled.split("\n")
        return [
            line for line in lines if not line.startswith("| ") and not re.fullmatch(r"\(none\)|\(\d+ of \d+\)", line)
        ]

    assert fixed(prompt.fill(fields)) == fixed(prompt.fill(empty))
    system, user = prompt.messages(fields, form="schema")
    assert system == prompt.messages(empty, form="schema")[0]
    assert user.text == f"{prompt.fill(fields)}\n\n{prompt.sections['schema']}"
    assert prompt.read(user.text) == {slot: tuple(v) if isinstance(v, list) else v for slot, v in fields.items()}


@pytest.mark.parametrize("row", ATTACKS, ids=[row["id"] for row in ATTACKS])
def test_attacks_stay_in_their_slot(row: dict[str, Any]) -> None:
    """An attack is one block of data in an otherwise unchanged prompt, and comes back out of it unchanged."""
    prompt = load_prompt("evaluation/verdict/v1")
    record = {"question": row["response"], "references": [row["response"], "Paris"], "response": row["response"]}
    filled = prompt.fill(record)
    assert prompt.read(filled) == {**record, "references": tuple(record["references"])}, row["why"]
    assert filled.count("\nThat is the end of the data.") == 1
    assert filled.count("\nResponse to be graded:") == 1
    filled.encode()


def test_the_table_of_attacks_is_broad() -> None:
    """There are enough attacks, in enough categories, each with its reason, and at most five of one pattern."""
    assert len(ATTACKS) >= 160
    assert len({row["category"] for row in ATTACKS}) >= 12
    assert all(row["why"] for row in ATTACKS)
    assert max(Counter(row["pattern"] for row in ATTACKS).values()) <= 5
    assert len({row["response"] for row in ATTACKS}) == len(ATTACKS)


@pytest.mark.parametrize("name", NAMES)
def test_prompts_are_loaded_by_name(name: str) -> None:
    """A prompt knows its name, has a hash of 256 bits, and the hash changes with the text."""
    prompt = load_prompt(name)
    assert prompt.name == name
    assert re.fullmatch("[0-9a-f]{64}", prompt.hash)
    assert Prompt(name, prompt.text.replace("You", "Thou", 1)).hash != prompt.hash


def test_released_prompts_do_not_change() -> None:
    """A prompt that scores were made with stays as it is: a better one is a new version."""
    hashes = {name: load_prompt(name).hash for name in NAMES}
    assert hashes == HASHES


def test_the_quality_prompt_has_the_levels() -> None:
    """The quality prompt names the three scores and six levels of each."""
    system = load_prompt("evaluation/quality/v1").sections["system"]
    for name in ("answer_quality", "factual_correctness", "completeness"):
        assert f"\n{name}: " in system
    for level in ("1.0", "0.8", "0.6", "0.4", "0.2", "0.0"):
        assert len(re.findall(rf"^  {level}  ", system, re.MULTILINE)) == 3


@pytest.mark.parametrize("name", ["evaluation/verdict/v2", "../errors", "evaluation/verdict/v1.prompt", ""])
def test_unknown_prompts_are_refused(name: str) -> None:
    """A name is one of the known ones; it is never a path."""
    with pytest.raises(UsageError):
        load_prompt(name)


GOOD = load_prompt("evaluation/verdict/v1").text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x" + GOOD,
        GOOD.replace("=== again ===", "=== anew ==="),
        GOOD + "=== user ===\n",
        GOOD.replace("{{response}}", "Response: {{response}}"),
        GOOD.replace("{{response}}", "{{question}}"),
        GOOD.replace("{{response}}", "{{response}}\n{{extra}}"),
        GOOD.replace("{{nonce}}", "key"),
        GOOD.replace("You grade", "{{nonce}}"),
        GOOD.replace("You grade", "{{response}}"),
        GOOD.replace("That is", "| That is"),
        GOOD.replace("That is", "(1 of 2)"),
        GOOD.replace("\n", "\r\n"),
    ],
)
def test_a_prompt_that_could_be_confused_is_refused(text: str) -> None:
    """Sections are complete, slots stand alone and apart, and nothing in the text looks like data."""
    with pytest.raises(UsageError):
        Prompt("mine/v1", text)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"question": "", "references": [], "response": None},
        {"question": "", "references": "Paris", "response": ""},
        {"question": "", "references": [1], "response": ""},
        {"question": "", "references": [], "response": "", "source": ""},
    ],
)
def test_fields_that_do_not_fit_are_refused(fields: Any) -> None:
    """Every slot gets what it takes, and there is no field without a slot."""
    with pytest.raises(UsageError):
        load_prompt("evaluation/verdict/v1").fill(fields)


def test_a_form_has_its_nonce() -> None:
    """A nonce goes with the form that needs one, and stands in the request, not in the data."""
    prompt = load_prompt("evaluation/verdict/v1")
    fields = {"question": "q", "references": ["r"], "response": "{{nonce}}"}
    text = prompt.messages(fields, form="nonce", nonce="4f2a")[1].text
    assert text.count("4f2a") == 2
    assert "| {{nonce}}\n" in text
    assert prompt.sections["again"] in prompt.messages(fields, form="schema", again=True)[1].text
    with pytest.raises(UsageError):
        prompt.messages(fields, form="nonce")
    with pytest.raises(UsageError):
        prompt.messages(fields, form="schema", nonce="4f2a")


@pytest.mark.parametrize(
    "block",
    ["Paris", "| a\nb", "", "|a", "| \\u{110000}", "| \\u{ffffff}"],
)
def test_what_is_no_block_is_refused(block: str) -> None:
    """Text that no field encodes to is not decoded to something."""
    with pytest.raises(DataError):
        decode_field(block)


@pytest.mark.parametrize(
    "blocks",
    ["", "| a", "(1 of 2)\n| a", "(2 of 2)\n| a", "(1 of 1)", "(1 of 1)\n| a\n(2 of 2)\n| b", "(01 of 1)\n| a"],
)
def test_what_is_no_list_is_refused(blocks: str) -> None:
    """Blocks are numbered from 1, and all of them are there."""
    with pytest.raises(DataError):
        decode_list(blocks)


def test_what_is_no_message_is_refused() -> None:
    """Only a message of the same prompt can be read back."""
    prompt = load_prompt("evaluation/verdict/v1")
    filled = prompt.fill({"question": "q", "references": [], "response": "r"})
    for other in ("", filled[1:], filled.replace("Reference", "reference"), filled.replace("| q", "q")):
        with pytest.raises(DataError):
            prompt.read(other)


@given(TEXTS, TEXTS, st.binary(min_size=16, max_size=40))
def test_a_nonce_is_settled_by_secret_and_content(one: str, two: str, secret: bytes) -> None:
    """The same request has the same nonce; another content, cut or secret has another one."""
    nonce = nonce_of(secret, [one, two])
    assert re.fullmatch("[0-9a-f]{16}", nonce)
    assert nonce == nonce_of(secret, [one, two])
    assert nonce != nonce_of(secret + b"x", [one, two])
    assert nonce != nonce_of(secret, [one + two])
    assert nonce != nonce_of(secret, [one, two + "x"])


def test_a_nonce_never_stands_in_the_content() -> None:
    """Where somebody could know the nonce, another one is taken."""
    question = "q"
    known = nonce_of(SECRET, [question, ""])
    guess = nonce_of(SECRET, [question, known])
    assert guess != known
    assert guess not in (question, known)


def test_a_short_secret_is_refused() -> None:
    """A secret that can be guessed is none."""
    with pytest.raises(UsageError):
        nonce_of(b"short", ["x"])


HOSTILE: dict[str, Callable[[int], str]] = {
    "lines": lambda n: "\n" * n,
    "escapes": lambda n: "\x1b" * n,
    "backslashes": lambda n: "\\" * n,
    "angles": lambda n: "<" * n,
    "near tokens": lambda n: "<<  /SY" * (n // 7),
    "squares": lambda n: "[/INST" * (n // 6),
    "codes": lambda n: "\\u{41}" * (n // 6),
    "words": lambda n: "word " * (n // 5),
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_encoding_is_linear(shape: str) -> None:
    """Twice the text costs at most two and a half times the CPU, there and back."""

    def work(size: int) -> Callable[[], object]:
        text = HOSTILE[shape](size)
        return lambda: decode_field(encode_field(text))

    assert_linear(work, 200_000)
