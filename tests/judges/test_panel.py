"""PanelJudge: the majority's verdict, or none."""

import asyncio
import json
from collections.abc import Mapping
from hashlib import sha256

import pytest

from adjudge.errors import UsageError
from adjudge.judges import CascadeJudge, LLMJudge, LocalJudge, PanelJudge, RubricJudge
from adjudge.model import Ask, ChatModel, ChatReply, ChatRequest, Judge, Judgement, asking
from judges.models import CORRECT, QUESTION, WRONG, Fatal, Passing, Said, Scripted

SAID: dict[str, Said] = {
    "C": CORRECT,
    "W": WRONG,
    "U": ChatReply(None, refusal="No."),
    "E": Passing("the server answered 500"),
}


def panel(votes: str, quorum: int = 0) -> PanelJudge:
    """Return a panel of models that say what the letters stand for."""
    judges = [LLMJudge(chat=Scripted(SAID[vote], f"judge{n}")) for n, vote in enumerate(votes)]
    return PanelJudge(judges, quorum)


@pytest.mark.parametrize(
    ("votes", "status", "verdict", "agreement", "reason"),
    [
        ("CC", "scored", "CORRECT", 1.0, "2 of 2 say CORRECT"),
        ("CW", "unscored", None, None, "tie: 1 say CORRECT, 1 say WRONG"),
        ("CCW", "scored", "CORRECT", 2 / 3, "2 of 3 say CORRECT; judge2 says WRONG"),
        ("WWC", "scored", "WRONG", 2 / 3, "2 of 3 say WRONG; judge2 says CORRECT"),
        ("CCU", "scored", "CORRECT", 1.0, "2 of 3 say CORRECT; judge2 says unscored"),
        ("CWU", "unscored", None, None, "tie: 1 say CORRECT, 1 say WRONG"),
        (
            "CUU",
            "unscored",
            None,
            None,
            "no-quorum: 1 of 3 judges gave a verdict, 2 must; judge1: refusal: No.; judge2: refusal: No.",
        ),
        ("CEU", "unscored", None, None, None),
        ("CEE", "error", None, None, None),
        ("EE", "error", None, None, None),
        ("UU", "unscored", None, None, None),
        ("WWWCC", "scored", "WRONG", 0.6, None),
    ],
)
def test_the_majority_decides(
    votes: str, status: str, verdict: str | None, agreement: float | None, reason: str | None
) -> None:
    """More than half of the verdicts decide; a tie, or too few verdicts, decide nothing."""
    judgement = panel(votes).judge(*QUESTION, "It is Paris.")
    assert (judgement.status, judgement.verdict, judgement.calls) == (status, verdict, len(votes))
    assert judgement.scores.get("agreement") == agreement
    assert reason in (None, judgement.reason)
    assert [one["judge"] for one in json.loads(str(judgement.raw))] == [f"judge{n}" for n in range(len(votes))]


def test_the_quorum_can_be_chosen() -> None:
    """One verdict may be enough, and all may be demanded."""
    assert panel("CUU", quorum=1).judge(*QUESTION, "Paris!").verdict == "CORRECT"
    assert panel("CCU", quorum=3).judge(*QUESTION, "Paris!").verdict is None


def test_order_does_not_matter() -> None:
    """The same votes give the same verdict in any order."""
    verdicts = {panel(votes).judge(*QUESTION, "Paris!").verdict for votes in ("CCWU", "UWCC", "CUCW", "WCUC")}
    assert verdicts == {"CORRECT"}


def test_a_fatal_error_stops_the_panel() -> None:
    """A member's fatal error is raised, and the other members' calls are cancelled."""
    cancelled: list[str] = []

    class Slow(Scripted):
        async def complete(self, request: ChatRequest) -> ChatReply:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(self.name)
                raise
            return ChatReply(CORRECT)

    members = [LLMJudge(chat=Slow("", "slow")), LLMJudge(chat=Scripted(Fatal("401")))]
    with pytest.raises(Fatal):
        PanelJudge(members).judge(*QUESTION, "Paris!")
    assert cancelled == ["slow"]


def test_a_panel_is_a_judge() -> None:
    """It has the shape of its members, their names and their versions."""
    judge = panel("CW")
    assert isinstance(judge, Judge)
    assert judge.name == "panel:judge0,judge1"
    assert judge.version == "evaluation/verdict/v1+evaluation/verdict/v1"


def test_two_endpoints_with_one_model_are_told_apart() -> None:
    """Members may ask two endpoints for models of one name, by themselves and where somebody else has them asked."""
    one, two = Scripted(CORRECT, "m"), Scripted(WRONG, "m")
    judge = PanelJudge([LLMJudge("m", chat=one), LLMJudge("m", chat=two), LLMJudge("m", chat=two)])
    assert judge.judge(*QUESTION, "It is Paris.").verdict == "WRONG"
    asked: list[ChatModel] = []

    def way(chats: Mapping[str, ChatModel]) -> Ask:
        asked.extend(chats.values())
        return chats["m"].complete

    token = asking.set(way)
    try:
        assert judge.judge(*QUESTION, "It is Paris.").reason == "2 of 3 say WRONG; m says CORRECT"
    finally:
        asking.reset(token)
    assert asked == [one, two, two]


@pytest.mark.parametrize(
    ("members", "quorum"),
    [
        ([], 0),
        ([LocalJudge()], 0),
        ([LocalJudge(), RubricJudge("m")], 0),
        ([LocalJudge()] * 2, 3),
        ([LocalJudge()] * 2, -1),
    ],
)
def test_a_panel_that_cannot_vote_is_refused(members: list[Judge], quorum: int) -> None:
    """A panel has at least two judges for verdicts, and a quorum that they can reach."""
    with pytest.raises(UsageError):
        PanelJudge(members, quorum)


