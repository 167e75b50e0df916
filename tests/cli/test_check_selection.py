"""`adjudge check` on some of the scenarios: which run, what the gate says of them, and how each tag did."""

import json
import re
from pathlib import Path

import pytest

from adjudge import open_run
from cli.checking import served, write_scenarios
from cli.command import adjudge, said

QUESTIONS = {"pay-1": "a", "pay-2": "nothing", "ask-1": "raise", "[x]": "b"}
AGENT = ("--agent", "agent:answer", "--run", "check.run")


def write(folder: Path) -> None:
    """Write four scenarios: one fails, one ends in an error, two have tags."""
    write_scenarios(folder, QUESTIONS)
    path = folder / "scenarios" / "all.toml"
    text = path.read_text().replace('id = "pay-', 'tags = ["money", "fast"]\nid = "pay-', 1)
    path.write_text(text.replace('id = "ask-1"', 'tags = ["fast"]\nid = "ask-1"'))


def ran(folder: Path) -> list[str]:
    """Return the scenarios that are in the run file."""
    return [str(one.id).removesuffix("#1") for one in open_run(folder / "check.run").cases()]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (("--tag", "money"), ["pay-1"]),
        (("--tag", "money", "--tag", "fast"), ["pay-1", "ask-1"]),
        (("--only", "pay-2"), ["pay-2"]),
        (("--only", "pay-*", "--only", "[x]"), ["pay-1", "pay-2", "[x]"]),
        (("--only", "pay-*", "--exclude", "*-2"), ["pay-1"]),
        (("--tag", "fast", "--exclude", "pay-?"), ["ask-1"]),
        (("--exclude", "zz"), "no scenario is called 'zz' (there are 'pay-1', 'pay-2', 'ask-1', '[x]')"),
        (("--tag", "mony"), "no scenario has the tag 'mony'; did you mean 'money'?"),
        (("--tag", "xyz"), "no scenario has the tag 'xyz' (there are 'money', 'fast')"),
        (("--only", "pya-1"), "no scenario is called 'pya-1'; did you mean 'pay-1'?"),
        (("--only", "pay-1", "--exclude", "pay-*"), "nothing is left to check: no scenario of 4 is selected"),
    ],
)
def test_selection(tmp_path: Path, options: tuple[str, ...], ids: list[str] | str) -> None:
    """Any of the tags, any of the ids or patterns, none of the excluded; a name that nobody has is exit code 2."""
    write(tmp_path)
    done = adjudge("check", "scenarios", *AGENT, *options, cwd=tmp_path)
    if isinstance(ids, str):
        assert (done.returncode, said(done)) == (2, ids)
        assert not (tmp_path / "asked").exists()
        return
    assert ran(tmp_path) == ids
    assert f"only {len(ids)} of 4 scenarios ran, as selected" in done.stderr.decode()
    # The file is the run of these scenarios: with others it is refused.
    again = adjudge("check", "scenarios", *AGENT, cwd=tmp_path)
    assert (again.returncode, "is a run with other" in said(again)) == (2, True)


def test_several_files(tmp_path: Path) -> None:
    """Files and folders can be given together; one that is given twice is refused."""
    write(tmp_path)
    (tmp_path / "more.toml").write_text('id = "more"\nquestion = "c"\n')
    adjudge("check", "more.toml", "scenarios", *AGENT, cwd=tmp_path)
    assert ran(tmp_path) == ["more", *QUESTIONS]
    done = adjudge("check", "more.toml", "more.toml", "--agent", "agent:answer", cwd=tmp_path)
    assert (done.returncode, "the id 'more' is already used by" in said(done)) == (2, True)


def test_last_failed(tmp_path: Path) -> None:
    """What failed and what ended in an error runs again; nothing to run again is said, and not a pass."""
    write(tmp_path)
    adjudge("check", "scenarios", "--agent", "agent:answer", "--run", "first.run", cwd=tmp_path)
    adjudge("check", "scenarios", *AGENT, "--last-failed", "first.run", cwd=tmp_path)
    assert ran(tmp_path) == ["pay-2", "ask-1"]
    passing = ("check", "scenarios", "--agent", "agent:answer", "--only", "pay-1")
    adjudge(*passing, "--run", "good.run", cwd=tmp_path)
    done = adjudge(*passing, "--last-failed", "good.run", cwd=tmp_path)
    assert (done.returncode, said(done)) == (2, "nothing is left to check: in good.run all passed")
    done = adjudge(*passing, "--last-failed", "first.run", cwd=tmp_path)
    assert (done.returncode, said(done)) == (2, "nothing is left to check: no scenario of 4 is selected")
    done = adjudge(*passing, "--last-failed", "nowhere.run", cwd=tmp_path)
    assert done.returncode == 2


