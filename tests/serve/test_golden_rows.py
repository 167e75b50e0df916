"""The golden rows of the trainers, asked of the server in each of its shapes: the same row is the same number."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from serve.serving import Client, serving
from trainers import golden

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Serve all scorers of the table."""
    words = [word for scorer in golden.SCORERS for word in ("--scorer", scorer)]
    with serving(tmp_path_factory.mktemp("golden"), *words) as found:
        yield found


def as_rows(client: Client, scorer: str, rows: Rows) -> list[Any]:
    """Ask `/score`."""
    asked = [
        {"question": row["prompt"], "answer": row["answer"], "final_response": row["response"], "trajectory": []}
        for row in rows
    ]
    return [one["value"] for one in client.scores(asked, scorer)]


def as_openrlhf(client: Client, scorer: str, rows: Rows) -> list[Any]:
    """Ask as OpenRLHF does; it gets 0.0 for a row without a number, and a flag."""
    prompts = [f"<|im_start|>user\n{row['prompt']}<|im_end|>\n<|im_start|>assistant\n" for row in rows]
    body = {
        "query": [f"{prompt}{row['response']}<|im_end|>" for prompt, row in zip(prompts, rows, strict=True)],
        "prompts": prompts,
        "labels": [row["answer"] for row in rows],
    }
    reply = client.ask("POST", f"/get_reward?scorer={scorer}&client=golden", body).json
    scored = reply["extra_logs"]["scored"]
    assert all(value == 0.0 for value, flag in zip(reply["rewards"], scored, strict=True) if not flag)
    return [value if flag else None for value, flag in zip(reply["rewards"], scored, strict=True)]


def as_slime(client: Client, scorer: str, rows: Rows) -> list[Any]:
    """Ask as slime does, row by row."""
    found = []
    for row in rows:
        sample = {"prompt": row["prompt"], "response": row["response"], "label": row["answer"]}
        reply = client.ask("POST", f"/slime?scorer={scorer}", sample).json
        found.append(None if reply["remove_sample"] else reply["reward"])
    return found


def as_nemo(client: Client, scorer: str, rows: Rows) -> list[Any]:
    """Ask as NeMo Gym does, row by row."""
    found = []
    for row in rows:
        said = {"type": "message", "role": "assistant", "content": row["response"]}
        body = {
            "responses_create_params": {"input": row["prompt"]},
            "response": {"output": [said]},
            "answer": row["answer"],
        }
        reply = client.ask("POST", f"/verify?scorer={scorer}", body).json
        found.append(None if "_ng_failure_class" in reply else reply["reward"])
    return found


@pytest.mark.parametrize("scorer", golden.SCORERS)
@pytest.mark.parametrize("ask", [as_rows, as_openrlhf, as_slime, as_nemo])
def test_golden_rows(client: Client, ask: Callable[[Client, str, Rows], list[Any]], scorer: str) -> None:
    """Rows have the numbers that they have everywhere, whoever asks."""
    golden.check(scorer, ask(client, scorer, golden.rows(scorer)))
