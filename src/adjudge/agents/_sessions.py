"""Names of sessions: 32 hexadecimal digits, which makes them trace ids too; all turns of a conversation share one."""

from hashlib import blake2b

from adjudge.model import Case


def session_of(case: Case) -> str:
    """Return the session of a case: that of its conversation, or its own.

    >>> len(session_of(Case("q1"))), session_of(Case("a", conversation_id="c")) == session_of(
    ...     Case("b", conversation_id="c"))
    (32, True)
    """
    key = f"case {case.id}" if case.conversation_id is None else f"conversation {case.conversation_id}"
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
