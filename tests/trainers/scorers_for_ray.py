"""A scorer of groups, which other processes import."""

from adjudge.rewards import reward


@reward(group=True)
def ranked(final_response: list[str]) -> list[float]:
    """Rank the responses of a group by their length."""
    order = sorted(range(len(final_response)), key=lambda index: len(final_response[index]))
    return [order.index(index) / len(order) for index in range(len(order))]
