"""The CRAG-MM evaluation: an agent's answers to conversations about images, labelled, added up, with error bars.

from adjudge.crag.evaluator import CRAGEvaluator     the evaluator
from adjudge.crag.llm_judge import LLMJudge          its judge
from adjudge.crag import config                      its constants
from adjudge.crag import read_results, read_scores   what it saved, read back equal
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.crag._generate import WordTokenizer
    from adjudge.crag._phases import watch_phase
    from adjudge.crag._results import TurnResults, read_results, read_scores, save_results
    from adjudge.crag._scores import Scores, score_results
    from adjudge.crag._turns import read_turns, write_turns
    from adjudge.crag.evaluator import CRAGEvaluator
    from adjudge.crag.llm_judge import LLMJudge

__all__ = [
    "CRAGEvaluator",
    "LLMJudge",
    "Scores",
    "TurnResults",
    "WordTokenizer",
    "read_results",
    "read_scores",
    "read_turns",
    "save_results",
    "score_results",
    "watch_phase",
    "write_turns",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_generate": ("WordTokenizer",),
        "_phases": ("watch_phase",),
        "_results": ("TurnResults", "read_results", "read_scores", "save_results"),
        "_scores": ("Scores", "score_results"),
        "_turns": ("read_turns", "write_turns"),
        "evaluator": ("CRAGEvaluator",),
        "llm_judge": ("LLMJudge",),
    },
)
