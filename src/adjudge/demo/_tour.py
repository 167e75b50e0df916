"""All chapters, in order, and a look at the runs that they left."""

from collections.abc import Callable
from pathlib import Path

from adjudge.demo import _crag, _environments, _judges, _math, _rewards, _scenarios
from adjudge.errors import MissingExtra
from adjudge.files import user_folder
from adjudge.runs import Summary


def tour(say: Callable[[str], None], show: Callable[[Summary], None]) -> None:
    """Give the whole tour; `say` prints a paragraph, `show` a summary. Its runs stay in the user's cache folder."""
    folder = user_folder("cache") / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    # A run file that is there would be resumed.
    for old in folder.glob("*.run*"):
        old.unlink()
    _rewards.chapter(say, show)
    _math.chapter(say)
    _judges.chapter(say, show, folder)
    _crag.chapter(say)
    _scenarios.chapter(say, folder)
    _environments.chapter(say)
    say(_look_at(folder))
    say(
        "Try it on your own rows:\n"
        "    adjudge score rows.jsonl --scorer qa_f1_reward --out scores.jsonl\n"
        "    adjudge scorers\n"
        "    adjudge judge run rows.jsonl --judge local --out verdicts.jsonl\n"
        "    adjudge judge run rows.jsonl --judge openai:MODEL --run my.run\n"
        "    adjudge resume my.run\n"
        "    adjudge init"
    )


def _look_at(folder: Path) -> str:
    """Write a report of the judged answers, and say how to open it, and the runs."""
    heading = "7. A look at the runs of chapters 3 and 5"
    report = folder / "report.html"
    try:
        from adjudge.view import write_report

        write_report(folder / "judged.run", out=report)
    except MissingExtra as error:
        return f"{heading}: {error.message}"
    return (
        f"{heading}. The judged answers as one file, those that are not right first, to open in a browser and to hand "
        f"on:\n\n    {report.as_uri()}\n\n"
        "Everything, down to each prompt and reply, with search, filters and labels, in a page that follows a run:\n\n"
        f"    adjudge view {folder}"
    )
