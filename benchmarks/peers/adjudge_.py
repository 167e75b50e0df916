"""adjudge: an LLM judge with a journal, as `evaluate` runs it."""

import sys
from pathlib import Path

from _peer import BASE, IN_FLIGHT, ROWS, measure

from adjudge import evaluate
from adjudge.judges import LLMJudge
from adjudge.runs import RunConfig


def judge_all():
    judge = LLMJudge("m", BASE, api_key="none")
    config = RunConfig(cache="off", workers=IN_FLIGHT)
    # The same run file, where it was killed before: it goes on.
    done = evaluate(ROWS, judge=judge, run=Path(sys.argv[3]) / "peers.run", config=config)
    return [row.score.value if row.score.status == "scored" else None for row in done.scores]


measure(judge_all)
