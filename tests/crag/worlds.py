"""Data sets, agents and judges for the tests of the CRAG-MM evaluation."""

import re
from collections.abc import Sequence
from typing import Any

from adjudge.testing import ChatCall, verdict

COLORS = ("red", "blue", "green", "grey", "white")


def conversation(number: int, turns: int, *, columns: bool = False, image: Any = None) -> dict[str, Any]:
    """Return one row of a data set; every third conversation has an image from elsewhere."""
    session = f"s{number:03}"
    asked = [
        {
            "interaction_id": f"{session}-{turn}",
            "query": f"What color is thing {number}.{turn}?",
            "domain": number % 3,
            "query_category": turn % 2,
            "dynamism": 0,
            "image_quality": 1,
        }
        for turn in range(turns)
    ]
    answers = [
        {"interaction_id": one["interaction_id"], "ans_full": COLORS[(number + turn) % len(COLORS)]}
        for turn, one in enumerate(asked)
    ]
    return {
        "session_id": session,
        "image": image,
        "image_url": f"https://images.example/{number}.png" if number % 3 == 0 else None,
        "turns": _columns(asked) if columns else asked,
        "answers": _columns(answers) if columns else answers,
    }


def _columns(records: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [record[name] for record in records] for name in records[0]}


def dataset(count: int, *, columns: bool = False, longest: int = 4) -> list[dict[str, Any]]:
    """Return conversations of one to `longest` turns."""
    return [{**conversation(number, number % longest + 1, columns=columns), "image": PNG} for number in range(count)]


# One grey dot.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c63680000008200815f0672c30000000049454e44ae426082"
)


def answer_to(query: str) -> str:
    """Answer as a middling agent does: exactly, in words, wrongly, or not at all, by what is asked."""
    number, turn = map(int, re.findall(r"(\d+)\.(\d+)", query)[0])
    truth = COLORS[(number + turn) % len(COLORS)]
    kind = (3 * number + turn) % 5
    if kind == 0:
        return truth.upper()
    if kind == 1:
        return f"I think it is {truth}."
    if kind == 2:
        return "I don’t  know."
    return f"It looks {truth} to me, with a hint of it." if kind == 3 else "It is certainly purple."


class Batches:
    """An agent that answers batches, and remembers what it was given."""

    def __init__(self, size: int = 4) -> None:
        self.size = size
        self.seen: list[list[str]] = []
        self.images: list[Any] = []
        self.histories: list[list[dict[str, Any]]] = []

    def get_batch_size(self) -> int:
        """Return how many it likes."""
        return self.size

    def batch_generate_response(
        self, queries: list[str], images: list[Any], message_histories: list[list[dict[str, Any]]]
    ) -> list[str]:
        """Answer."""
        self.seen.append(queries)
        self.images += images
        self.histories += message_histories
        return [answer_to(query) for query in queries]


def by_color(call: ChatCall) -> str:
    """Judge as somebody would who can see: a purple answer is wrong, any other right."""
    return verdict(call, "WRONG" if "purple" in call.prompt else "CORRECT")
