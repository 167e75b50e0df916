"""What was sent to one endpoint in the last seconds, and what became of it."""

import math
from collections import deque

__all__ = ["Sent", "Ticket"]

_KEPT_S = 5.0
_TIMES = 3


class Ticket:
    """One call under way: when it was sent, and how many the server then had in hand with it, as far as is known."""

    __slots__ = ("level", "refused", "sent")

    def __init__(self, sent: float, level: int) -> None:
        self.sent, self.level, self.refused = sent, level, False


class Sent:
    """The calls of the last seconds. One that has not been refused for a while counts as carried, answered or not."""

    def __init__(self) -> None:
        self.proven = 1
        """The most calls at once that were carried, three times: a reply on its way makes room for a lucky one."""
        self.peak = 0
        """The most calls that were carried within one second."""
        self._recent: deque[Ticket] = deque()
        self._carried: deque[float] = deque()
        self._second: deque[float] = deque()
        self._refusal_s = 0.05
        self._above: list[int] = []
        self._cap, self._capped_at = 1, -math.inf

    def add(self, now: float, level: int) -> Ticket:
        """Take down a call that is sent now."""
        self._settle(now)
        ticket = Ticket(now, level)
        self._recent.append(ticket)
        return ticket

    def refuse(self, ticket: Ticket, now: float) -> None:
        """Take down that a call was refused: those sent after it were fewer at once than was thought."""
        self._refusal_s = max(0.9 * self._refusal_s, min(0.5, now - ticket.sent))
        ticket.refused = True
        for later in reversed(self._recent):
            if later is ticket:
                break
            later.level -= 1

    def cap(self, level: int, now: float) -> None:
        """Take it that no more than that were carried at once so far: calls sent together arrive in any order."""
        self._cap, self._capped_at = max(1, level), now
        self.proven = min(self.proven, self._cap)
        self._above.clear()

    @property
    def lowest_refused(self) -> int:
        """The least number at once at which one of the latest calls was refused."""
        return min((ticket.level for ticket in self._recent if ticket.refused), default=1)

    def since(self, moment: float) -> int:
        """Count the calls after that moment that were not refused so far."""
        count = 0
        for ticket in reversed(self._recent):
            if ticket.sent <= moment:
                return count
            count += not ticket.refused
        for sent in reversed(self._carried):
            if sent <= moment:
                break
            count += 1
        return count

    def second_before(self, ticket: Ticket) -> int:
        """Count the calls of the second before one that were not refused so far."""
        sent = ticket.sent
        count = sum(1 for other in self._recent if sent - 1.0 < other.sent < sent and not other.refused)
        for moment in reversed(self._carried):
            if moment <= sent - 1.0:
                break
            count += 1
        return count

    def moment_of_last(self, number: int) -> float | None:
        """Return when the last but `number` - 1 of the calls that were not refused was sent."""
        sent = [ticket.sent for ticket in self._recent if not ticket.refused]
        if number <= len(sent):
            return sent[-number]
        older = number - len(sent)
        return self._carried[-older] if older <= len(self._carried) else None

    def _settle(self, now: float) -> None:
        """Count those as carried that would have been refused by now."""
        recent, carried = self._recent, self._carried
        old = now - 0.1 - 2 * self._refusal_s
        while recent and recent[0].sent < old:
            ticket = recent.popleft()
            if not ticket.refused:
                self._carry(ticket)
        while carried and carried[0] < now - _KEPT_S:
            carried.popleft()

    def _carry(self, ticket: Ticket) -> None:
        sent, second = ticket.sent, self._second
        self._carried.append(sent)
        second.append(sent)
        while second[0] <= sent - 1.0:
            second.popleft()
        self.peak = max(self.peak, len(second))
        level = min(ticket.level, self._cap) if sent <= self._capped_at else ticket.level
        if level > self.proven:
            self._above.append(level)
            if len(self._above) >= _TIMES:
                self.proven = min(self._above)
                self._above.clear()