def test_the_gate_of_a_selection(tmp_path: Path) -> None:
    """Thresholds on what was not selected are named and left out; one that nobody could reach stays refused."""
    write(tmp_path)
    (tmp_path / "gate.toml").write_text("[tags.money]\nworkflow = 1.0\n[tags.fast]\nworkflow = 1.0\n")
    options = (*AGENT, "--gate", "gate.toml", "--only", "[[]x]")
    done = adjudge("check", "scenarios", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "as selected; the gate's tags.money, tags.fast had nothing to look at" in done.stderr.decode()
    (tmp_path / "gate.toml").write_text("[tags.moneyy]\nworkflow = 1.0\n")
    assert "which no scenario has" in said(adjudge("check", "scenarios", *options, cwd=tmp_path))


def test_the_table_of_tags(tmp_path: Path) -> None:
    """Below the scenarios is how the runs of each tag ended; without tags there is no such table."""
    write(tmp_path)
    shown = adjudge("check", "scenarios", *AGENT, cwd=tmp_path).stdout.decode()
    rows = re.findall(r"^(tag|fast|money) +(\w+) +(\w+) +(\w+) +(\w+)", shown, re.MULTILINE)
    assert rows == [
        ("tag", "runs", "passed", "failed", "undecided"),
        ("fast", "2", "1", "0", "1"),
        ("money", "1", "1", "0", "0"),
    ]
    bare = adjudge("check", "scenarios", "--agent", "agent:answer", "--only", "pay-2", cwd=tmp_path).stdout.decode()
    assert "\ntag " not in bare


def test_saved_traces_of_others(tmp_path: Path) -> None:
    """A trace of a scenario that is not selected is nobody's fault: no warning names it."""
    write(tmp_path)
    for name in ("pay-1", "pay-2"):
        (tmp_path / "traces").mkdir(exist_ok=True)
        messages = [{"role": "tool", "name": "pdf_retrieval", "content": "x"}, {"role": "assistant", "content": "y"}]
        (tmp_path / "traces" / f"{name}.json").write_text(json.dumps(messages))
    done = adjudge("check", "scenarios", "--traces", "traces", "--only", "pay-1", cwd=tmp_path)
    assert "no scenario is named" not in done.stderr.decode()


def test_waiting_for_an_agent(tmp_path: Path) -> None:
    """--wait is exit code 2 with what was tried where nobody comes; where somebody is there, it costs nothing."""
    write_scenarios(tmp_path, {"s": "a"})
    with served() as url:
        done = adjudge("check", "scenarios", "--agent", url, "--wait", "30", cwd=tmp_path)
        assert (done.returncode, b"waiting" in done.stderr) == (0, False)
    done = adjudge("check", "scenarios", "--agent", url, "--wait", "0.5", cwd=tmp_path)
    first, last = done.stderr.decode().splitlines()
    assert (done.returncode, first.startswith(f"adjudge: waiting for {url}: ")) == (2, True)
    assert re.search(r"error: .* was not ready within 0.5 s: GET was tried .*: connection refused", last)
    done = adjudge("check", "scenarios", "--agent", "agent:answer", "--wait", "5", cwd=tmp_path)
    assert (done.returncode, "--wait needs an agent behind a URL" in said(done)) == (2, True)
    # A wrong call is found before anybody is waited for.
    done = adjudge("check", "scenarios", "--agent", url, "--wait", "60", "--tag", "x", cwd=tmp_path)
    assert (done.returncode, "no scenario has the tag" in said(done)) == (2, True)


def test_another_interface(tmp_path: Path) -> None:
    """Body, fields and headers are given on the command line, and the header's value is in no file."""
    from agent_server import Asked, serving

    write_scenarios(tmp_path, {"s": "a"})

    def answer(asked: Asked) -> dict[str, object]:
        seen = f"{asked.body['input']} {asked.headers['x-key']}"
        return {"out": {"text": seen}, "steps": [{"tool": "pdf_retrieval"}]}

    options = ("--send", '{"input": "{question}"}', "--field", "response=$.out.text")
    more = ("--field", "tools_used=$.steps[*].tool", "--header", "x-key=env:MY_KEY", "--json", "out.json")
    secret = "open-sesame-0123"  # noqa: S105 (not one)
    with serving(answer) as url:
        call = ("check", "scenarios", "--agent", url, "--run", "a.run", *options, *more)
        done = adjudge(*call, cwd=tmp_path, env={"MY_KEY": secret})
        assert done.returncode == 0, done.stderr
        assert json.loads((tmp_path / "out.json").read_bytes())["results"][0]["response"] == "a ***"
        assert said(adjudge(*call, cwd=tmp_path)).startswith("MY_KEY is not set")
        done = adjudge(*call[:4], "--field", "respons=$.a", cwd=tmp_path)
        assert "an answer has no field 'respons'; did you mean 'response'?" in said(done)
        assert "--send: " in said(adjudge(*call[:4], "--send", "{input", cwd=tmp_path))
    assert not any(secret.encode() in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
