"""A missing optional package says which install brings it."""

import sys
from pathlib import Path

import pytest

from adjudge.agents import get_agent
from adjudge.errors import MissingExtra
from adjudge.judges import LLMJudge, get_judge
from adjudge.runs._sessions import judge_file


def test_litellm_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model named litellm:MODEL names the extra where its package is missing, before anything is written."""
    monkeypatch.setitem(sys.modules, "litellm", None)
    install = r"pip install 'adjudge\[litellm\]'"
    for make in (get_judge, get_agent):
        with pytest.raises(MissingExtra, match=install):
            make("litellm:openai/gpt-4o")
    with pytest.raises(MissingExtra, match=install):
        get_judge("panel:local,litellm:openai/gpt-4o")
    with pytest.raises(MissingExtra, match=install):
        LLMJudge("openai/gpt-4o", api="litellm").judge("1 + 1?", "2", "It is 2.")
    with pytest.raises(MissingExtra, match=install):
        judge_file(str(tmp_path / "rows.jsonl"), "litellm:openai/gpt-4o", run=str(tmp_path / "a.run"))
    assert list(tmp_path.iterdir()) == []
