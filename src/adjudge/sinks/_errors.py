"""What can become of an outbox and of a request to a receiver.

OutboxError         the outbox cannot be used: held by another process, damaged, too new, no room
DeliveryFault       nothing was acknowledged, and not because of a score: it stays pending
BatchRefused        the receiver refuses what is in the request: it is cut in halves until the bad score is alone
"""

from adjudge.errors import AdjudgeError

__all__ = ["BatchRefused", "DeliveryFault", "OutboxError"]


class OutboxError(AdjudgeError):
    """An outbox cannot be used: another process holds it, it is damaged, or there is no room for it."""

    default_code = "outbox"


class DeliveryFault(AdjudgeError):
    """A receiver acknowledged nothing, for a reason that is not in the scores; they stay pending."""

    default_code = "not-delivered"


class BatchRefused(AdjudgeError):
    """A receiver refuses a request because of something in it."""

    default_code = "refused"
