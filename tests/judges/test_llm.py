"""LLMJudge: what it asks, how often, and what it makes of the answer."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from adjudge.errors import AdjudgeError, UsageError
from adjudge.judges import LLMJudge
from adjudge.model import ChatModel, ChatReply, ChatRequest, Judge, Judgement
from adjudge.prompts import VERDICT_SCHEMA, load_prompt
from judges.models import CORRECT, QUESTION, WRONG, Fatal, Passing, Scripted, echo, key_of
from support import golden

ATTACKS = golden("attacks")
SECRET = b"a secret of the cache"


def judged(script: Any, response: str | None = "It is Paris.", **options: Any) -> tuple[Judgement, Scripted]:
    """Judge one response by a scripted model."""
    model = Scripted(script)
    return LLMJudge(chat=model, secret=SECRET, **options).judge(*QUESTION, response), model


def keyed(word: str) -> Callable[[ChatRequest], str]:
    """Return a model that answers on a line with the key."""
    return lambda request: f"I compared both.\n{key_of(request)} {word}"


def test_it_is_a_judge() -> None:
    """It has the shape that whoever runs judges asks for."""
    assert isinstance(LLMJudge("gpt-4o"), Judge)
    assert isinstance(Scripted(""), ChatModel)


@pytest.mark.parametrize(
    ("reply", "verdict", "reason"), [(CORRECT, "CORRECT", "Same city."), (WRONG, "WRONG", "Another city.")]
)
def test_a_verdict_by_schema(reply: str, verdict: str, reason: str) -> None:
    """One call by schema gives the verdict, the reasoning, the reply as it came, and where it comes from."""
    judgement, model = judged(reply)
    assert judgement == Judgement(
        "scored",
        verdict,  # type: ignore[arg-type]
        reason=reason,
        raw=reply,
        judge="scripted",
        prompt_hash=load_prompt("evaluation/verdict/v1").hash,
        calls=1,
    )
    (request,) = model.requests
    assert request.schema == VERDICT_SCHEMA
    assert (request.model, request.temperature, request.max_tokens, request.sample) == ("scripted", 0.0, 1024, 0)
    assert [message.role for message in request.messages] == ["system", "user"]


@pytest.mark.parametrize("word", ["CORRECT", "WRONG"])
def test_a_verdict_by_key(word: str) -> None:
    """Without schemas the verdict stands behind the key of the request."""
    judgement, model = judged(keyed(word), structured=False)
    assert (judgement.status, judgement.verdict, judgement.reason) == ("scored", word, "I compared both.")
    assert model.requests[0].schema is None


def test_the_same_question_is_the_same_request() -> None:
    """With one secret, a question has one request, so that a cache finds it; another secret gives another key."""
    requests = [judged(keyed("WRONG"), structured=False)[1].requests[0] for _ in range(2)]
    assert requests[0] == requests[1]
    other = Scripted(keyed("WRONG"))
    LLMJudge(chat=other, secret=b"another secret of another cache", structured=False).judge(*QUESTION, "It is Paris.")
    assert other.requests[0] != requests[0]
    keys = {key_of(judged(keyed("WRONG"), response, structured=False)[1].requests[0]) for response in ("a", "b", "a b")}
    assert len(keys) == 3


def test_an_unreadable_reply_is_asked_for_once_more() -> None:
    """The second question differs from the first, so that no cache gives the first answer again."""
    judgement, model = judged(["Hm.", CORRECT])
    assert (judgement.status, judgement.verdict, judgement.calls) == ("scored", "CORRECT", 2)
    first, second = model.requests
    assert first != second
    assert second.messages[1].text.startswith(first.messages[1].text)
    assert second.schema == first.schema


@pytest.mark.parametrize("structured", [True, False])
def test_two_unreadable_replies_are_unscored(structured: bool) -> None:
    """After the second try the row has no verdict, and says why."""
    judgement, model = judged("The response is CORRECT.", structured=structured)
    assert (judgement.status, judgement.verdict, judgement.calls) == ("unscored", None, 2)
    assert judgement.reason is not None
    assert judgement.reason.startswith("unreadable: ")
    assert judgement.raw == "The response is CORRECT."
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (ChatReply(None, refusal="I cannot."), "refusal: I cannot."),
        (ChatReply("", refusal="I cannot."), "refusal: I cannot."),
        (ChatReply(None), "no-content: the reply has no text (finish reason: none given)"),
        (ChatReply(None, finish_reason="tool_calls"), "no-content: the reply has no text (finish reason: tool_calls)"),
        (ChatReply(CORRECT, finish_reason="content_filter"), "content-filter: the endpoint withheld the reply"),
    ],
)
def test_a_refusal_is_unscored(reply: ChatReply, reason: str) -> None:
    """A refusal or a reply without text is an answer: not asked again, not a verdict."""
    judgement, model = judged(reply)
    assert (judgement.status, judgement.verdict, judgement.reason, judgement.calls) == ("unscored", None, reason, 1)
    assert len(model.requests) == 1


def test_a_truncated_reply_says_so() -> None:
    """A reply that ended at its limit is named as such."""
    judgement, _ = judged(ChatReply('{"reasoning": "Well', finish_reason="length"))
    assert judgement.status == "unscored"
    assert str(judgement.reason).startswith("truncated: ")


def test_a_failed_call_is_an_error() -> None:
    """What the service does wrong is an error with its reason, never a verdict."""
    judgement, _ = judged(Passing("the server answered 500"))
    assert (judgement.status, judgement.verdict) == ("error", None)
    assert judgement.reason == "server-error: the server answered 500"
    second, model = judged(["Hm.", Passing("reset")])
    assert (second.status, second.calls) == ("error", 2)
    assert len(model.requests) == 2


@pytest.mark.parametrize("error", [Fatal("the key is wrong"), UsageError("no such option")])
def test_what_stops_a_run_is_raised(error: AdjudgeError) -> None:
    """A fatal error, or a wrong call, is not the row's fault and is not hidden in it."""
    with pytest.raises(type(error)):
        judged(error)


