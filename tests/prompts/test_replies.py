"""Reading what a judge replied: exactly one answer, or a typed error."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.prompts import (
    VERDICT_SCHEMA,
    UnreadableReply,
    VerdictReading,
    parse_result_line,
    parse_rubric,
    parse_verdict,
    rubric_schema,
)
from support import assert_linear, golden

VERDICTS = golden("verdicts")
NONCE = "d79759152ac5f3a4"
NAMES = ["answer_quality", "completeness"]
PIECES = st.sampled_from(
    [
        *(
            "CORRECT",
            "WRONG",
            "IN",
            "not ",
            NONCE,
            "Result:",
            "{",
            "}",
            '"',
            "verdict",
            "reasoning",
            ":",
            ",",
            "\n",
            " ",
        ),
        *("```", "json", "> ", "*", "\\", "\ud800", "\x00", "[", "]", "0", "1", ".", "e", "-", "true", "NaN", *NAMES),
    ]
)
TEXTS = st.one_of(st.text(st.characters(), max_size=60), st.lists(PIECES, max_size=30).map("".join))


def read(mode: str, reply: str) -> VerdictReading:
    """Read a reply as the mode says."""
    if mode == "result":
        return parse_result_line(reply)
    return parse_verdict(reply, nonce=NONCE if mode == "nonce" else None)


@pytest.mark.parametrize("row", VERDICTS, ids=[row["id"] for row in VERDICTS])
def test_verdicts(row: dict[str, Any]) -> None:
    """A reply has the verdict that the table says, or is unreadable for the reason that it says."""
    if row["expected"] is not None:
        assert read(row["mode"], row["reply"]).verdict == row["expected"], row["why"]
        return
    with pytest.raises(UnreadableReply) as caught:
        read(row["mode"], row["reply"])
    assert caught.value.code == row["code"], row["why"]


def test_the_table_is_broad() -> None:
    """The table has enough rows, each with its reason, and at most five of one pattern."""
    assert len(VERDICTS) >= 120
    assert all(row["why"] for row in VERDICTS)
    assert max(Counter(row["pattern"] for row in VERDICTS).values()) <= 5
    assert len({(row["mode"], row["reply"]) for row in VERDICTS}) == len(VERDICTS)


@pytest.mark.parametrize("mode", ["schema", "nonce", "result"])
@given(reply=TEXTS)
def test_reading_never_raises_anything_else(mode: str, reply: str) -> None:
    """Whatever a reply is, it has a verdict or is unreadable."""
    with suppress(UnreadableReply):
        assert read(mode, reply).verdict in ("CORRECT", "WRONG")


@given(reply=TEXTS, nonce=st.sampled_from([None, NONCE]))
def test_reading_a_rubric_never_raises_anything_else(reply: str, nonce: str | None) -> None:
    """Whatever a reply is, it has every score in 0..1 or is unreadable."""
    try:
        scores = parse_rubric(reply, NAMES, nonce=nonce).scores
    except UnreadableReply:
        return
    assert list(scores) == NAMES
    assert all(0.0 <= score <= 1.0 for score in scores.values())


@given(st.text(st.characters()), st.sampled_from(["CORRECT", "WRONG"]))
def test_no_text_without_the_key_adds_or_takes_a_verdict(text: str, verdict: str) -> None:
    """In front of the line with the key may stand whatever does not open a code block."""
    reply = f"{text}\n{NONCE} {verdict}"
    if "`" not in text and "~" not in text:
        assert parse_verdict(reply, nonce=NONCE).verdict == verdict


@pytest.mark.parametrize(
    ("member", "score"),
    [
        ("0", 0.0),
        ("1", 1.0),
        ("0.85", 0.85),
        ("1.0", 1.0),
        ("1e-3", 0.001),
        ("-0.0", 0.0),
        ('"0.85"', 0.85),
        ('" .5 "', 0.5),
        ('"1"', 1.0),
        ('"8e-1"', 0.8),
    ],
)
def test_a_number_is_read(member: str, score: float) -> None:
    """A score is a number, or a text that is one."""
    assert parse_rubric(f'{{"q": {member}}}', ["q"]).scores == {"q": score}


@pytest.mark.parametrize(
    ("member", "code"),
    [
        ("true", "bad-score"),
        ("false", "bad-score"),
        ("null", "bad-score"),
        ("1.01", "bad-score"),
        ("-0.1", "bad-score"),
        ("85", "bad-score"),
        ("1e999", "bad-score"),
        ("-1e999", "bad-score"),
        ("NaN", "not-json"),
        ("Infinity", "not-json"),
        ('"NaN"', "bad-score"),
        ('"inf"', "bad-score"),
        ('"85%"', "bad-score"),
        ('"0,85"', "bad-score"),
        ('"4/5"', "bad-score"),
        ('"1_0"', "bad-score"),
        ('"٠"', "bad-score"),
        ('""', "bad-score"),
        ('"0x1"', "bad-score"),
        ("[0.5]", "bad-score"),
        ('{"score": 0.5}', "bad-score"),
        ("0." + "0" * 5000 + "x", "not-json"),
        ("9" * 400, "bad-score"),
        ("9" * 5000, "not-json"),
        ('"0.' + "0" * 100 + '"', "bad-score"),
    ],
)
def test_what_is_no_number_is_unreadable(member: str, code: str) -> None:
    """Out of range, not finite, a bool, a text that is no number: none of it becomes a score."""
    with pytest.raises(UnreadableReply) as caught:
        parse_rubric(f'{{"q": {member}}}', ["q"])
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ('{"answer_quality": 1}', "missing-score"),
        ('{"answer_quality": 1, "completeness": 1, "completeness": 0}', "duplicate-key"),
        ('{"answer_quality": 1, "completeness": 1, "reasoning": 3}', "not-json"),
        ('Scores: {"answer_quality": 1, "completeness": 1}', "not-json"),
        ('[{"answer_quality": 1, "completeness": 1}]', "not-json"),
        ('{"quality": {"answer_quality": 1, "completeness": 1}}', "missing-score"),
        ('{"Answer_Quality": 1, "completeness": 1}', "missing-score"),
        ("", "empty"),
    ],
)
def test_an_incomplete_rubric_is_unreadable(reply: str, code: str) -> None:
    """All scores are there, once each, or none counts."""
    with pytest.raises(UnreadableReply) as caught:
        parse_rubric(reply, NAMES)
    assert caught.value.code == code


def test_a_complete_rubric_is_read() -> None:
    """Bare, in a fence, with members that nobody asked for, or behind the key: the same reading."""
    reply = '{"reasoning": "Fine.", "completeness": "0.5", "answer_quality": 1, "extra": [true]}'
    reading = parse_rubric(reply, NAMES)
    assert reading.scores == {"answer_quality": 1.0, "completeness": 0.5}
    assert reading.reasoning == "Fine."
    assert parse_rubric(f"```json\n{reply}\n```", NAMES) == reading
    assert parse_rubric(f"I compared.\n{NONCE} {reply}", NAMES, nonce=NONCE) == reading
    assert parse_rubric(f'First.\n{NONCE} {{"q": 1}}', ["q"], nonce=NONCE).reasoning == "First."


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ('{"q": 1}', "missing-score"),
        (f'> {NONCE} {{"q": 1}}', "quoted-verdict"),
        (f'{NONCE} {{"q": 1}}\n{NONCE} {{"q": 0}}', "two-verdicts"),
        (f"{NONCE} followed by JSON", "not-json"),
        (f'{NONCE} {{"q": 1\n}}', "not-json"),
    ],
)
def test_a_rubric_behind_the_key(reply: str, code: str) -> None:
    """Scores behind the key stand on one line of their own, unquoted, and once."""
    with pytest.raises(UnreadableReply) as caught:
        parse_rubric(reply, ["q"], nonce=NONCE)
    assert caught.value.code == code


@pytest.mark.parametrize("names", [[], ["a", "a"], "quality", ["reasoning"]])
def test_bad_names_are_refused(names: Any) -> None:
    """A rubric has different names, and none of them is taken."""
    for call in (lambda: rubric_schema(names), lambda: parse_rubric("{}", names)):
        with pytest.raises(UsageError):
            call()


def test_the_schemas_are_strict() -> None:
    """Every member is required and no other allowed, as strict structured output demands."""
    for schema in (VERDICT_SCHEMA, rubric_schema(NAMES)):
        assert list(schema["properties"]) == schema["required"]
        assert schema["additionalProperties"] is False


HOSTILE: dict[str, Callable[[int], str]] = {
    "prose": lambda n: "word " * (n // 5),
    "braces": lambda n: "{" * n,
    "nested": lambda n: '{"a":' * (n // 5),
    "fences": lambda n: "```\n" * (n // 4),
    "backticks": lambda n: "`" * n,
    "stars": lambda n: "*" * n,
    "bars": lambda n: "| " * (n // 2),
    "keys": lambda n: f"{NONCE} x\n" * (n // 19),
    "quoted keys": lambda n: f"> {NONCE} CORRECT\n" * (n // 27),
    "results": lambda n: "Result: " * (n // 8),
    "spaces": lambda n: " " * n + "x",
    "lines": lambda n: "\n" * n,
    "digits": lambda n: "9" * n,
    "text": lambda n: '{"verdict": "' + "\\\\" * (n // 2) + '"}',
    "members": lambda n: "{" + ",".join(f'"{i}":1' for i in range(n // 10)) + "}",
    "lists": lambda n: '{"verdict": [' + "[]," * (n // 3) + "[]]}",
    "numbers": lambda n: '{"verdict": [' + "1," * (n // 2) + "1]}",
    "long reasoning": lambda n: '{"reasoning": "' + "It says so. " * (n // 12) + '", "verdict": "WRONG"}',
}


@pytest.mark.parametrize("shape", HOSTILE)
@pytest.mark.parametrize("mode", ["schema", "nonce", "result", "rubric"])
def test_reading_is_linear(mode: str, shape: str) -> None:
    """Twice the reply costs at most two and a half times the CPU, up to a megabyte."""

    def work(size: int) -> Callable[[], object]:
        text = HOSTILE[shape](size)

        def one() -> None:
            with suppress(UnreadableReply):
                if mode == "rubric":
                    parse_rubric(text, NAMES, nonce=NONCE)
                else:
                    read(mode, text)

        return one

    assert_linear(work, 500_000)
