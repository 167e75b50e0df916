"""The key of a request: a response cannot know it, and the same request always has the same one."""

import hmac
from collections.abc import Iterable

from adjudge.errors import UsageError

LENGTH = 16


def nonce_of(secret: bytes, content: Iterable[str]) -> str:
    """Return the first 64 bits of HMAC-SHA256 over the content, as hexadecimal digits.

    Equal content gives an equal key, so that a cache finds the same prompt again; whoever writes a response
    does not have the secret and can do no better than guess one in 1.8e19. A key that is in the content by
    chance, or because the secret leaked, is replaced by the next one.

    >>> nonce_of(b"a secret of sixteen", ["question", "response"])
    'd79759152ac5f3a4'
    """
    if len(secret) < 16:
        raise UsageError("the secret of a judge is at least 16 bytes", code="bad-secret")
    texts = list(content)
    for counter in range(1000):
        digest = hmac.new(secret, counter.to_bytes(4, "big"), "sha256")
        for text in texts:
            encoded = text.encode("utf-8", "surrogatepass")
            # The length keeps ("ab", "c") and ("a", "bc") apart.
            digest.update(len(encoded).to_bytes(8, "big"))
            digest.update(encoded)
        key = digest.hexdigest()[:LENGTH]
        if not any(key in text for text in texts):
            return key
    raise UsageError("the request contains its own keys: whoever wrote it knows the secret", code="bad-secret")
