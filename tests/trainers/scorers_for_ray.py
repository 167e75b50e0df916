"""Scorers that other processes import."""

import os
import signal

from adjudge.rewards import reward


@reward(group=True)
def ranked(final_response: list[str]) -> list[float]:
    """Rank the responses of a group by their length."""
    order = sorted(range(len(final_response)), key=lambda index: len(final_response[index]))
    return [order.index(index) / len(order) for index in range(len(order))]


@reward
def deadly(final_response: str) -> float:
    """End the process that scores the last row, as a fault in a library of C does."""
    if final_response == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0
