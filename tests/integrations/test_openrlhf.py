"""What of a query of OpenRLHF is the response."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import UsageError
from adjudge.integrations.openrlhf import make_reward_func, response_of

ASKED = "<|im_start|>user\nCapital of France?<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("query", "prompt", "response"),
    [
        (f"{ASKED}Paris<|im_end|>", ASKED, "Paris"),
        (f"<s> {ASKED}Paris</s>", ASKED, "Paris"),
        ("Capital?", "Capital?", ""),
        ("2+2? <think>4</think> 4<eos>", "2+2?", "<think>4</think> 4"),
        ("ital of France? Paris", "Capital of France?", None),
        (f"ital of France?<|im_end|>\n{ASKED}Paris", ASKED, None),
        ("Paris", "", "Paris"),
    ],
    ids=["chat", "begin-token", "nothing", "tags-stay", "cut-off", "copied", "no-prompt"],
)
def test_the_response_follows_the_prompt(query: str, prompt: str, response: str | None) -> None:
    """Special tokens around it go; a prompt that is not where the query begins is not searched for."""
    assert response_of(query, prompt) == response


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_response_is_found_after_any_prompt(prompt: str, response: str) -> None:
    """Whatever the texts are, the response is the end of the query."""
    found = response_of(prompt + response, prompt)
    assert found is not None
    assert found in response or not response.strip()


@given(st.text(alphabet="<|s>/ab \n", max_size=60))
def test_it_always_ends(query: str) -> None:
    """Any text has an answer."""
    assert response_of(query, "a") is None or "a" in query


def test_a_mask_is_refused() -> None:
    """OpenRLHF has none."""
    with pytest.raises(UsageError, match="cannot mask"):
        make_reward_func("qa_f1_reward", on_fault="mask")
