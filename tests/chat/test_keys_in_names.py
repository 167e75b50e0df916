"""A key in the name of a scorer or a judge, or in the address of its endpoint, is refused before a run file is made."""

from pathlib import Path
from typing import Any

import pytest

from adjudge import evaluate, get_scorer
from adjudge.errors import UsageError
from adjudge.judges import LLMJudge

SECRET = "sk-0123456789abcdef"  # noqa: S105 (not one)
ROWS = [{"id": "1", "question": "q", "reference": "a", "response": "a"}]
NAMED: list[dict[str, Any]] = [
    {"scorers": [f"openai:m(api_key='{SECRET}')"]},
    {"scorers": [f"quality:openai:m(api_key='{SECRET}')"]},
    {"judge": f"openai:m(api_key='{SECRET}')"},
    {"scorers": [f"openai:m(base_url='http://user:{SECRET}@127.0.0.1:9/v1')"]},
    {"scorers": [f"openai:m(base_url='http://127.0.0.1:9/v1?api_key={SECRET}')"]},
]


@pytest.mark.parametrize("named", NAMED)
def test_refused_before_anything_is_written(named: dict[str, Any], tmp_path: Path) -> None:
    """The error says what to do and does not show the key; there is no run file that could hold it."""
    with pytest.raises(UsageError) as caught:
        evaluate(ROWS, run=tmp_path / "a.run", **named)
    assert SECRET not in str(caught.value)
    assert "key" in str(caught.value) or "query" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_an_address_of_a_judge() -> None:
    """A judge with such an address cannot be made."""
    with pytest.raises(UsageError, match="base URL"):
        LLMJudge("m", base_url=f"http://user:{SECRET}@127.0.0.1:9/v1")


def test_a_key_as_an_argument() -> None:
    """In Python a key is an argument, and no name has it."""
    scorer = get_scorer("openai:m", api_key=SECRET)
    assert SECRET not in repr(scorer) + scorer.name
