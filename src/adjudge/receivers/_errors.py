"""What can go wrong while traces are fetched, beside the errors of `adjudge.http`."""

from adjudge.errors import AdjudgeError


class ReceiverError(AdjudgeError):
    """A service refused what was asked for, or answered with something else. `unauthorised`: the key is not taken."""

    default_code = "receiver"
