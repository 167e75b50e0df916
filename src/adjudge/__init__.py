"""One definition of "good" for an LLM agent: a reward, a benchmark metric and a release gate.

The root is lazy: `import adjudge` loads nothing, each name below is imported when it is first used.
"""

from adjudge.lazy import lazy_names

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.comparison import compare as compare
    from adjudge.model import Case as Case
    from adjudge.model import Score as Score
    from adjudge.model import Trajectory as Trajectory
    from adjudge.monitoring import monitor as monitor
    from adjudge.rewards import get_reward as get_reward
    from adjudge.rewards import get_scorer as get_scorer
    from adjudge.rewards import reward as reward
    from adjudge.runs import aevaluate as aevaluate
    from adjudge.runs import evaluate as evaluate
    from adjudge.runs import open_run as open_run

__version__ = "0.1.0"

__all__ = [
    "Case",
    "Score",
    "Trajectory",
    "__version__",
    "aevaluate",
    "compare",
    "evaluate",
    "get_reward",
    "get_scorer",
    "monitor",
    "open_run",
    "reward",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "adjudge.comparison": ("compare",),
        "adjudge.model": ("Case", "Score", "Trajectory"),
        "adjudge.monitoring": ("monitor",),
        "adjudge.rewards": ("get_reward", "get_scorer", "reward"),
        "adjudge.runs": ("aevaluate", "evaluate", "open_run"),
    },
)
