"""Short answers against references, as SQuAD and HotpotQA compare them.

    qa_f1_reward("Paris is the capital", "Paris")
    {"reward": .5, "f1": .5, "em": 0, "precision": 1/3, "recall": 1}

With P and G the token bags of the response and of a reference (see `adjudge.text.tokens`) and |P ∩ G| the size of
their intersection with multiplicity: precision = |P ∩ G| / |P|, recall = |P ∩ G| / |G|,
f1 = 2 |P ∩ G| / (|P| + |G|), em = 1 if the token sequences are equal. Two empty sides are equal.
What a response has between `<think>` and `</think>` is not a part of it.
Where one side is just yes, no or noanswer and the other is not the same, everything is 0 (HotpotQA).
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from adjudge.errors import ArgumentError, DataError
from adjudge.model import Provenance, Score
from adjudge.rewards._tag import Batch, Row, by_row, mark_finished, reward
from adjudge.rewards.tools import enough_tools, ladder, ladder_result
from adjudge.text import tokens
from adjudge.text.values import pairs_of, spoken, text_of

Match: TypeAlias = tuple[float, float, float, float]
"""f1, em, precision, recall; of two matches the one with the greater f1, then em, is the better."""

PARTS = ("f1", "em", "precision", "recall")

_NOTHING: Match = (0.0, 0.0, 0.0, 0.0)
_EVERYTHING: Match = (1.0, 1.0, 1.0, 1.0)
_CLOSED = frozenset({"yes", "no", "noanswer"})
_SHORT = 256  # characters of an accepted answer whose tokens are remembered
_FEW = 8  # up to so many reference words, counting each in the response is cheaper than two bags


def _batch_of(which: int) -> Batch:
    """Make the batch path whose value is that number of the match."""

    def batch(rows: Sequence[Row], provenance: Provenance) -> list[Score]:
        scores: list[Score] = []
        for row in rows:
            response = row["final_response"]
            answer = row["answer"]
            try:
                # Nearly every row has two texts, which need no conversion.
                if type(response) is str and type(answer) is str:
                    found = compare(tokens(spoken(response) if "<" in response else response), _gold(answer))
                else:
                    found = match(response, answer)
            except DataError as error:
                scores.append(Score.error(error.reason, parts=dict.fromkeys(PARTS), provenance=provenance))
                continue
            f1, em, precision, recall = found
            parts: dict[str, float | None] = {"f1": f1, "em": em, "precision": precision, "recall": recall}
            scores.append(Score(found[which], "scored", None, parts, None, None, provenance))
        return scores

    return mark_finished(batch)


def _tool_score(row: Row, provenance: Provenance) -> Score:
    found = match(row["final_response"], row["answer"])
    used = enough_tools(row["trajectory"], row.get("min_tool_calls", 1), row.get("ignore_tools", ()))
    value, reason = ladder(used=used, correct=_is_correct(found, row.get("f1_threshold")))
    parts = dict(zip(PARTS, found, strict=True))
    if used is None:
        return Score.unscored("tool-use-unknown", parts=parts, provenance=provenance)
    return Score.scored(value, reason=reason, parts=parts, provenance=provenance)


@reward(version="3", parts=PARTS, range=(0.0, 1.0), batch=_batch_of(0))
def qa_f1_reward(final_response: str | None, answer: Any, trajectory: Any = None) -> dict[str, float]:  # noqa: ARG001 (the seed's signature)
    """Token F1 of the response against the best of the accepted answers.

    >>> qa_f1_reward("New York City", "York New")["precision"]
    0.6666666666666666
    """
    return _as_dict(match(final_response, answer))


@reward(version="3", binary=True, parts=PARTS, range=(0.0, 1.0), batch=_batch_of(1))
def qa_em_reward(final_response: str | None, answer: Any, trajectory: Any = None) -> dict[str, float]:  # noqa: ARG001 (as its sisters)
    """1 if the response is one of the accepted answers after normalisation, else 0.

    >>> qa_em_reward("The U.S.A.", "USA")["reward"]
    1.0
    """
    found = match(final_response, answer)
    return _as_dict(found, found[1])


@reward(version="3", parts=PARTS, range=(0.0, 1.0), batch=by_row(_tool_score, PARTS))
def qa_f1_reward_tool(
    final_response: str | None,
    answer: Any,
    trajectory: Any,
    *,
    min_tool_calls: int = 1,
    ignore_tools: Sequence[str] = (),
    f1_threshold: float | None = None,
) -> dict[str, Any]:
    """0 without a tool, 0.1 with a tool and a wrong answer, 1 with a tool and a correct one.

    Correct means em = 1, or f1 >= `f1_threshold` where that is given. A tool counts when its result is in the
    record; `ignore_tools` names those that do not count, such as the one that hands in the answer. f1, em,
    precision and recall are those of the answer, tool or not.

    >>> qa_f1_reward_tool("Paris", "Paris", [{"role": "tool", "content": "Paris"}])["reward"]
    1.0
    >>> qa_f1_reward_tool("Paris", "Paris", [])["reward"]
    0.0
    """
    found = match(final_response, answer)
    used = enough_tools(trajectory, min_tool_calls, ignore_tools)
    parts = dict(zip(PARTS, found, strict=True))
    return ladder_result(used, parts, correct=_is_correct(found, f1_threshold))


def match(final_response: object, answer: object) -> Match:
    """Return f1, em, precision and recall against the reference that fits best, the first of equals."""
    response = spoken(text_of(final_response, "final_response"))
    if isinstance(answer, str):
        return compare(tokens(response), _gold(answer))
    pairs, best = pairs_of(response, answer), _NOTHING
    # There are at most two texts, whose words are found once, and counted once where there are many references.
    read = {said: tokens(said) for said in dict(pairs)}
    bags = {said: Counter(words) for said, words in read.items()} if len(pairs) > _FEW else {}
    for said, gold in pairs:
        found = compare(read[said], _gold(gold), bags.get(said))
        if found[:2] > best[:2]:
            best = found
    return best


def _gold(answer: str) -> list[str]:
    """Return the tokens of an accepted answer; the rollouts of one prompt share it, so short ones are remembered."""
    return _remembered(answer) if len(answer) <= _SHORT else tokens(answer)


_remembered = lru_cache(maxsize=4096)(tokens)


def compare(predicted: list[str], gold: list[str], bag: Counter[str] | None = None) -> Match:
    """Return f1, em, precision and recall of two lists of tokens; `bag` are the counts of the first, if known.

    >>> compare(["a", "b", "b", "c"], ["b", "b", "d"])[0] == 4 / 7
    True
    """
    if predicted == gold:
        return _EVERYTHING
    if bag is not None:
        common = sum(min(count, bag[word]) for word, count in Counter(gold).items())
    elif len(gold) <= _FEW:
        common = 0
        for word in gold:
            if word in predicted:
                common += 1
        # A word that the reference has twice counts twice only if the response has it twice.
        if common > 1 and len(set(gold)) < len(gold):
            common = sum(min(gold.count(word), predicted.count(word)) for word in set(gold))
    else:
        common = (Counter(predicted) & Counter(gold)).total()
    if common == 0:
        return _NOTHING
    # Only a side of one word can be just yes, no or noanswer.
    if (len(predicted) == 1 and predicted[0] in _CLOSED) or (len(gold) == 1 and gold[0] in _CLOSED):
        return _NOTHING
    return (2 * common / (len(predicted) + len(gold)), 0.0, common / len(predicted), common / len(gold))


def _as_dict(found: Match, value: float | None = None) -> dict[str, float]:
    f1, em, precision, recall = found
    reward = f1 if value is None else value
    return {"reward": reward, "f1": f1, "em": em, "precision": precision, "recall": recall}


def _is_correct(found: Match, threshold: object) -> bool:
    if threshold is None:
        return found[1] == 1.0
    if isinstance(threshold, int | float) and 0.0 < threshold <= 1.0:
        return found[0] >= threshold
    raise ArgumentError(f"f1_threshold must lie in (0, 1], got {threshold!r}", code="bad-option")
