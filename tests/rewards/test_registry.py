"""Rewards are found by name, by place, and in other people's packages; a wrong name names the closest."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge.errors import UnknownReward, UsageError
from adjudge.rewards import describe, get_reward, list_rewards, weighted

MODULE = '''
from adjudge.rewards import reward, weighted

@reward(version="3")
def brevity(final_response, most=10):
    """1 for a short response."""
    return float(len(final_response) <= most)

def plain(final_response):
    return 0.5

class Holder:
    inner = staticmethod(plain)

both = weighted({brevity: 0.5, plain: 0.5})
number = 7
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Install somebody else's package, with entry points, in a folder of its own."""
    name = "their_rewards"
    (tmp_path / f"{name}.py").write_text(MODULE)
    info = tmp_path / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[adjudge.rewards]\nbrevity = {name}:brevity\nbroken = {name}_missing:x\nqa_f1_reward = {name}:plain\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    sys.modules.pop(name, None)


def test_built_in_rewards_are_there() -> None:
    """Every built-in name gives a scorer of that name, with a version and declared parts."""
    for name, place in list_rewards().items():
        scorer = get_reward(name)
        assert scorer.name == name
        assert scorer.version
        assert scorer.parts is not None
        assert get_reward(place).name == name


def test_other_packages_rewards_are_found(package: str) -> None:
    """An entry point in `adjudge.rewards` is a name; a built-in of the same name wins."""
    assert get_reward("brevity").score({"final_response": "short"}).value == 1.0
    assert list_rewards()["brevity"] == f"{package}:brevity"
    assert get_reward("qa_f1_reward").version == "3"
    assert list_rewards()["qa_f1_reward"].startswith("adjudge.")
    with pytest.raises(UnknownReward, match="cannot import"):
        get_reward("broken")


def test_a_place_works_wherever_a_name_does(package: str) -> None:
    """`module:function` may be tagged, untagged, nested, or a composition."""
    row = {"final_response": "short"}
    assert get_reward(f"{package}:brevity").version == "3"
    assert get_reward(f"{package}:plain").score(row).value == 0.5
    assert get_reward(f"{package}:Holder.inner").score(row).value == 0.5
    assert get_reward(f"{package}:both").score(row).value == 0.75


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("qa_f1_rewrd", "did you mean 'qa_f1_reward'"),
        ("nothing_like_it_at_all", "no scorer is called"),
        ("their_rewards:brevty", "did you mean 'brevity'"),
        ("their_rewards:number", "is a int, not a function"),
        ("no_such_module_here:f", "cannot import"),
        ("their_rewards:", "write module:function"),
        (":brevity", "write module:function"),
    ],
)
def test_a_wrong_name_is_explained(package: str, name: str, message: str) -> None:
    """The error names the closest match, or what is wrong with the place."""
    with pytest.raises(UnknownReward, match=message):
        get_reward(name)


def test_options_can_be_written_with_the_name() -> None:
    """`name(option=value)` gives options; values are literals."""
    row = {"final_response": "Paris it is", "answer": "Paris", "trajectory": [{"role": "tool", "content": ""}]}
    assert get_reward("qa_f1_reward_tool").score(row).value == 0.1
    assert get_reward("qa_f1_reward_tool(f1_threshold=0.5)").score(row).value == 1.0
    assert get_reward(" qa_f1_reward_tool ( f1_threshold = 0.5, ignore_tools=['x'] ) ").score(row).value == 1.0


@pytest.mark.parametrize(
    "text",
    ["qa_f1_reward(1)", "qa_f1_reward(**{})", "qa_f1_reward(x=)", "qa_f1_reward_tool(f1_threshold=__import__('os'))"],
)
def test_options_are_literals_only(text: str) -> None:
    """Nothing in the options is evaluated."""
    with pytest.raises(UsageError, match="option=value"):
        get_reward(text)


def test_a_composition_takes_no_options() -> None:
    """Options belong to the members."""
    with pytest.raises(UsageError, match="takes no options"):
        get_reward(weighted({"qa_f1_reward": 1.0}), f1_threshold=0.5)


def test_descriptions_have_signature_and_first_line() -> None:
    """What `adjudge scorers` shows comes from the function itself."""
    found = describe("qa_f1_reward_tool")
    assert found.signature.startswith("(final_response, answer, trajectory,")
    assert found.summary.startswith("0 without a tool")
