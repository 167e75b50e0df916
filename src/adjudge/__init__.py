"""One definition of "good" for an LLM agent: a reward, a benchmark metric and a release gate.

The root is lazy: `import adjudge` loads nothing, each name below is imported when it is first used.
"""

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.model import Case as Case
    from adjudge.model import Score as Score
    from adjudge.model import Trajectory as Trajectory
    from adjudge.rewards import get_reward as get_reward
    from adjudge.rewards import reward as reward
    from adjudge.runs import aevaluate as aevaluate
    from adjudge.runs import evaluate as evaluate

__version__ = "0.1.0"

__all__ = ["Case", "Score", "Trajectory", "__version__", "aevaluate", "evaluate", "get_reward", "reward"]

_HOMES = {
    "Case": "adjudge.model",
    "Score": "adjudge.model",
    "Trajectory": "adjudge.model",
    "aevaluate": "adjudge.runs",
    "evaluate": "adjudge.runs",
    "get_reward": "adjudge.rewards",
    "reward": "adjudge.rewards",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'adjudge' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
