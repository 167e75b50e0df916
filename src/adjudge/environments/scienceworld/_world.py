"""The rules of an episode: what a step answers, when it is over and what it is worth."""

from dataclasses import dataclass
from typing import Any

from adjudge.environments._errors import EnvBadTask, EnvError, EnvProtocolError
from adjudge.environments.scienceworld._jvm import Jvm
from adjudge.environments.scienceworld._spec import ScienceWorldSpec
from adjudge.errors import closest
from adjudge.model import Outcome, Step

__all__ = ["ScienceWorld"]


@dataclass(slots=True)
class _Episode:
    """The state of an episode; `score` is from -100 to 100."""

    task: dict[str, Any]
    observation: str = ""
    calls: int = 0
    moves: int = 0
    score: int = 0
    done_reason: str | None = None
    fault: EnvError | None = None


class ScienceWorld:
    """One simulator. An episode ends with `completed`, `failed` (a score below 0), `step-limit` or `call-limit`.

    After its end a step changes nothing. A fault of the simulator is raised, and again by every call until the next
    reset: the score of such an episode means nothing.
    """

    def __init__(self, spec: ScienceWorldSpec) -> None:
        self._spec = spec
        self._jvm = Jvm(spec.heap_mb)
        self._variations: dict[str, int] = {}
        self._agent: Any = None
        self._episode: _Episode | None = None

    @property
    def pid(self) -> int:
        """The id of the Java process."""
        return self._jvm.pid

    def reset(self, task: Any) -> str:
        """Start a task and return its description, and what the agent sees."""
        self._episode = None
        task = self._load(task, gold_path=False)
        # Because the score and the completion that the simulator reports are of the last step, in any episode.
        episode = _Episode(task)
        view = self._move(episode, "look around")
        episode.observation = f"{self._jvm.call(self._jvm.server.getTaskDescription)}\n\n{view}"
        self._episode = episode
        return episode.observation

    def step(self, action: str) -> Step:
        """Do one action; its `reward` is the change of the score / 100."""
        episode = self._current()
        before = episode.score
        if episode.done_reason is not None:
            over = f"The episode is over ({episode.done_reason})."
            return Step(observation=over, reward=0.0, done=True, info=self.info())
        episode.calls += 1
        try:
            episode.observation = self._move(episode, action)
        except EnvError as error:
            episode.fault = error
            raise
        episode.done_reason = self._end(episode)
        return Step(
            observation=episode.observation,
            reward=(episode.score - before) / 100,
            done=episode.done_reason is not None,
            info=self.info(),
        )

    def info(self) -> dict[str, Any]:
        """Return what is known beside the observation: the score (-100..100), the moves, why it ended if it did."""
        episode = self._current()
        return {"score": episode.score, "moves": episode.moves, "done_reason": episode.done_reason}

    def outcome(self) -> Outcome:
        """Return the state of the episode: `reward` is the score / 100, or 0 if that is negative."""
        if self._episode is None:
            return Outcome(done_reason="no-episode")
        episode = self._current()
        return Outcome(
            reward=max(episode.score, 0) / 100,
            success=episode.done_reason == "completed" and episode.score >= 100,
            failed=episode.score < 0,
            score_raw=float(episode.score),
            observation=episode.observation,
            done_reason=episode.done_reason,
            task=episode.task,
        )

    def gold_path(self, task: Any) -> list[str]:
        """Return actions that complete a task, as the simulator finds them; valid with no or few simplifications.

        Afterwards no episode is running.
        """
        self._episode = None
        self._load(task, gold_path=True)
        return [str(action) for action in self._jvm.call(lambda: list(self._jvm.server.getGoldActionSequence()))]

    def close(self) -> None:
        """End the Java process."""
        self._jvm.close()

    def _load(self, task: Any, *, gold_path: bool) -> dict[str, Any]:
        wanted = self._spec.task(task)
        name, variation = wanted["name"], wanted["variation"]
        server = self._jvm.server
        # Asked once, because it takes a call for each of the 30 tasks.
        if not self._variations:
            names = self._jvm.call(lambda: list(server.getTaskNames()))
            self._variations = {str(one): int(self._jvm.call(server.getTaskMaxVariations, one)) for one in names}
        if name not in self._variations:
            raise EnvBadTask(f"ScienceWorld has no task {name!r}{closest(name, self._variations)}")
        if variation >= self._variations[name]:
            raise EnvBadTask(f"{name!r} has the variations 0 to {self._variations[name] - 1}, not {variation}")
        problem = self._jvm.call(server.load, name, variation, wanted["simplifications"], gold_path)
        if problem:
            raise EnvBadTask(f"ScienceWorld cannot load {name!r}, variation {variation}: {problem}")
        self._agent = self._jvm.call(lambda: server.agentInterface().get())
        return wanted

    def _move(self, episode: _Episode, action: str) -> str:
        """Do an action and read what it changed."""
        server = self._jvm.server
        # Half of a surrogate pair cannot be sent; its replacement matches no action either.
        text: str = self._jvm.call(server.step, action.encode("utf-8", "backslashreplace").decode())
        if text.startswith("ERROR:"):
            raise EnvProtocolError(f"the simulator failed at {action!r}: {text}")
        if self._jvm.call(self._agent.isInErrorState):
            # It would answer every further step with a score of -100, as if the agent had failed.
            problem = self._jvm.call(self._agent.getErrorStateMessage)
            raise EnvProtocolError(f"the simulator failed at {action!r}: {problem}")
        episode.score = round(100 * self._jvm.call(server.getScore))
        episode.moves = self._jvm.call(server.getNumMoves)
        if episode.score >= 0 and self._jvm.call(server.getCompleted):
            episode.done_reason = "completed"
        return text

    def _end(self, episode: _Episode) -> str | None:
        if episode.score < 0:
            return "failed"
        if episode.done_reason is not None:
            return episode.done_reason
        if episode.moves > self._spec.step_limit:
            return "step-limit"
        return "call-limit" if episode.calls >= self._spec.max_calls else None

    def _current(self) -> _Episode:
        if self._episode is None:
            raise EnvError("no episode was started: call reset with a task first", code="no-episode")
        if self._episode.fault is not None:
            raise self._episode.fault
        return self._episode
