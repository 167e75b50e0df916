"""The attack suite: what it holds, and what `adjudge judge attack` says of a judge that takes everything or nothing."""

from collections import Counter
from pathlib import Path

import pytest

from adjudge.judges._attacks import load_attacks
from adjudge.testing import ChatServer, correct, wrong
from adjudge.text import normalise_answer
from cli.command import adjudge, lines_of

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


def test_their_number_is_told() -> None:
    """The guide and the card of the local judge say how many attacks there are."""
    docs = Path(__file__).parents[2] / "docs"
    assert f"about {len(load_attacks())} wrong answers" in (docs / "how-to" / "judges.md").read_text(encoding="utf-8")
    assert f"the attack suite ({len(load_attacks())})" in (docs / "how-to" / "judges" / "local.md").read_text(
        encoding="utf-8"
    )


def test_an_attack_is_a_row() -> None:
    """An attack has all that a judge is given, by the names that rows have, and what is told of it."""
    attack = load_attacks()[0]
    assert dict(attack.row()) == {
        "id": attack.id,
        "category": attack.category,
        "pattern": attack.pattern,
        "question": attack.question,
        "reference": attack.reference,
        "response": attack.response,
        "why": attack.why,
    }


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
    assert table["negation"][3] == share
    # What says nothing never reaches the judge.
    assert table["stuffing"][3] == share
    assert table["stuffing"][4:] == (["89.6%", "..", "100.0%"] if code else ["0.0%", "..", "10.4%"])
    assert (b"and " in done.stdout) == bool(code)


def test_failures_are_counted_apart(tmp_path: Path) -> None:
    """A judge that fails on its rows is undecided, and every category still has its line, with what is missing."""
    with ChatServer(lambda _: "I cannot say.") as server:
        done = adjudge(
            "judge", "attack", "--judge", "openai:m", "--base-url", server.base_url, "--cache", "off",
            "--out", "verdicts.jsonl", "--max-false-positives", "0", cwd=tmp_path, env={"OPENAI_API_KEY": "none"},
        )  # fmt: skip
    assert done.returncode == 3
    table = {line.split()[0]: line.split() for line in done.stdout.decode().splitlines() if line}
    assert table["negation"][1:] == ["0*", "0", "–", "–"]
    assert b"unreadable" in done.stdout
    assert b"undecided: more than 0.05 of the rows have no score" in done.stderr
    lines = lines_of((tmp_path / "verdicts.jsonl").read_bytes())
    assert len(lines) == len(load_attacks())
    assert {line["verdict"] for line in lines} == {None, "WRONG"}


def test_several_judges(tmp_path: Path) -> None:
    """Every judge that is named is attacked; files are of one judge."""
    done = adjudge("judge", "attack", "--judge", "local:0", "--judge", "panel:local:0,local:0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"attack on local:0" in done.stdout
    assert b"attack on panel" in done.stdout
    twice = ("judge", "attack", "--judge", "local:0", "--judge", "local:0")
    assert adjudge(*twice, "--run", "a.run", cwd=tmp_path).returncode == 2


def test_a_stopped_attack_goes_on(tmp_path: Path) -> None:
    """An attack that a budget stopped says how to go on, and then ends as any other."""
    with ChatServer(wrong) as server:
        call = (
            "judge", "attack", "--judge", "openai:m", "--base-url", server.base_url, "--cache", "off", "--run", "a.run",
        )  # fmt: skip
        done = adjudge(*call, "--max-calls", "20", cwd=tmp_path, env={"OPENAI_API_KEY": "none"})
        assert done.returncode == 3
        assert b"to resume: the same command with --run a.run" in done.stderr
        done = adjudge(*call, cwd=tmp_path, env={"OPENAI_API_KEY": "none"})
    assert done.returncode == 0, done.stderr
    assert b"attack on openai:m" in done.stdout
