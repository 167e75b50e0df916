"""The CRAG-MM evaluation: an agent's answers to conversations about images, labelled, added up, with error bars.

from adjudge.crag.evaluator import CRAGEvaluator     the evaluator
from adjudge.crag.llm_judge import LLMJudge          its judge
from adjudge.crag import config                      its constants
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adjudge.crag._results import TurnResults
    from adjudge.crag._tokens import WordTokenizer
    from adjudge.crag.evaluator import CRAGEvaluator
    from adjudge.crag.llm_judge import LLMJudge

__all__ = ["CRAGEvaluator", "LLMJudge", "TurnResults", "WordTokenizer"]

# Each loaded when first used: whoever evaluates saved turns pays for no tokenizer.
_HOMES = {
    "_results": ("TurnResults",),
    "_tokens": ("WordTokenizer",),
    "evaluator": ("CRAGEvaluator",),
    "llm_judge": ("LLMJudge",),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(f"adjudge.crag.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'adjudge.crag' has no attribute {name!r}")
