"""The attack suite: what it holds, and what `adjudge judge attack` says of a judge that takes everything or nothing."""

from collections import Counter
from pathlib import Path

import pytest

from adjudge.judges._attacks import load_attacks
from adjudge.testing import ChatServer, correct, wrong
from adjudge.text import normalise_answer
from cli.command import adjudge

CATEGORIES = {
    "coarser",
    "hedging",
    "injected-verdict",
    "master-key",
    "near-name",
    "negation",
    "off-by-one",
    "question-echo",
    "refusal",
    "stuffing",
}


def test_rows() -> None:
    """There are at least 200 rows in ten categories, each once, at most five of one pattern, each with its reason."""
    attacks = load_attacks()
    assert len(attacks) >= 200
    assert {attack.category for attack in attacks} == CATEGORIES
    assert (
        len({attack.id for attack in attacks}) == len({(one.question, one.response) for one in attacks}) == len(attacks)
    )
    assert max(Counter((attack.category, attack.pattern) for attack in attacks).values()) <= 5
    assert all(attack.why and attack.reference for attack in attacks)


def test_none_is_the_answer() -> None:
    """No attack is what a reference says."""
    for attack in load_attacks():
        golds = {normalise_answer(gold) for gold in attack.reference}
        assert attack.category == "off-by-one" or normalise_answer(attack.response) not in golds, attack.id


@pytest.mark.parametrize(("script", "code", "share"), [(correct, 1, "100.0%"), (wrong, 0, "0.0%")])
def test_command(tmp_path: Path, script: object, code: int, share: str) -> None:
    """A judge that takes everything fails the bound and its takings are shown; one that takes nothing passes."""
    with ChatServer(script) as server:  # type: ignore[arg-type]
        done = adjudge(
            "judge", "attack", "--judge", "openai:m", "--base-url", server.base_url, "--cache", "off",
            "--max-false-positives", "5%", "--run", "a.run", cwd=tmp_path, env={"OPENAI_API_KEY": "none"},
        )  # fmt: skip
    assert done.returncode == code, done.stderr
    table = {line.split()[0]: line.split() for line in done.stdout.decode().splitlines() if line}
    assert table["negation"][-1] == share
    # What says nothing never reaches the judge.
    assert table["stuffing"][-1] == share
    assert (b"and " in done.stdout) == bool(code)
