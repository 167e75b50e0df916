"""Typed rows go to JSON lines and come back equal; what is wrong is named."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import RowError
from adjudge.model import (
    Case,
    Conversation,
    Message,
    Outcome,
    Provenance,
    Score,
    Step,
    ToolCall,
    Trajectory,
    Turn,
    decode_json,
    from_json,
    to_json,
)

text = st.text(st.characters(), max_size=12)  # lone surrogates included
maybe_text = st.none() | text
number = st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | number | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
mapping = st.dictionaries(text, plain, max_size=3)
calls = st.builds(ToolCall, text, st.one_of(text, mapping), maybe_text, maybe_text, st.booleans(), st.booleans())
messages = st.builds(
    Message,
    text,
    st.none() | text | st.lists(mapping, max_size=2).map(tuple),
    st.lists(calls, max_size=2).map(tuple),
    maybe_text,
    maybe_text,
    mapping,
)
turns = st.builds(Turn, text, st.lists(text, max_size=2).map(tuple), maybe_text, maybe_text, mapping)
parts = st.dictionaries(text, st.none() | number, max_size=3)
scores = st.one_of(
    st.builds(Score.scored, number, reason=maybe_text, parts=parts, steps=st.none() | st.tuples(number, number)),
    st.builds(Score.error, st.text(min_size=1), parts=parts, provenance=st.builds(Provenance, text, text)),
)
values = st.one_of(
    messages,
    turns,
    scores,
    st.builds(Conversation, text, st.lists(turns, max_size=2).map(tuple), mapping),
    st.builds(Case, text, text, st.lists(messages, max_size=2).map(tuple), maybe_text, metadata=mapping),
    st.builds(
        Trajectory,
        st.lists(messages, max_size=2).map(tuple),
        st.none() | st.lists(calls, max_size=2).map(tuple),
        st.lists(text, max_size=2).map(tuple),
        maybe_text,
    ),
    st.builds(Step, text, st.none() | number, st.booleans(), mapping),
    st.builds(Outcome, st.none() | number, st.none() | st.booleans()),
)


@given(values)
def test_round_trip_is_lossless(value: Any) -> None:
    """Whatever goes out as a line comes back equal, as one line."""
    line = to_json(value)
    assert b"\n" not in line
    assert from_json(type(value), line) == value


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_json_does_not_have_are_refused(number: float) -> None:
    """NaN is refused with its place, because it would come back as something else."""
    with pytest.raises(RowError, match=r"\$\.metadata\.x"):
        to_json(Case("c", metadata={"x": number}))


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ('{"id": 3}', r"cases.jsonl, line 7: id: expected `str`, got `int`"),
        ('{"id": "c", "references": ["a", 1]}', r"references\[1\]: expected `str`"),
        ('{"question": "q"}', "required field `id`"),
        ('{"id": "c", "refrences": []}', "no field 'refrences'; did you mean 'references'"),
        ('{"id": "c"', "not JSON"),
        ("[]", "the row: expected `object`, got `array`"),
        ('{"id": "c", "metadata": {"x": NaN}}', "not JSON"),
        (b'{"id": "\xff"}', "not UTF-8 at byte 9"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_bad_rows_name_file_line_field_and_expectation(line: str | bytes, named: str) -> None:
    """The error says where, which field, and what was expected."""
    with pytest.raises(RowError, match=named):
        from_json(Case, line, source="cases.jsonl", line_number=7)


@pytest.mark.parametrize(
    "line",
    ['{"value": null}', '{"value": 1.0, "status": "error", "reason": "x"}', '{"value": null, "status": "error"}'],
)
def test_a_score_from_json_is_one_of_three_outcomes_too(line: str) -> None:
    """No file brings in a score that the constructor would refuse."""
    with pytest.raises(RowError, match="Score"):
        from_json(Score, line)
    assert from_json(Score, '{"value": 0.5}') == Score.scored(0.5)


def test_odd_but_legal_json_is_read() -> None:
    """Escapes of lone surrogates and long integers are JSON."""
    assert decode_json(r'["\ud800", 123456789012345678901234567890]') == ["\ud800", 123456789012345678901234567890]