@pytest.mark.parametrize(("members", "quorum"), [(2, 2), (3, 2), (4, 3), (5, 3), (6, 4), (7, 4)])
def test_more_than_half_are_a_quorum(members: int, quorum: int) -> None:
    """Unless it is chosen, the quorum is the least number that is more than half; members are kept as they were."""
    judges = [LocalJudge(tier=0)] * members
    found = PanelJudge(judges)
    judges.clear()
    assert (found.quorum, len(found.members)) == (quorum, members)


def judged(status: str, verdict: str | None = None, prompt: str | None = None, name: str = "m") -> Judgement:
    """Return what a member says."""
    return Judgement(status, verdict, judge=name, prompt_hash=prompt, reason="why", raw="text", calls=1)  # type: ignore[arg-type]


def test_what_members_said_is_kept() -> None:
    """The panel's judgement has its own name, all calls, and of every member what it said, as JSON."""
    found = panel("CCC").combine([judged("scored", "CORRECT", name="a"), judged("scored", "CORRECT"), judged("error")])
    assert (found.judge, found.calls, found.reason) == (
        "panel:judge0,judge1,judge2",
        3,
        "2 of 3 say CORRECT; m says error",
    )
    first, _, last = json.loads(str(found.raw))
    assert first == {"judge": "a", "status": "scored", "verdict": "CORRECT", "reason": "why", "raw": "text"}
    assert last == {"judge": "m", "status": "error", "verdict": None, "reason": "why", "raw": "text"}


def test_only_scored_verdicts_are_votes() -> None:
    """A verdict beside another status is no vote, nor is a score without a verdict."""
    two = [judged("scored", "CORRECT"), judged("scored", "CORRECT")]
    assert panel("CCC").combine([*two, judged("unscored", "WRONG")]).scores == {"agreement": 1.0}
    assert panel("CCC").combine([*two, judged("scored")]).scores == {"agreement": 1.0}


@pytest.mark.parametrize(
    ("prompts", "found"),
    [
        ((None, None), None),
        (("a", None), "a"),
        (("a", "a"), "a"),
        (("b", "a"), sha256(b"ab").hexdigest()),
        (("a", "b"), sha256(b"ab").hexdigest()),
    ],
)
def test_prompts_of_a_panel(prompts: tuple[str | None, str | None], found: str | None) -> None:
    """One prompt is that of the panel; several have a hash of their own, whoever was asked with which."""
    said = [judged("scored", "CORRECT", prompt) for prompt in prompts]
    assert panel("CC").combine(said).prompt_hash == found


def test_agreements_are_named_once() -> None:
    """What members know of their agreement with people is named once each, in their order."""
    local, other = LocalJudge(tier=0), LocalJudge(tier=0)
    other.agreement = "another figure"
    assert PanelJudge([local, other, local, LLMJudge("m")]).agreement == f"{local.agreement}; another figure"


def test_a_panel_asks_as_it_is_told() -> None:
    """Given a way to ask, every member's requests go that way."""

    async def way(request: ChatRequest) -> ChatReply:
        del request
        return ChatReply(WRONG)

    found = asyncio.run(panel("CC").ajudge(*QUESTION, "It is Paris.", ask=way))
    assert (found.verdict, found.reason) == ("WRONG", "2 of 2 say WRONG")


class Own:
    """A judge of somebody else's that asks its model in the way that it is told, and in no other."""

    name, version = "own", "1"

    def __init__(self, chats: Mapping[str, ChatModel]) -> None:
        self.chats = chats
        self.told: list[Ask | None] = []

    async def ajudge(self, question: str, reference: object, response: object, *, ask: Ask | None = None) -> Judgement:
        """Keep the way."""
        del question, reference, response
        self.told.append(ask)
        return judged("scored", "CORRECT")


def test_members_are_told_how_their_models_are_asked() -> None:
    """Where the context has models asked in its way, members with models are told it; those without any are not."""

    async def way(request: ChatRequest) -> ChatReply:
        raise AssertionError(request)

    given: list[Mapping[str, ChatModel]] = []

    def ways(chats: Mapping[str, ChatModel]) -> Ask:
        given.append(chats)
        return way

    chats = {"m": Scripted(CORRECT, "m")}
    asks, none, unsure = Own(chats), Own({}), Own(chats)
    token = asking.set(ways)
    try:
        PanelJudge([asks, none]).judge(*QUESTION, "It is Paris.")
        CascadeJudge(unsure, asks, threshold=0.9).judge(*QUESTION, "It is Paris.")
    finally:
        asking.reset(token)
    assert (asks.told, none.told, unsure.told) == ([way, way], [None], [way])
    assert given == [chats] * 3
    asks.told.clear()
    PanelJudge([asks, none]).judge(*QUESTION, "It is Paris.")
    assert asks.told == [None]


def test_no_member_is_left_behind() -> None:
    """When a fatal error reaches the caller, the other members have ended, within the caller's own loop."""
    ended: list[str] = []

    class Slow(Scripted):
        async def complete(self, request: ChatRequest) -> ChatReply:
            try:
                await asyncio.sleep(60)
            finally:
                for _ in range(9):
                    await asyncio.sleep(0)  # as a connection that is closed step by step
                ended.append(self.name)
            return ChatReply(CORRECT)

    async def ask() -> None:
        members = [LLMJudge(chat=Slow("", "slow")), LLMJudge(chat=Scripted(Fatal("401")))]
        with pytest.raises(Fatal):
            await PanelJudge(members).ajudge(*QUESTION, "Paris!")
        assert ended == ["slow"]

    asyncio.run(ask())
