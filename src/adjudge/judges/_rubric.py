"""Rubric scores from a language model: numbers between 0 and 1 by name, with the reasoning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from adjudge.calling import run_sync
from adjudge.errors import DataError
from adjudge.judges._chat_judge import ChatJudge
from adjudge.judges._vacuous import is_vacuous
from adjudge.judges.columns import texts_of
from adjudge.model import Judgement
from adjudge.prompts import Prompt, RubricReading, parse_rubric, rubric_schema
from adjudge.text.values import text_of

if TYPE_CHECKING:
    from adjudge.model import Ask

QUALITY = ("answer_quality", "factual_correctness", "completeness")
"""The three numbers of the quality prompt."""

_QUALITY_PROMPT = "evaluation/quality/v1"
_RUBRIC_PROMPT = "evaluation/rubric/v1"


class GivesScores:
    """A judge that gives the scores in `names`, and no verdict to vote with."""

    names: tuple[str, ...]

    @property
    def parts(self) -> tuple[str, ...] | None:
        """The numbers that it gives; None where every row has its own."""
        return self.names or None


@dataclass(eq=False)
class CriteriaAsker(ChatJudge, GivesScores, ABC):
    """A judge that is given criteria in place of references, and the sources that the response was made from.

    A response that says nothing scores 0 in everything, without a call, as does one that is too long.
    """

    _slots = MappingProxyType({"question": False, "criteria": True, "sources": True, "response": False})
    is_binary: ClassVar[bool] = False  # whether it asks for true or false, and not for numbers

    @abstractmethod
    def _names(self, fields: dict[str, str | Sequence[str]]) -> Sequence[str]:
        """Return the names of the scores to ask for; `fields`, which fill the prompt, may be changed."""

    def judge(
        self, question: str, reference: str | Sequence[str], response: str | None, *, sources: str | Sequence[str] = ()
    ) -> Judgement:
        """Score one response; `reference` are the criteria. Inside an event loop use `ajudge`."""
        return run_sync(self.ajudge(question, reference, response, sources=sources), self.name, instead="ajudge")

    async def ajudge(
        self,
        question: str,
        reference: str | Sequence[str],
        response: str | None,
        *,
        sources: str | Sequence[str] = (),
        ask: Ask | None = None,
    ) -> Judgement:
        """Score one response by the criteria and the sources; `ask` answers instead of the judge's own model."""
        try:
            text = text_of(response, "response")
            fields: dict[str, str | Sequence[str]] = {
                "question": text_of(question, "question"),
                "criteria": texts_of(reference, "reference"),
                "sources": texts_of(sources, "sources"),
                "response": text,
            }
            names = self._names(fields)
        except DataError as error:
            return self._judgement("error", error.reason)
        # The same rule as for verdicts: what says nothing is wrong, not unscored.
        nothing = RubricReading(dict.fromkeys(names, 0.0))
        if self.gate and is_vacuous(text):
            return self._judgement("scored", "vacuous", found=nothing)
        if len(text) > self.max_response:
            return self._judgement("scored", f"too-long: {len(text)} characters", found=nothing)
        schema = rubric_schema(names, binary=self.is_binary)
        return await self._ask(fields, schema, partial(parse_rubric, names=names, binary=self.is_binary), ask)


@dataclass(eq=False)
class RubricJudge(CriteriaAsker):
    """Asks a chat model for scores between 0 and 1; `Judgement.scores` has them all or none, `reason` the reasoning.

    Without `dimensions` they are answer_quality, factual_correctness and completeness, by the levels of the quality
    prompt. `dimensions` names others, each with its meaning. The criteria are those of a good response; there may be
    none.
    """

    _: KW_ONLY
    dimensions: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        """Choose the prompt by the dimensions."""
        if self.dimensions is None:
            self.names = QUALITY
            self.prompt: Prompt | str = self.prompt or _QUALITY_PROMPT
        else:
            self.names = tuple(self.dimensions)
            self.prompt = self.prompt or _RUBRIC_PROMPT
            self._slots = MappingProxyType({**self._slots, "dimensions": True})
        super().__post_init__()
        rubric_schema(self.names)  # refuses names that nobody can be asked for

    def _names(self, fields: dict[str, str | Sequence[str]]) -> Sequence[str]:
        if self.dimensions is not None:
            fields["dimensions"] = [f"{name}: {meaning}" for name, meaning in self.dimensions.items()]
        return self.names
