"""Several judges, one verdict: that of the majority, together with who disagreed."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from adjudge.calling import run_sync
from adjudge.errors import UsageError
from adjudge.judges._chat_judge import way_of
from adjudge.judges._rubric import GivesScores
from adjudge.model import Judge, Judgement, gathering

if TYPE_CHECKING:
    from adjudge.model import Ask


class Ensemble(ABC):
    """A judge that asks other judges."""

    kind: ClassVar[str]
    members: Sequence[Judge]

    @property
    def name(self) -> str:
        """Its kind and the names of its members."""
        return f"{self.kind}:{','.join(member.name for member in self.members)}"

    @property
    def agreement(self) -> str | None:
        """How far its members claim to agree with people; None where none does."""
        claims = dict.fromkeys(found for member in self.members if (found := getattr(member, "agreement", None)))
        return "; ".join(claims) or None

    def judge(self, question: str, reference: str | Sequence[str], response: str | None) -> Judgement:
        """Judge one response; inside an event loop use `ajudge`."""
        return run_sync(self.ajudge(question, reference, response), self.name, instead="ajudge")

    @abstractmethod
    async def ajudge(
        self, question: str, reference: str | Sequence[str], response: str | None, *, ask: Ask | None = None
    ) -> Judgement:
        """Judge one response; `ask` answers every member's requests."""


@dataclass(eq=False)
class PanelJudge(Ensemble):
    """Asks its members all at once and takes the verdict of more than half of those that gave one.

    A tie is unscored, and so is a row on which fewer than `quorum` members (by default more than half of them) reached
    a verdict; it is an error where all the others failed with errors. `scores["agreement"]` is the share of the
    verdicts that agree with the panel's, `reason` names who differed, `raw` holds every member's judgement as JSON.

    >>> from adjudge.judges import LocalJudge
    >>> panel = PanelJudge([LocalJudge(), LocalJudge(), LocalJudge()])
    >>> panel.judge("What is the capital of France?", "Paris", "It is Paris.").reason
    '3 of 3 say CORRECT'
    """

    members: Sequence[Judge]
    quorum: int = 0
    kind: ClassVar[str] = "panel"
    parts: ClassVar[tuple[str, ...]] = ("agreement",)

    def __post_init__(self) -> None:
        """Check the members and the quorum."""
        self.members = tuple(self.members)
        if len(self.members) < 2 or any(isinstance(member, GivesScores) for member in self.members):
            raise UsageError("a panel needs at least two judges, all of them for verdicts")
        self.quorum = self.quorum or len(self.members) // 2 + 1
        if not 1 <= self.quorum <= len(self.members):
            raise UsageError(f"the quorum of {len(self.members)} judges must be between 1 and {len(self.members)}")

    @property
    def version(self) -> str:
        """The versions of its members."""
        return "+".join(member.version for member in self.members)

    async def ajudge(
        self, question: str, reference: str | Sequence[str], response: str | None, *, ask: Ask | None = None
    ) -> Judgement:
        """Judge one response; `ask` answers every member's requests.

        Without it every member asks its own models: two members may ask two endpoints for models of one name.
        """
        import asyncio

        tasks = [
            asyncio.ensure_future(ask_member(member, question, reference, response, ask)) for member in self.members
        ]
        try:
            judgements = await asyncio.gather(*tasks)
        finally:
            # If one member raises a fatal error, or the row is cancelled, nobody needs the other answers.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return self.combine(judgements)

    def combine(self, judgements: Sequence[Judgement]) -> Judgement:
        """Return the panel's judgement, given its members', in their order."""
        votes = [judgement.verdict for judgement in judgements if judgement.status == "scored" and judgement.verdict]
        right = votes.count("CORRECT")
        wrong = len(votes) - right
        hashes = sorted({judgement.prompt_hash for judgement in judgements if judgement.prompt_hash})
        members = ("judge", "status", "verdict", "reason", "raw")
        common: dict[str, Any] = {
            "raw": json.dumps([{name: getattr(judgement, name) for name in members} for judgement in judgements]),
            "judge": self.name,
            "prompt_hash": hashes[0] if hashes else None,
            "calls": sum(judgement.calls for judgement in judgements),
        }
        # Members with different prompts: the hash stands for all of them.
        if len(hashes) > 1:
            common["prompt_hash"] = sha256("".join(hashes).encode()).hexdigest()
        if len(votes) < self.quorum:
            missing = [judgement for judgement in judgements if not judgement.verdict]
            why = "; ".join(f"{judgement.judge}: {judgement.reason}" for judgement in missing)
            only_errors = all(judgement.status == "error" for judgement in missing)
            reason = f"no-quorum: {len(votes)} of {len(judgements)} judges gave a verdict, {self.quorum} must; {why}"
            return Judgement("error" if only_errors else "unscored", reason=reason, **common)
        # Half and half is not a majority.
        if right == wrong:
            return Judgement("unscored", reason=f"tie: {right} say CORRECT, {wrong} say WRONG", **common)
        verdict: Literal["CORRECT", "WRONG"] = "CORRECT" if right > wrong else "WRONG"
        others = [
            f"{judgement.judge} says {judgement.verdict or judgement.status}"
            for judgement in judgements
            if judgement.verdict != verdict
        ]
        majority = max(right, wrong)
        reason = "; ".join([f"{majority} of {len(judgements)} say {verdict}", *others])
        return Judgement("scored", verdict, scores={"agreement": majority / len(votes)}, reason=reason, **common)


async def ask_member(
    member: Judge, question: str, reference: str | Sequence[str], response: str | None, ask: Ask | None
) -> Judgement:
    """Ask one judge of several, together with other rows where it takes many at once and the context gathers them."""
    gather = gathering.get()
    if gather is None or not hasattr(member, "ajudge_many"):
        return await member.ajudge(question, reference, response, ask=ask or way_of(member))
    row = {"question": question, "reference": reference, "response": response}
    return (await gather(member, [row]))[0]
