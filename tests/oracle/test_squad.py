"""On ASCII text without yes/no answers the QA rewards are SQuAD's, as torchmetrics computes it."""

import random
import string

from torchmetrics.functional.text import squad

from adjudge.rewards import get_reward

ROWS = 10_000
CLOSED = {"yes", "no", "noanswer"}  # HotpotQA's rule, which SQuAD does not have


def texts(chance: random.Random) -> str:
    """Make a text that stresses normalisation: colliding words, articles, punctuation, odd white space, controls."""
    kind = chance.random()
    if kind < 0.2:
        return "".join(chance.choice([chr(code) for code in range(128)]) for _ in range(chance.randrange(12)))
    words = ["a", "an", "the", "The", "A", "of", "b", "B", "c", "Paris", "paris", "x1", "10", "U.S.", "don't", "t-he"]
    joints = [" ", " ", " ", "  ", "\t", "\n", "-", ", ", ".", "\x0b", "\x1c", "\x00"]
    pieces: list[str] = []
    for _ in range(chance.randrange(0, 10)):
        pieces += [chance.choice(words), chance.choice(joints)]
    return "".join(pieces) + chance.choice(["", ".", "!", string.punctuation])


def test_identical_to_torchmetrics_on_generated_rows() -> None:
    """F1 and exact match equal torchmetrics' functional SQuAD on 10,000 generated ASCII rows."""
    chance = random.Random(20261115)  # noqa: S311 (test data)
    f1 = get_reward("qa_f1_reward")
    compared = 0
    while compared < ROWS:
        response, answers = texts(chance), [texts(chance) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
        if any(
            " ".join(text.lower().split()).strip(string.punctuation + " ") in CLOSED for text in [response, *answers]
        ):
            continue
        theirs = squad(
            {"prediction_text": response, "id": "1"},
            {"answers": {"answer_start": [0] * len(answers), "text": answers}, "id": "1"},
        )
        ours = f1.score({"final_response": response, "answer": answers})
        assert ours.value is not None
        assert abs(100 * ours.value - theirs["f1"].item()) < 1e-4, (response, answers)
        assert 100 * (ours.parts["em"] or 0.0) == theirs["exact_match"].item(), (response, answers)
        compared += 1
