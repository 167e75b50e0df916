"""The chapters of the tour, by name. Each says what it is about to show, fits on a screen and plays alone."""

from collections.abc import Callable, Mapping

from adjudge.demo import _crag, _environments, _judges, _math, _report, _rewards, _scenarios
from adjudge.demo._scene import Scene
from adjudge.errors import UsageError
from adjudge.files import user_folder
from adjudge.runs import Summary

CHAPTERS: Mapping[str, Callable[[Scene], None]] = {
    "rewards": _rewards.chapter,
    "math": _math.chapter,
    "judges": _judges.chapter,
    "local": _judges.local_chapter,
    "benchmark": _crag.chapter,
    "gate": _scenarios.chapter,
    "environments": _environments.chapter,
    "report": _report.chapter,
}
"""What plays each chapter."""


def tour(say: Callable[[str], None], show: Callable[[Summary], None], chapter: str | None = None) -> None:
    """Give the whole tour, or one chapter; `say` prints a paragraph, `show` a summary.

    Its runs stay in the user's cache folder.
    """
    if chapter is not None and chapter not in CHAPTERS:
        raise UsageError(f"the tour has no chapter {chapter!r}; it has {', '.join(CHAPTERS)}", code="unknown-chapter")
    folder = user_folder("cache") / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    scene = Scene(say, show, folder)
    if chapter is not None:
        CHAPTERS[chapter](scene)
        return
    for play in CHAPTERS.values():
        play(scene)
    say(
        "Try it on your own rows:\n"
        "    adjudge score rows.jsonl --scorer qa_f1_reward --out scores.jsonl\n"
        "    adjudge judge run rows.jsonl --judge local --out verdicts.jsonl\n"
        "    adjudge judge run rows.jsonl --judge openai:MODEL --run my.run\n"
        "    adjudge resume my.run\n"
        "    adjudge init"
    )
