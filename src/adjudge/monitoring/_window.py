"""A window of observations as counts: outcomes, scores, lengths within groups, and what the texts have in common.

So is what others say: the judge of responses that are known to be wrong, a cheap second judge of rewarded ones.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from statistics import median_low as median
from typing import TYPE_CHECKING, Any, NamedTuple

from adjudge.errors import printable
from adjudge.judges import pair_canaries
from adjudge.judges.columns import QUESTIONS, REFERENCES, RESPONSES, one_value
from adjudge.monitoring._counts import PART, REASON, WindowCounts, fixed
from adjudge.monitoring._observe import (
    Observation,
    ResponseText,
    answer_key,
    is_copy,
    is_form_only,
    is_key,
    observe,
    opener,
    reference_key,
    refuses,
    text_key,
)

if TYPE_CHECKING:
    from adjudge.model import Score
    from adjudge.rewards import Scorer

BINS = 10
SHOWN = 160  # characters of a response in an example
MOST_ASKED = 16  # rows of a window
_CODE = re.compile(r"[a-z][a-z0-9-]{0,39}(?=:|$)")


class Scale:
    """The range of a scorer's values: what counts as high, and where a value lies in it."""

    def __init__(self, scorer: Scorer, high: float | None) -> None:
        self.low, self.top = scorer.range or (0.0, 1.0)
        self.high = (self.low + self.top) / 2 if high is None else high

    def is_high(self, observation: Observation) -> bool:
        """Return whether a row was rewarded: the middle of the range or more."""
        value = observation.score.value
        return value is not None and value >= self.high

    def place(self, value: float) -> float:
        """Return where in the range a value lies, from 0 to 1."""
        width = self.top - self.low
        return min(1.0, max(0.0, (value - self.low) / width)) if width > 0 else 0.0


def count_window(observations: Sequence[Observation], scale: Scale) -> WindowCounts:
    """Return what the observations amount to."""
    counts = WindowCounts()
    counts.sums["rows"] = len(observations)
    groups: dict[Hashable, list[Observation]] = defaultdict(list)
    for number, one in enumerate(observations):
        groups[number if one.group is None else one.group].append(one)
    counts.sums["groups"] = len(groups)
    _count_scores(counts, observations, scale)
    for members in groups.values():
        _count_group(counts, members, scale)
    _count_texts(counts, groups, scale)
    return counts.trim()


def show(one: Observation) -> str:
    """Return a row as it is shown in a warning: safe to print, and short."""
    score = one.score
    outcome = score.status if score.value is None else f"{score.value:.3g}"
    response = "" if one.text is None else one.text.response
    reason = "" if score.value is not None or score.reason is None else f" {printable(score.reason, SHOWN)}"
    return f"{outcome}:{reason} {printable(' '.join(response[: 4 * SHOWN].split()), SHOWN)}".rstrip()


def _count_scores(counts: WindowCounts, observations: Sequence[Observation], scale: Scale) -> None:
    """Add the outcomes, and how the values are distributed."""
    sums = counts.sums
    values: list[float] = []
    parts: dict[str, list[float]] = defaultdict(list)
    for one in observations:
        score = one.score
        if score.value is not None:
            values.append(score.value)
        else:
            sums[score.status] += 1
            code = _CODE.match(score.reason or "")
            sums[f"{REASON}{score.status}:{code[0] if code else 'other'}"] += 1
            counts.add_example("faults", one, show)
        for name, value in score.parts.items():
            if value is not None:
                parts[name].append(value)
    counts.add("scored", values)
    sums["high"] = sum(value >= scale.high for value in values)
    for bin_, count in Counter(min(BINS - 1, int(scale.place(value) * BINS)) for value in values).items():
        sums[f"value.{bin_}"] = count
    for name, given in parts.items():
        counts.add(f"{PART}{name}", given)


def _count_group(counts: WindowCounts, members: Sequence[Observation], scale: Scale) -> None:
    """Add how score and length go together among the rollouts of one prompt."""
    sums = counts.sums
    places = [scale.place(one.score.value) for one in members if one.score.value is not None]
    if places:
        # The mean of a group is one observation: its rollouts share their prompt.
        counts.add("means", [sum(places) / len(places)])
    # Of the length its logarithm, because one endless response must not decide. What is not half as long as its
    # siblings is short for another reason than style: it refused, or broke off.
    middle = median(one.length for one in members)
    pairs = [
        (math.log(one.length), scale.place(one.score.value))
        for one in members
        if one.score.value is not None and 2 * one.length >= middle > 0
    ]
    counts.add("lengths", [length for length, _ in pairs])
    if len(pairs) < 2:
        return
    mean_length = sum(length for length, _ in pairs) / len(pairs)
    mean_place = sum(place for _, place in pairs) / len(pairs)
    sums["within.free"] += len(pairs) - 1
    sums["within.lengths"] += fixed(sum((length - mean_length) ** 2 for length, _ in pairs))
    sums["within.values"] += fixed(sum((place - mean_place) ** 2 for _, place in pairs))
    sums["within.both"] += fixed(sum((length - mean_length) * (place - mean_place) for length, place in pairs))


