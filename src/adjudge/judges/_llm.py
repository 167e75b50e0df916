"""Verdicts from a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from adjudge.calling import run_sync
from adjudge.errors import DataError
from adjudge.judges._chat_judge import ChatJudge
from adjudge.judges._vacuous import is_vacuous
from adjudge.judges.columns import check_references, texts_of
from adjudge.model import Judgement
from adjudge.prompts import VERDICT_SCHEMA, Prompt, VerdictReading, parse_verdict
from adjudge.text.values import text_of

if TYPE_CHECKING:
    from adjudge.model import Ask

_WRONG = VerdictReading("WRONG")


@dataclass(eq=False)
class LLMJudge(ChatJudge):
    """Asks a chat model whether a response gives the answer that a reference gives: CORRECT or WRONG.

    A response that says nothing (`vacuous`) or is longer than `max_response` characters (`too-long`) is WRONG
    without a call. The reply must hold exactly one verdict; it is asked for twice at most.

    >>> judge = LLMJudge(model="gpt-4o")
    >>> judge.judge("What is the capital of France?", "Paris", "Let's solve this step by step.").reason
    'vacuous'
    """

    prompt: Prompt | str = field(default="evaluation/verdict/v1", kw_only=True)
    parts: ClassVar[tuple[str, ...]] = ()
    _slots = MappingProxyType({"question": False, "references": True, "response": False})

    def judge(self, question: str, reference: str | Sequence[str], response: str | None) -> Judgement:
        """Judge one response; inside an event loop use `ajudge`."""
        return run_sync(self.ajudge(question, reference, response), self.name, instead="ajudge")

    async def ajudge(
        self, question: str, reference: str | Sequence[str], response: str | None, *, ask: Ask | None = None
    ) -> Judgement:
        """Judge one response; `ask` answers the requests instead of the judge's own model."""
        try:
            references = check_references(texts_of(reference, "reference"))
            fields = {
                "question": text_of(question, "question"),
                "references": references,
                "response": text_of(response, "response"),
            }
        except DataError as error:
            return self._judgement("error", error.reason)
        text = str(fields["response"])
        # Neither of the two needs a model, and a model can be talked into accepting both.
        if self.gate and is_vacuous(text, references):
            return self._judgement("scored", "vacuous", found=_WRONG)
        if len(text) > self.max_response:
            return self._judgement("scored", f"too-long: {len(text)} characters", found=_WRONG)
        return await self._ask(fields, VERDICT_SCHEMA, parse_verdict, ask)
