"""All chapters, in order."""

from collections.abc import Callable

from adjudge.demo import _crag, _environments, _judges, _math, _rewards, _scenarios
from adjudge.runs import Summary


def tour(say: Callable[[str], None], show: Callable[[Summary], None]) -> None:
    """Give the whole tour; `say` prints a paragraph, `show` a summary."""
    _rewards.chapter(say, show)
    _math.chapter(say)
    _judges.chapter(say, show)
    _crag.chapter(say)
    _scenarios.chapter(say)
    _environments.chapter(say)
    say(
        "Try it on your own rows:\n"
        "    adjudge score rows.jsonl --scorer qa_f1_reward --out scores.jsonl\n"
        "    adjudge scorers\n"
        "    adjudge judge run rows.jsonl --judge local --out verdicts.jsonl\n"
        "    adjudge judge run rows.jsonl --judge openai:MODEL --run my.run\n"
        "    adjudge resume my.run\n"
        "    adjudge init"
    )