def _count_texts(counts: WindowCounts, groups: Mapping[Hashable, Sequence[Observation]], scale: Scale) -> None:
    """Add what was seen in the texts that are looked at."""
    sums = counts.sums
    answers: list[GivenAnswer] = []
    openers: list[tuple[Hashable, Hashable]] = []
    for group, members in groups.items():
        rewarded = 0
        read = [(one, one.text) for one in members if one.text is not None]
        for one, text in read:
            openers.append((opener(text), group))
            counts.add_example("sudden-change", one, show)
            declines = refuses(text)
            sums["refusals"] += declines
            # Refusals are alike whatever was asked, and have a rule of their own.
            if not declines:
                right, near = reference_key(text) or group, text_key(text.response)
                answers.append(GivenAnswer(answer_key(text, near), near, right, group, one))
            if scale.is_high(one):
                rewarded += 1
                _count_rewarded(counts, one, text, declines=declines)
        sums["texts"] += len(read)
        sums["rewarded"] += rewarded
        sums["rewarded.groups"] += bool(rewarded)
    sums["openers"], sums["openers.equal"] = _count_pairs(openers)
    _count_answers(counts, answers)


def _count_rewarded(counts: WindowCounts, one: Observation, text: ResponseText, *, declines: bool) -> None:
    """Add what a rewarded response is that it should not be, the first that applies."""
    if declines:
        rule = "rewarded-refusal"
    elif is_form_only(text):
        rule = "format-only"
    elif is_key(text):
        rule = "master-key"
    elif is_copy(text):
        rule = "copied-question"
    else:
        counts.add_example("length", one, show)
        return
    counts.sums[rule] += 1
    counts.add_example(rule, one, show)


class GivenAnswer(NamedTuple):
    """What a response says and should have said, as keys that are equal where the texts are."""

    said: Hashable
    text: Hashable
    right: Hashable
    group: Hashable
    observation: Observation


def _count_answers(counts: WindowCounts, answers: Sequence[GivenAnswer]) -> None:
    """Add how often two responses to different prompts are equal, and how often though the right answers differ."""
    sums = counts.sums
    sums["near.pairs"], sums["near"] = _count_pairs((one.text, one.group) for one in answers)
    answers = [one for one in answers if one.said is not None]
    pairs, alike = _count_pairs((one.right, one.group) for one in answers)
    _, same = _count_pairs((one.said, one.group) for one in answers)
    _, both = _count_pairs(((one.said, one.right), one.group) for one in answers)
    sums["pairs"] = pairs
    sums["alike"] = alike
    sums["differ"] = pairs - alike
    sums["differ.same"] = same - both
    sums["answer.groups"] = len({one.group for one in answers})
    said, most = Counter(one.said for one in answers).most_common(1)[0] if answers else (None, 0)
    for one in answers if most > 2 else ():
        if one.said == said:
            counts.add_example("same-answer", one.observation, show)


def _count_pairs(items: Iterable[tuple[Hashable, Hashable]]) -> tuple[int, int]:
    """Return how many pairs of different groups there are, and in how many both have the same key."""
    listed = list(items)
    keys = Counter(key for key, _ in listed)
    groups = Counter(group for _, group in listed)
    total = _of_two([len(listed)]) - _of_two(groups.values())
    return total, _of_two(keys.values()) - _of_two(Counter(listed).values())


def _of_two(sizes: Iterable[int]) -> int:
    return sum(size * (size - 1) // 2 for size in sizes)


def make_canaries(rows: Sequence[Mapping[str, Any]], rate: float, seed: str) -> list[dict[str, Any]]:
    """Return for a share of the rows the same row with a response that is known to be wrong."""
    read = [
        {
            "id": f"{seed}:{number}",
            "question": one_value(row, QUESTIONS)[1],
            "reference": one_value(row, REFERENCES)[1],
        }
        for number, row in enumerate(rows)
    ]
    found = []
    for row, (_, canary) in zip(rows, pair_canaries(read, rate, 0), strict=True):
        names = [name for name in RESPONSES if name in row]
        if canary is not None and names:
            found.append({**row, **dict.fromkeys(names, canary["response"])})
    return found


def count_canaries(
    counts: WindowCounts, rows: Sequence[Mapping[str, Any]], scores: Sequence[Score], scale: Scale
) -> None:
    """Add how many canaries were scored, and how many of them were called right."""
    for row, score in zip(rows, scores, strict=True):
        if score.value is None:
            continue
        is_fooled = score.value >= scale.high
        counts.sums["canaries"] += 1
        counts.sums["canaries.right"] += is_fooled
        if is_fooled:
            counts.add_example("canary", observe(row, score, None, with_text=True), show)


def count_opinions(counts: WindowCounts, observations: Sequence[Observation], second: Scorer, scale: Scale) -> None:
    """Ask a second scorer about rewarded rows, one of each prompt, and add how often it says otherwise."""
    chosen: dict[object, Observation] = {}
    for number, one in enumerate(observations):
        if one.text is not None and scale.is_high(one) and len(chosen) < MOST_ASKED:
            chosen.setdefault(number if one.group is None else one.group, one)
    theirs = Scale(second, None)
    asked = [one.text.row() for one in chosen.values() if one.text is not None]
    for one, score in zip(chosen.values(), second.score_many(asked), strict=True):
        if score.value is None:
            continue
        is_against = score.value < theirs.high
        counts.sums["seconds"] += 1
        counts.sums["against"] += is_against
        if is_against:
            counts.add_example("disagreement", one, show)
