"""What of a query of OpenRLHF is the response."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import RowError, UsageError
from adjudge.integrations.openrlhf import make_reward_func, response_of

ASKED = "<|im_start|>user\nCapital of France?<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("query", "prompt", "response"),
    [
        (f"{ASKED}Paris<|im_end|>", ASKED, "Paris"),
        (f"<s> {ASKED}Paris</s>", ASKED, "Paris"),
        ("Capital?", "Capital?", ""),
        ("2+2? <think>4</think> 4<eos>", "2+2?", "<think>4</think> 4"),
        ("Paris", "", "Paris"),
        ("<s>s Paris", "s", "Paris"),
        ("Capital? Paris", " Capital?\n", "Paris"),
        ("<｜begin▁of▁sentence｜>Capital?Paris<｜end▁of▁sentence｜>", "Capital?", "Paris"),
    ],
    ids=["chat", "begin-token", "nothing", "tags-stay", "no-prompt", "in-a-token", "white-space", "deepseek"],
)
def test_the_response_follows_the_prompt(query: str, prompt: str, response: str) -> None:
    """Special tokens around it go."""
    assert response_of(query, prompt) == response


@pytest.mark.parametrize("query", ["ital of France? Paris", f"ital of France?<|im_end|>\n{ASKED}Paris"])
def test_a_prompt_is_not_searched_for(query: str) -> None:
    """Where the query does not begin with its prompt, the response is not known."""
    with pytest.raises(RowError, match="does not begin with its prompt"):
        response_of(query, ASKED)


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_response_is_found_after_any_prompt(prompt: str, response: str) -> None:
    """Whatever the texts are, the response is the end of the query."""
    found = response_of(prompt + response, prompt)
    assert found in response or not response.strip()


@given(st.text(alphabet="<|s>/ab \n", max_size=60))
def test_it_always_ends(query: str) -> None:
    """Any text has a response, or none that is known."""
    with suppress(RowError):
        assert response_of(query, "a") in query


def test_a_mask_is_refused() -> None:
    """OpenRLHF has none."""
    with pytest.raises(UsageError, match="cannot mask"):
        make_reward_func("qa_f1_reward", on_fault="mask")
