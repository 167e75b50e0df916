"""What OpenRLHF, slime and NeMo Gym send, and what they get: the shapes of their own clients and servers."""

from collections.abc import Iterator
from typing import Any

import pytest

from serve.serving import Client, serving

QUESTION = "Capital of France?"
CHAT = f"<|im_start|>user\n{QUESTION}<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Serve two rewards."""
    folder = tmp_path_factory.mktemp("shapes")
    with serving(folder, "--scorer", "qa_em_reward", "--scorer", "qa_f1_reward") as found:
        yield found


OPENRLHF = {
    "the response follows the prompt": ("Q: ", "Q: Paris", 1.0),
    "special tokens after it": (CHAT, f"{CHAT}Paris<|im_end|>\n<|endoftext|>", 1.0),
    "a token before the prompt": (QUESTION, f"<s> {QUESTION} Paris</s>", 1.0),
    "DeepSeek's": (QUESTION, f"<｜begin▁of▁sentence｜>{QUESTION}Paris<｜end▁of▁sentence｜>", 1.0),
    "a prompt that comes again in the response": ("Paris", "Paris Lyon Paris", 0.0),
    "an empty response": (CHAT, f"{CHAT}<|im_end|>", 0.0),
    "a prompt that was cut": (CHAT, "user\nCapital of France? Paris", None),
    "no text": (CHAT, 7, None),
}


@pytest.mark.parametrize(("prompt", "query", "value"), OPENRLHF.values(), ids=OPENRLHF)
def test_openrlhf(client: Client, prompt: str, query: Any, value: float | None) -> None:
    """The response is the query without its prompt and special tokens; where that is not known there is no number."""
    good = f"{CHAT}Paris"
    body = {"query": [query, good], "prompts": [prompt, CHAT], "labels": ["Paris", "Paris"]}
    reply = client.ask("POST", "/get_reward", body).json
    assert reply["rewards"] == reply["scores"] == [value or 0.0, 1.0]
    assert reply["extra_logs"] == {
        "scored": [float(value is not None), 1.0],
        "unscored": [0.0, 0.0],
        "error": [float(value is None), 0.0],
    }


@pytest.mark.parametrize("response", ["Paris", ""])
def test_openrlhf_without_labels(client: Client, response: str) -> None:
    """A training that names no label key sends "", which is not an accepted answer: else all would be 0, or 1."""
    body = {"query": [f"{CHAT}{response}"], "prompts": [CHAT], "labels": [""]}
    reply = client.ask("POST", "/get_reward", body).json
    assert reply["extra_logs"]["error"] == [1.0]


def test_openrlhf_has_empty_lists(client: Client) -> None:
    """Empty lists are answered with empty lists, and lists of several lengths are refused."""
    reply = client.ask("POST", "/get_reward", {"query": [], "prompts": [], "labels": []})
    assert reply.json["rewards"] == []
    assert client.ask("POST", "/get_reward", {"query": ["a"], "prompts": [], "labels": []}).status == 400


def test_openrlhf_is_stopped_where_too_many_rows_have_no_number(client: Client) -> None:
    """More than a tenth of the last 512 rollouts without a number: no rewards, so that nobody trains on zeros."""
    good = {"query": ["aParis"], "prompts": ["a"], "labels": ["Paris"]}
    bad = {"query": ["b"] * 60, "prompts": ["a"] * 60, "labels": ["Paris"] * 60}
    assert client.ask("POST", "/get_reward?scorer=qa_f1_reward", good).status == 200
    reply = client.ask("POST", "/get_reward?scorer=qa_f1_reward", bad)
    assert reply.status == 503
    assert "60 of the last 512 rollouts have no number (60 bad-row)" in reply.json["error"]
    assert client.ask("POST", "/get_reward", good).status == 200  # each scorer is counted alone


def test_the_faults_of_one_training_stop_no_other(client: Client) -> None:
    """A client that gives its name is counted alone, whoever else asks from the same address."""
    good = {"query": ["aParis"], "prompts": ["a"], "labels": ["Paris"]}
    bad = {"query": ["b"] * 60, "prompts": ["a"] * 60, "labels": ["Paris"] * 60}
    path = "/get_reward?scorer=qa_em_reward&client="
    assert client.ask("POST", f"{path}one", bad).status == 503
    assert client.ask("POST", f"{path}one", good).status == 503
    assert client.ask("POST", f"{path}two", good).status == 200
    assert client.ask("POST", "/get_reward?scorer=qa_em_reward", good).status == 200


def test_slime(client: Client) -> None:
    """A sample's reward; one without a number says that the sample is to be removed."""
    for prompt in (QUESTION, [{"role": "user", "content": QUESTION}]):
        sample = {"prompt": prompt, "response": "Paris", "label": "Paris"}
        wanted = {"reward": 1.0, "remove_sample": False, "status": "scored", "reason": None}
        assert client.ask("POST", "/slime", sample).json == wanted
        assert client.ask("POST", "/slime", {**sample, "response": "Paris<|im_end|>"}).json == wanted
    reply = client.ask("POST", "/slime", {"prompt": "", "response": "Paris", "label": {"a": 1}}).json
    assert (reply["reward"], reply["remove_sample"], reply["status"]) == (0.0, True, "error")
    assert client.ask("POST", "/slime", b"{broken").json["remove_sample"] is True


def nemo(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a request as NeMo Gym's agents send it."""
    return {
        "responses_create_params": {"input": [{"role": "user", "content": QUESTION}], "tools": []},
        "response": {"id": "r1", "object": "response", "output": list(output)},
        **fields,
    }


def said(text: str) -> dict[str, Any]:
    """Return a message as an item of a response."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]}


def test_nemo_gym(client: Client) -> None:
    """The request comes back with its reward, which is that of the last message of the agent."""
    call = {"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c1", "output": "Paris"}
    thought = {"type": "reasoning", "id": "t1", "summary": []}
    body = nemo(thought, call, result, said("Paris"), expected_answer="Paris", uuid="u")
    reply = client.ask("POST", "/verify", body).json
    assert reply == {**body, "reward": 1.0, "reason": None}
    assert client.ask("POST", "/verify", nemo(call, answer="Paris")).json["reward"] == 0.0
    assert client.ask("POST", "/verify", nemo(answer="Paris")).json["reward"] == 0.0


def test_nemo_gym_has_a_failure_class(client: Client) -> None:
    """A row without a number is of the class that NeMo Gym keeps out of its means and tries again."""
    reply = client.ask("POST", "/verify", nemo(said("Paris"), question="no answer")).json
    assert (reply["reward"], reply["_ng_failure_class"]) == (0.0, "judge_failed")
    assert reply["_ng_failure_judge_error"].startswith("missing-column: ")
    assert reply["question"] == "no answer"