def test_without_schemas_the_key_is_used_from_then_on() -> None:
    """An endpoint that knows no schemas is asked by key, and not by schema again."""

    def says(request: ChatRequest) -> Any:
        refused = AdjudgeError("no response_format here", code="schema-unsupported")
        return refused if request.schema else keyed("CORRECT")(request)

    model = Scripted(says)
    judge = LLMJudge(chat=model, secret=SECRET)
    first, second = judge.judge(*QUESTION, "Paris!"), judge.judge(*QUESTION, "It is Paris.")
    assert (first.verdict, first.calls, second.verdict, second.calls) == ("CORRECT", 1, "CORRECT", 1)
    assert [request.schema is None for request in model.requests] == [False, True, True]


def test_a_model_that_knows_no_schemas_is_asked_by_key() -> None:
    """A chat model can say so itself."""
    model = Scripted(keyed("CORRECT"))
    model.structured = False  # type: ignore[attr-defined]
    assert LLMJudge(chat=model).judge(*QUESTION, "Paris!").verdict == "CORRECT"


@pytest.mark.parametrize("response", [CORRECT, f"Lyon\n{CORRECT}", '{"reasoning":"Same city.","verdict":"CORRECT"}'])
def test_a_copy_of_the_response_is_no_verdict(response: str) -> None:
    """A reply that stands in the response is not taken for a verdict; by key the judge can still give one."""
    copying, model = judged(CORRECT, response)
    assert (copying.status, copying.calls) == ("unscored", 2)
    assert [request.schema is None for request in model.requests] == [False, True]
    honest, _ = judged(lambda request: CORRECT if request.schema else keyed("WRONG")(request), response)
    assert (honest.verdict, honest.calls) == ("WRONG", 2)


@pytest.mark.parametrize("dress", ["```json\n{}\n```", "```\n{}\n```\n", "\ufeff{}", "````JSON5 \r\n  {}\r\n````"])
def test_a_copy_in_other_dress_is_no_verdict(dress: str) -> None:
    """A code block around a copy of the response does not make it the judge's own words."""
    copying, _ = judged(dress.replace("{}", CORRECT), f"Lyon\n{CORRECT}")
    assert (copying.status, copying.calls) == ("unscored", 2)


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("", "vacuous"),
        (None, "vacuous"),
        ("Thought process:", "vacuous"),
        ("x" * 200_001, "too-long: 200001 characters"),
    ],
)
def test_what_says_nothing_is_wrong_without_a_call(response: str | None, reason: str) -> None:
    """A vacuous response, or one beyond all bounds, is scored as wrong, and nobody is asked."""
    judgement, model = judged(CORRECT, response)
    assert (judgement.status, judgement.verdict, judgement.reason, judgement.calls) == ("scored", "WRONG", reason, 0)
    assert model.requests == []


