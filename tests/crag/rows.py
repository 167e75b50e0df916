"""Result rows for tests: conversations written as letters, and rows with the worst text that there is.

X exact, C correct, M miss, H wrong (a hallucination), U no verdict, E an error.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from adjudge.conversations import Labels
from adjudge.crag._turns import result_row, turn_row

LABELS = {
    "X": Labels(is_exact_match=True, is_correct=True, is_semantically_correct=True),
    "C": Labels(is_correct=True, is_semantically_correct=True),
    "M": Labels(is_miss=True),
    "H": Labels(),
    "U": Labels(status="unscored"),
    "E": Labels(status="error"),
}

CONVERSATIONS = st.lists(st.text(alphabet="XCMHUE", min_size=1, max_size=9), max_size=12)


def rows_of(conversations: Iterable[str], *, ego: Sequence[bool] = (), **fields: Any) -> list[dict[str, Any]]:
    """Return result rows, in order; `ego` says which conversations are, `fields` go into every turn."""
    rows: list[dict[str, Any]] = []
    for number, letters in enumerate(conversations):
        for turn_idx, letter in enumerate(letters):
            turn = {
                "session_id": f"s{number:04}",
                "interaction_id": f"s{number:04}-{turn_idx}",
                "turn_idx": turn_idx,
                "is_ego": number < len(ego) and ego[number],
                "query": "What color is this car?",
                "ground_truth": "red",
                "agent_response": letter,
                "total_turn_count": len(letters),
                **fields,
            }
            rows.append(result_row(turn_row(turn), LABELS[letter]))
    return rows


def brute_force(conversations: Iterable[str]) -> dict[str, float]:
    """Return the eleven metrics by their definitions, without regard to time."""
    known = list(conversations)
    scored = [letter for letters in known for letter in letters if letter in "XCMH"]
    total = len(scored)

    def share(letters: str) -> Fraction:
        return Fraction(sum(letter in letters for letter in scored), total) if total else Fraction(0)

    means = [mean for mean in map(brute_force_score, known) if mean is not None]
    return {
        "total": float(total),
        "correct_exact": float(scored.count("X")),
        "correct": float(scored.count("X") + scored.count("C")),
        "miss": float(scored.count("M")),
        "hallucination": float(scored.count("H")),
        "exact_match": float(share("X")),
        "accuracy": float(share("XC")),
        "missing": float(share("M")),
        "hallucination_rate": float(share("H")),
        "truthfulness_score": float(share("XC") - share("H")),
        "mean_multi_turn_conversation_score": float(sum(means, Fraction(0)) / len(means)) if means else 0.0,
    }


def brute_force_score(letters: str) -> Fraction | None:
    """Return one conversation's score: a turn is missed if, before it, any two neighbours are both not correct."""
    turns = [letter for letter in letters if letter in "XCMH"]
    points = 0
    for index, letter in enumerate(turns):
        given_up = any(turns[place] in "MH" and turns[place + 1] in "MH" for place in range(index - 1))
        points += 0 if given_up else (letter in "XC") - (letter == "H")
    return Fraction(points, len(turns)) if turns else None


def _joined(text: str) -> str:
    """Join halves that make a character: JSON cannot tell the two of them from the one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


NASTY = st.one_of(
    st.text(alphabet=st.characters()),  # half characters too
    st.text(alphabet="=+-@'\"\t\r\n,;\0\ud800\udfffa1. ＝", max_size=8),
    st.sampled_from(["-40", "+1e5", "=1+1", "'=1", "''@x", 'json:"', 'json:"\\u0000"', "True", "null", "[]", "\ufeff"]),
).map(_joined)
CATEGORY = st.none() | st.integers(-5, 2**70) | NASTY
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NASTY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NASTY, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def nasty_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw result rows, in order, of sessions and turns that are all different."""
    places = draw(st.lists(st.tuples(NASTY, st.integers(0, 2**31 - 1)), max_size=6, unique=True))
    rows: list[dict[str, Any]] = []
    for session_id, turn_idx in sorted(places):
        turn = {
            "session_id": session_id,
            "interaction_id": draw(NASTY),
            "turn_idx": turn_idx,
            "is_ego": draw(st.booleans()),
            **{name: draw(CATEGORY) for name in ("image_quality", "query_category", "domain", "dynamism")},
            **{name: draw(NASTY) for name in ("query", "ground_truth", "agent_response")},
            "total_turn_count": draw(st.integers(0, 2**31 - 1)),
            "interaction_id_history": draw(st.lists(NASTY, max_size=3)),
        }
        reply = draw(st.none() | st.dictionaries(NASTY, JSON, max_size=3))
        rows.append(result_row(turn_row(turn), LABELS[draw(st.sampled_from("XCMHUE"))], reply))
    return rows
