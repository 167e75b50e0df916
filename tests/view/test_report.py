"""A report is one small file, the failures first."""

from dataclasses import replace
from pathlib import Path

import pytest

from adjudge.comparison import CompareOptions, compare_results, read_results
from adjudge.errors import UsageError
from adjudge.scenarios import run_scenarios
from adjudge.view import write_comparison, write_report
from cli.command import adjudge as command
from view.looking import Page, make_run, rows_of


def test_a_thousand_rows_stay_small(tmp_path: Path) -> None:
    """A report of 1,000 rows with long texts has at most 1.5 MB, and says what it leaves out."""
    rows = [{**row, "question": row["question"] + " & why?" * 300} for row in rows_of(1_000)]
    write_report(make_run(tmp_path / "a.run", rows), out=tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert 200_000 < len(text.encode()) <= 1_500_000
    page = Page(text)
    shown = len(page.all("section")) + len(page.all("tr"))
    assert shown > 300
    assert "more rows are in the run, and not in this file" in page.text


def test_failures_come_first(tmp_path: Path) -> None:
    """Rows that are wrong stand before those that are right, with question, reference and response."""
    write_report(make_run(tmp_path / "a.run", rows_of(9)), out=tmp_path / "a.html")
    text = Page((tmp_path / "a.html").read_text(encoding="utf-8")).text
    assert text.index("Rows that are not right") < text.index("q3") < text.index("Other rows") < text.index("q1 ")
    assert "Response It is Lyon" in text
    assert "0 more rows" not in text


def test_two_runs_show_what_changed(tmp_path: Path) -> None:
    """The report of two runs has the table of a comparison, the flips first, with the words that differ."""
    base = make_run(tmp_path / "base.run", rows_of(30, skill=2))
    new = make_run(tmp_path / "new.run", rows_of(30))
    write_report(base, new, out=tmp_path / "two.html")
    page = Page((tmp_path / "two.html").read_text(encoding="utf-8"))
    assert page.text.index("q9 regressed") < page.text.index("q2 fixed")
    assert page.all("ins")
    assert command("compare", str(base), str(new), "--html", "three.html", cwd=tmp_path).returncode == 0
    assert (tmp_path / "three.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_report_never_overwrites_its_run(tmp_path: Path) -> None:
    """What cannot be written, or would be written over what is read, is refused before anything is read."""
    run = make_run(tmp_path / "a.run", rows_of(3))
    for out in (run, tmp_path / "none" / "a.html", tmp_path):
        done = command("report", str(run), "--out", str(out), cwd=tmp_path)
        assert done.returncode == 2
    with pytest.raises(UsageError):
        write_report(tmp_path / "none.run", out=tmp_path / "a.html")
    assert not (tmp_path / "a.html").exists()


@pytest.mark.parametrize(("workflow", "verdict"), [(None, "fail"), (0.4, "pass")])
def test_a_check_is_held_against_a_gate(tmp_path: Path, workflow: float | None, verdict: str) -> None:
    """A report of a check has what a gate says of it; without one, every workflow has to pass."""
    scenarios = [{"id": name, "question": "?", "tools_should_include": [name]} for name in ("search", "look")]
    messages = [
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "search", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
    ]
    run_scenarios(
        scenarios, lambda question: [*messages, {"role": "assistant", "content": "x"}], run=tmp_path / "a.run"
    )
    gate = None
    if workflow is not None:
        gate = tmp_path / "gate.toml"
        gate.write_text(f"workflow = {workflow}")
    write_report(tmp_path / "a.run", out=tmp_path / "a.html", gate=gate)
    text = Page((tmp_path / "a.html").read_text(encoding="utf-8")).text
    assert f"Gate {verdict}" in text
    assert "Scenarios scenario passed repeats look 0 of 1 failed search 1 of 1 passed" in text
    assert "0.5000 (n 2, 95 % interval 0.0945 .. 0.9055)" in text


def test_a_comparison_says_what_the_terminal_says(tmp_path: Path) -> None:
    """What is surely worse, but not surely by more than the margin, is worse on the page too."""
    base = make_run(tmp_path / "base.run", rows_of(120, skill=500))
    new = make_run(tmp_path / "new.run", rows_of(120, skill=12))
    done = command("compare", str(base), str(new), "--margin", "0.06", "--html", "a.html", cwd=tmp_path)
    assert done.returncode == 1
    assert "though not shown to be so by more than the margin" in done.stdout.decode()
    text = Page((tmp_path / "a.html").read_text(encoding="utf-8")).text
    assert "worse though not shown to be so by more than the margin" in text
    assert "the margin of 0.06" in text


def test_printing_keeps_the_pictures(tmp_path: Path) -> None:
    """On paper the bars of forms are left out, and those of a distribution stay."""
    write_report(make_run(tmp_path / "a.run", rows_of(3)), out=tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    hidden = text.partition("@media print")[2].partition("{ display: none; }")[0]
    assert "form.bar," in hidden
    assert " .bar," not in hidden


def test_runs_that_should_not_be_compared_say_so(tmp_path: Path) -> None:
    """A page of runs that were compared although they differ in more than the agent says why they should not be."""
    base, new = (make_run(tmp_path / name, rows_of(9)) for name in ("base.run", "new.run"))
    found = compare_results(read_results(base), read_results(new), CompareOptions())
    write_comparison(replace(found, mismatches=("other questions",)), base, new, out=tmp_path / "a.html")
    text = Page((tmp_path / "a.html").read_text(encoding="utf-8")).text
    assert "Not comparable, compared all the same: other questions" in text