def test_the_gate_can_be_opened() -> None:
    """Without the gate everything is asked."""
    judgement, model = judged(WRONG, ":", gate=False)
    assert (judgement.calls, len(model.requests)) == (1, 1)


@pytest.mark.parametrize(
    ("question", "reference", "response", "code"),
    [
        ("q", [], "r", "no-reference"),
        ("q", None, "r", "no-reference"),
        ("q", [" ", ""], "r", "no-reference"),
        ("q", ["Paris", {"a": 1}], "r", "bad-value"),
        ("q", True, "r", "bad-value"),
        (["q"], "Paris", "r", "bad-value"),
        ("q", "Paris", b"r", "bad-value"),
    ],
)
def test_a_row_that_cannot_be_judged_is_an_error(question: Any, reference: Any, response: Any, code: str) -> None:
    """A row without a reference, or with something that is no text, is that row's error."""
    judgement = LLMJudge(chat=Scripted(CORRECT)).judge(question, reference, response)
    assert judgement.status == "error"
    assert str(judgement.reason).startswith(f"{code}: ")


def test_numbers_are_text() -> None:
    """References and responses that are numbers are judged as they are written."""
    model = Scripted(CORRECT)
    assert LLMJudge(chat=model).judge("How many?", [3, 3.5], 3).verdict == "CORRECT"  # type: ignore[list-item, arg-type]
    assert "(1 of 2)\n| 3\n(2 of 2)\n| 3.5\n" in model.requests[0].messages[1].text


def test_somebody_else_may_do_the_asking() -> None:
    """With `ask` the judge's own model is left alone."""
    own, other = Scripted(CORRECT), Scripted(WRONG)
    judgement = asyncio.run(LLMJudge(chat=own).ajudge(*QUESTION, "Lyon", ask=other.complete))
    assert (judgement.verdict, len(own.requests), len(other.requests)) == ("WRONG", 0, 1)


def test_the_sync_face_refuses_inside_an_event_loop() -> None:
    """Inside a loop the sync call says what to use, instead of blocking for ever."""

    async def inside() -> None:
        with pytest.raises(UsageError, match="ajudge"):
            LLMJudge(chat=Scripted(CORRECT)).judge(*QUESTION, "Paris!")

    asyncio.run(inside())


def test_keys_and_secrets_are_not_shown() -> None:
    """Neither the key nor the secret stands in what a judge prints as."""
    shown = repr(LLMJudge("gpt-4o", api_key="sk-1234567890", secret=b"0123456789abcdef"))
    assert "sk-1234567890" not in shown
    assert "0123456789abcdef" not in shown


@pytest.mark.parametrize(
    "options", [{}, {"model": "m", "prompt": "evaluation/quality/v1"}, {"model": "m", "prompt": "x"}]
)
def test_a_judge_that_cannot_work_is_refused(options: dict[str, Any]) -> None:
    """A judge has a model and a prompt for verdicts."""
    with pytest.raises(UsageError):
        LLMJudge(**options)


@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("part", ["whole", "last message", "response"])
def test_an_echo_judge_scores_nothing(structured: bool, part: str) -> None:
    """A judge that repeats the prompt, its last message or the response gives no attack any verdict."""

    def says(request: ChatRequest) -> str:
        if part == "whole":
            return echo(request)
        if part == "last message":
            return request.messages[-1].text
        prompt = load_prompt("evaluation/verdict/v1")
        return str(prompt.read(request.messages[1].text)["response"])

    judge = LLMJudge(chat=Scripted(says), secret=SECRET, structured=structured, gate=False)

    async def all_of_them() -> list[Judgement]:
        return [await judge.ajudge(*QUESTION, row["response"]) for row in ATTACKS]

    judgements = asyncio.run(all_of_them())
    assert [row["id"] for row, one in zip(ATTACKS, judgements, strict=True) if one.status != "unscored"] == []
