"""What an endpoint's own words mean: quotas, filters, schemas it does not take."""

import json
from typing import Any

import pytest

from adjudge.chat import BadRequest, ChatClient, ChatError, MalformedReply, QuotaExceeded, RateLimited
from adjudge.chat._faults import read_reply
from adjudge.chat._key import Key
from adjudge.chat._openai import OpenAIShape, read_completion
from adjudge.http import Again, HttpReply
from adjudge.model import ChatReply
from adjudge.testing import ChatServer, correct
from chat.asking import VERDICT_SCHEMA, ask, question

BODY = {"response_format": {}, "max_tokens": 9, "temperature": 0.0}


def said(status: int, body: Any) -> ChatReply | Again:
    """Read a reply with that status and body."""
    data = body if isinstance(body, str) else json.dumps(body)
    return read_reply(HttpReply(status, {}, data.encode()), read_completion, Key(None, "NO_SUCH_VARIABLE"))


def error_of(message: str, **more: Any) -> dict[str, Any]:
    """Return an error in the usual shape."""
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, error_of("You exceeded your current quota.", type="insufficient_quota")),
        (429, error_of("INSUFFICIENT_QUOTA")),
        (429, error_of("Please check your plan.", type="exceeded_current_quota_error")),
        (429, error_of("Your account is not active.", code="billing_not_active")),
        (429, error_of("Insufficient Balance")),
        (403, error_of("You have run out of credits.")),
        (400, error_of("Your credit balance is too low to access the API.")),
        (402, "no money"),
    ],
)
def test_an_account_that_is_spent(status: int, body: Any) -> None:
    """Whatever words say that the account has run out, it is fatal and not asked again."""
    with pytest.raises(QuotaExceeded):
        said(status, body)


def test_too_many_calls_are_no_spent_account() -> None:
    """A quota of calls a minute passes."""
    again = said(429, error_of("Quota exceeded for requests per minute, retry in 5 s."))
    assert isinstance(again, Again)
    assert isinstance(again.error, RateLimited)


@pytest.mark.parametrize(
    "body",
    [
        error_of("The response was filtered due to the content management policy.", code="content_filter"),
        error_of("Your request was rejected by the safety system.", code="content_policy_violation"),
    ],
)
def test_a_filter_that_answers_400(body: Any) -> None:
    """A prompt that the endpoint's filter rejects is withheld like a reply that it filters: it is no fault."""
    reply = said(400, body)
    assert isinstance(reply, ChatReply)
    assert (reply.text, reply.finish_reason) == (None, "content_filter")


def test_an_error_with_status_200_is_told() -> None:
    """An endpoint that reports an error as if all were well is quoted."""
    again = said(200, error_of("upstream is gone", code=502))
    assert isinstance(again, Again)
    assert isinstance(again.error, MalformedReply)
    assert "upstream is gone" in again.error.message


@pytest.mark.parametrize(
    "detail",
    [
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}]",
        "The provided JSON schema contains features not supported by xgrammar.",
        'response_format type must be one of "text" or "json_object", but got: json_schema',
        "Structured output is not supported for this model",
        "Invalid parameter: structured outputs are not supported",
        "JSON mode is not supported for model X",
        "This model does not support response format",
        "Guided decoding is not supported by this backend",
    ],
)
def test_a_schema_that_is_not_taken(detail: str) -> None:
    """The usual ways to reject a schema are understood."""
    assert OpenAIShape().rejected(detail, BODY) == "response_format"


@pytest.mark.parametrize(
    "detail",
    [
        "This model's maximum context length is 4096 tokens: 4000 in the messages, 1024 in max_tokens.",
        "'max_tokens' or 'max_completion_tokens' is too large: 1024. The maximum context length is 1000 tokens.",
    ],
)
def test_one_prompt_that_is_too_long(detail: str) -> None:
    """A prompt that does not fit is that prompt's matter: nothing is left out of all later questions."""
    assert OpenAIShape().rejected(detail, BODY) is None


def test_a_long_explanation_is_read_to_its_end() -> None:
    """What is rejected may stand far behind in the explanation, which is cut where it is shown."""
    with pytest.raises(BadRequest) as caught:
        said(400, error_of("x" * 2_000 + " response_format is not supported"))
    assert len(caught.value.message) < 400
    assert OpenAIShape().rejected(caught.value.detail, BODY) == "response_format"


def test_no_schema_in_words_for_whoever_wants_none() -> None:
    """With `in_words=False` an endpoint that takes no schema is an error with a code, after one call."""
    with ChatServer(correct, rejects=["response_format"]) as server:
        with pytest.raises(ChatError) as caught:
            ask(server, question(schema=VERDICT_SCHEMA), kind=ChatClient, in_words=False)
        assert (caught.value.code, server.counts.calls) == ("schema-unsupported", 1)
