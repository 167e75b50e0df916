"""The gate before the judge: what says nothing is wrong, what may be an answer gets through."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges import is_vacuous
from support import assert_linear, golden

VACUOUS = [
    *(
        "",
        " \n\t",
        ".",
        ":",
        ",",
        "…",
        "---",
        "?!",
        "\u200b\u200b",
        "\x00",
        "“”",
        "()",
        "**",
        "```\n```",
        "# ",
        "_",
        "\ufeff",
        "^",
        "´",
        "\u0301\u0301",
    ),
    *("Thought process:", "thought process", "Solution", "SOLUTION:", "Final Answer:", "The answer is:", "**Answer:**"),
    *("Let's solve this problem step by step.", "Let’s think step by step", "Okay, let me think about this carefully."),
    *(
        "Sure! Let's solve this step by step.\n\nSolution:",
        "First, we need to solve the problem.",
        "Step 1:",
        "Step-by-step:",
    ),
    *(
        "Let me analyze the question.",
        "I will now work through this problem",
        "We can approach this question logically.",
    ),
    *(
        "<think></think><answer></answer>",
        "\\boxed{}",
        "#### ",
        "$$\\boxed{}$$",
        "Here is the solution:",
        "Answer:\n\nAnswer:",
    ),
    *(
        "解",
        "解：",
        "答案：",
        "かいせつ",
        "解説:",
        "풀이",
        "정답:",
        "Respuesta",
        "Solución:",
        "Réponse :",
        "Lösung:",
        "Antwort:",
    ),
    *(
        "Ответ:",
        "Решение.",
        "Давайте решим это шаг за шагом.",
        "Resposta:",
        "Soluzione",
        "الحل:",
        "उत्तर:",
        "Çözüm:",
        "Lời giải:",
    ),
    *(
        "Vamos a resolver esto paso a paso.",
        "让我们一步一步思考。",
        "Résolvons ce problème étape par étape.",
        "Oplossing:",
        "Λύση",
    ),
    *(
        "ＳＯＬＵＴＩＯＮ",
        "So\u200blution",
        "Let's solve this.\r\nLet's solve this.\r\n",
        "THOUGHT PROCESS：",
        "- Solution\n- Answer",
    ),
]
ANSWERS = [
    *(
        "Paris",
        "42",
        "0",
        "A",
        "a",
        "yes",
        "No.",
        "-1",
        "x",
        "π",
        "é",
        "東京",
        "水",
        "👍",
        "+",
        "∅",
        "≤",
        "€5",
        "I",
        "we",
    ),
    *(
        "Solution: 42",
        "The answer is Paris",
        "Thought process: it is Paris",
        "Let's go to Paris",
        "Step 2",
        "Solutions 3",
    ),
    *(
        "Sure.",
        "Okay",
        "Of course!",
        "Certainly",
        "None",
        "N/A",
        "I don't know",
        "Unknown",
        "True",
        "null",
        "Not possible",
    ),
    *(
        "La Solution finale",
        "Answer me!",
        "The Thinker",
        "Dissolution",
        "Let's solve this: x = 3",
        "解放",
        "Antwort: ja",
    ),
    *(
        "Let me think about Hegel.",
        "We can solve it by induction.",
        "Final Fantasy",
        "Step by Step (a sitcom)",
        "\\boxed{7}",
    ),
]


@pytest.mark.parametrize("response", VACUOUS)
def test_what_says_nothing(response: str) -> None:
    """Nothing, punctuation, and words that only announce an answer, in many languages, say nothing."""
    assert is_vacuous(response)
    assert is_vacuous(response, ["Paris", "42"])


@pytest.mark.parametrize("response", ANSWERS)
def test_what_may_be_an_answer(response: str) -> None:
    """Whatever could answer some question gets through."""
    assert not is_vacuous(response)


@pytest.mark.parametrize(
    ("response", "references"),
    [
        ("Solution", ["solution"]),
        ("The solution.", ["A solution", "Solution"]),
        (".", ["."]),
        ("…", ["…", "ellipsis"]),
        ("Thought process:", ["Thought Process"]),
        ("解", ["解"]),
        ("—", ["-"]),
        ("Step by step", ["STEP BY STEP"]),
    ],
)
def test_a_response_that_gives_a_reference_says_something(response: str, references: list[str]) -> None:
    """Where an opener is the accepted answer, it is one."""
    assert is_vacuous(response)
    assert not is_vacuous(response, references)


@pytest.mark.parametrize(
    ("response", "reference", "says_nothing"),
    [
        ("Answer: right", "the right side", False),
        ("Answer: first", "1st", False),
        (">", "greater than", False),
        ("[]", "an empty list", False),
        ("[]", "Paris", False),
        ("Let me see. Yes.", "yes", False),
        ("Solution", "a solution of salt", False),
        ("Let me work through this carefully, one step at a time.", "42", True),
        ("To begin, restate what is asked.", "42", True),
        ("Let me find the solution.", "a hypertonic solution", True),
        ("Die Antwort lautet:", "die Zugspitze", True),
    ],
)
def test_both_sides(response: str, reference: str, says_nothing: bool) -> None:
    """A short answer of the words of announcements gets through; an announcement does not, whatever words it shares."""
    assert is_vacuous(response, [reference]) is says_nothing


@given(st.text(st.characters()), st.lists(st.text(st.characters()), max_size=3))
def test_the_gate_never_raises(response: str, references: list[str]) -> None:
    """Every text either says something or not, and a reference never says nothing."""
    assert is_vacuous(response, references) in (True, False)
    if response.strip():
        assert not is_vacuous(response, [*references, response])


@given(st.lists(st.sampled_from([v for v in VACUOUS if v]), min_size=1, max_size=6))
def test_many_openers_say_nothing_either(parts: list[str]) -> None:
    """Openers on lines of their own say as little as one."""
    assert is_vacuous("\n".join(parts))


def test_nothing_is_never_a_reference() -> None:
    """An empty response is vacuous even where a reference is empty too."""
    assert is_vacuous("", [""])
    assert is_vacuous(None, [""])


@pytest.mark.parametrize(
    "piece",
    [
        *("Solution. ", ".", " ", "a", "- ", "Let's solve this step by step. ", "let us the ", "\u0300"),
        *("\n ", " \t\n\xa0", "1.\n", "\n1. ", ": ", "<a ", "<|", "\\text", "Answer: - ", "我们来", "lets go 1. "),
    ],
)
def test_the_gate_is_linear(piece: str) -> None:
    """Twice the response costs at most two and a half times the CPU."""

    def work(size: int) -> Callable[[], object]:
        text = piece * (size // len(piece))
        return lambda: is_vacuous(text)

    assert_linear(work, 200_000)


@pytest.mark.parametrize(("reference", "gives"), [(".", True), ("…", False), ("?!", False), ("", False)])
def test_signs_give_a_reference_of_the_same_signs(reference: str, gives: bool) -> None:
    """A response of signs alone gives a reference only where that is the same signs."""
    assert is_vacuous(".", [reference]) is not gives


@pytest.mark.parametrize(
    ("response", "says_nothing"),
    [
        ("Solution" + " " * 192, True),
        ("Solution" + " " * 193, False),
        ("-" * 201, True),
        ("Solution.\n" + "\u200b" * 300 + "\n", True),
        ("x" * 201, False),
        ("Answer: " + "let us solve this " * 12, False),
        ("👍" * 201, False),
    ],
)
def test_no_opener_is_long(response: str, says_nothing: bool) -> None:
    """More than 200 characters without a break say something, unless not one of them does."""
    assert is_vacuous(response) is says_nothing


@pytest.mark.parametrize(("label", "most"), [("vacuous", 24), ("answer", 6)])
def test_rows_of_others(label: str, most: int) -> None:
    """Of rows that people wrote who had not seen the gate, it is wrong about few; those kept apart are marked so."""
    rows = [row for row in golden("gate") if row["label"] == label]
    wrong = [row for row in rows if is_vacuous(row["response"], [row["reference"]]) is not (label == "vacuous")]
    assert len(wrong) <= most, [row["response"] for row in wrong]
    apart = [row for row in rows if row["apart"]]
    assert len([row for row in wrong if row["apart"]]) <= len(apart) // 150
