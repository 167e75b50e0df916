"""Images as models behind an interface take them: by URL, their own or one that holds the image itself."""

from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

from adjudge.errors import DataError

_KINDS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}


def image_url(image: Any) -> str:
    """Return the URL of an image: a text is one; bytes, a file or a decoded picture become a data URL.

    >>> image_url(b"GIF89a")
    'data:image/gif;base64,R0lGODlh'
    """
    if isinstance(image, str):
        return image
    if isinstance(image, Path):
        image = image.read_bytes()
    elif hasattr(image, "save"):
        buffer = BytesIO()
        image.save(buffer, format="PNG")
        image = buffer.getvalue()
    if not isinstance(image, bytes):
        raise DataError(f"an image must be a URL, bytes, a file or a picture, got {type(image).__name__}")
    kind = next((kind for start, kind in _KINDS.items() if image.startswith(start)), "png")
    return f"data:image/{kind};base64,{b64encode(image).decode()}"
