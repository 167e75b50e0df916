"""What an episode of ScienceWorld costs through our world, against the same episode through the package's own wrapper.

Both play the simulator's own solutions of a few short tasks, variation after variation, in a Java process each. The
cost is CPU time, of the Python side and of Java together. The two alternate, episode by episode; the figure is the
ratio of the sums. Then further episodes are played on ours alone, and the memory that its Java process holds is read.
Aims: 1.8x as fast or more, and 500 MB or less after 200 episodes.

    python benchmarks/scienceworld.py
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's

import os
import time
from pathlib import Path

from scienceworld import ScienceWorldEnv

from adjudge.environments.scienceworld import ScienceWorldSpec, ScienceWorldTask
from adjudge.environments.scienceworld._world import ScienceWorld

TASKS = ("find-non-living-thing", "lifespan-longest-lived", "find-plant", "identify-life-stages-2")
EPISODES = 40
LONG = 200


def java_cpu(pid: int) -> float:
    """Return the seconds of CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """Return how much memory a process holds."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def play(world: ScienceWorld, task: ScienceWorldTask, path: list[str]) -> None:
    """Play an episode through our world."""
    world.reset(task)
    for action in path:
        if world.step(action).done:
            break


def play_wrapped(wrapper: ScienceWorldEnv, task: ScienceWorldTask, path: list[str]) -> None:
    """Play the same episode through the wrapper, as its documentation does."""
    wrapper.load(task.name, task.variation, task.simplifications)
    wrapper.reset()
    for action in path:
        if wrapper.step(action)[2]:
            break


def main() -> None:
    """Print both costs and their ratio, and the memory."""
    world = ScienceWorldSpec().build()
    wrapper = ScienceWorldEnv()
    wrapped_pid = wrapper._gateway.java_process.pid  # noqa: SLF001  # it tells nobody otherwise
    chosen = [ScienceWorldTask(TASKS[n % len(TASKS)], variation=n // len(TASKS)) for n in range(EPISODES)]
    paths = {task: world.gold_path(task) for task in chosen}
    for task in chosen[: len(TASKS)]:  # warm
        play(world, task, paths[task])
        play_wrapped(wrapper, task, paths[task])
    ours = theirs = 0.0
    for task in chosen:
        start = time.process_time() + java_cpu(world.pid)
        play(world, task, paths[task])
        ours += time.process_time() + java_cpu(world.pid) - start
        start = time.process_time() + java_cpu(wrapped_pid)
        play_wrapped(wrapper, task, paths[task])
        theirs += time.process_time() + java_cpu(wrapped_pid) - start
    wrapper.close()
    for n in range(LONG - EPISODES):
        play(world, chosen[n % EPISODES], paths[chosen[n % EPISODES]])
    print(f"plain wrapper         {theirs / EPISODES * 1e3:7.0f} ms of CPU an episode")
    print(f"adjudge               {ours / EPISODES * 1e3:7.0f} ms of CPU an episode")
    print(f"ratio                 {theirs / ours:7.2f} x as fast (aim: 1.8 or more)")
    print(f"Java after {LONG} episodes {memory_mb(world.pid):4.0f} MB (aim: 500 or less)")
    world.close()


if __name__ == "__main__":
    main()
