"""Files of answers, scored as they are read: two files and a scorer are enough for a comparison.

score_answers("before.jsonl", ["qa_f1_reward"])      what `adjudge score` writes, read as `Results`
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from adjudge.comparison._build import ResultsBuilder
from adjudge.comparison._results import Results
from adjudge.comparison._run_files import digest_of_case
from adjudge.comparison._tables import read_scores
from adjudge.datasets import read_rows
from adjudge.errors import UsageError
from adjudge.rewards import get_scorer
from adjudge.runs import row_label, score_file


def score_answers(path: Path, scorers: Sequence[str], keep: Sequence[str] = ()) -> Results:
    """Score a file of answers, and return the scores with what is known of its cases."""
    for spec in scorers:
        if get_scorer(spec).asks:
            message = f"{spec} asks a model, which is paid for: judge {path} first, into a run file (adjudge judge run)"
            raise UsageError(message, code="bad-option")
    with TemporaryDirectory() as folder:
        scored = Path(folder) / "scores.jsonl"
        score_file(str(path), scorers, out=str(scored))
        found = read_scores(scored)
    facts = ResultsBuilder(str(path), keep)
    for number, row, _ in read_rows(str(path)):
        if row is None:
            continue
        cluster = row.get("conversation_id") or row.get("group_id")
        case = str(row_label(row, number))
        facts.fact(case, row, cluster=cluster, tags=row.get("tags"), digest=digest_of_case(row))
    return replace(found, name=str(path), cases=facts.cases)
