"""Images of rows, in every form that data sets have them: files, bytes, `{"bytes", "path"}`, data URLs, PIL, URLs.

An image is looked at when the agent needs it, not before. One that cannot be had is a fault of its row.
"""

import os
import re
from binascii import a2b_base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from adjudge.errors import AdjudgeError, Caught, RowError

LARGEST_FILE = 64_000_000  # bytes
MOST_PIXELS = 1 << 26
_BEGINNINGS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*", b"RIFF", b"\x00\x00\x00")
_FORMATS = ("PNG", "JPEG", "MPO", "GIF", "BMP", "DIB", "TIFF", "WEBP", "AVIF", "HEIF", "JPEG2000", "ICO", "PPM")
_PLAIN = re.compile(r"(?:\w[\w.-]*/)*\w[\w.-]*")  # a path that plainly leads into a folder and stays there

Fetch = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class WebImage:
    """An image at a URL, for whoever is allowed to fetch it."""

    url: str


@dataclass(frozen=True, slots=True)
class RowImage:
    """The image of a row, not read yet; `place` says whose it is, `path` where it lies if it is a file."""

    place: str
    source: Any = field(repr=False)  # bytes, a Path, a WebImage, a decoded image, or a function that gives one of them
    fetch: Fetch | None = field(default=None, repr=False)

    @property
    def path(self) -> Path | None:
        """The file that holds the image, if a file does."""
        return self.source if isinstance(self.source, Path) else None

    def load(self) -> Any:
        """Return the image: decoded where Pillow is installed, else its bytes, or the path of its file.

        An image that is missing, broken, too large or not allowed to be fetched raises `RowError`, `bad-image`.
        """
        # Decoders raise whatever they like on broken bytes.
        with Caught() as caught:
            return _load(self._content())
        error = caught.error
        detail = error.message if isinstance(error, AdjudgeError) else (caught.reason or "").removeprefix("raised: ")
        where = f"{self.place}: image: "
        raise RowError(f"{where}{detail.removeprefix(where)}", code="bad-image") from None

    @property
    def withheld(self) -> bool:
        """Whether it is only on the web, and nothing may be fetched from there."""
        return self.fetch is None and isinstance(self._source(), WebImage)

    def _source(self) -> Any:
        return self.source() if callable(self.source) else self.source

    def _content(self) -> Any:
        source = self._source()
        if not isinstance(source, WebImage):
            return source
        if self.fetch is None:
            message = "the row has only an image_url, and images are not fetched from the web"
            raise RowError(f"{message} unless allow_hosts names their host")
        return self.fetch(source.url)


def image_source(value: Any, place: str, folder: Path | None) -> Any:
    """Return what an image can be read from later; None for no image. A text is a file inside `folder`, or a URL.

    A row may not name files elsewhere; a `Path` did not come with the data, and may.
    """
    if isinstance(value, Mapping):
        return _from_mapping(value, place, folder)
    if isinstance(value, str):
        return _from_text(value, place, folder) if value else None
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if value is None or isinstance(value, bytes | Path) or is_picture(value):
        return value
    raise RowError(f"{place}: image: must be a path, bytes or an image, got {type(value).__name__}")


def is_picture(value: object) -> bool:
    """Say whether a value is an image that Pillow decoded, without loading Pillow."""
    return all(hasattr(value, name) for name in ("mode", "size", "convert", "load"))


def _from_mapping(value: Mapping[str, Any], place: str, folder: Path | None) -> Any:
    if "bytes" not in value and "path" not in value:
        has = ", ".join(repr(str(name)) for name in list(value)[:5]) or "nothing"
        raise RowError(f"{place}: image: a mapping must have 'bytes' or 'path', this one has {has}")
    data = value.get("bytes")
    # JSON has no bytes: they are written in base 64.
    if isinstance(data, str):
        return _from_base64(data, place)
    inner = value.get("path") if data is None else data
    if isinstance(inner, Mapping):
        raise RowError(f"{place}: image: 'bytes' and 'path' cannot be mappings themselves")
    return image_source(inner, place, folder)


def _from_text(text: str, place: str, folder: Path | None) -> Any:
    start = text[:8].lower()
    if start.startswith("data:"):
        head, comma, body = text.partition(",")
        if not comma or not head.endswith(";base64"):
            raise RowError(f"{place}: image: a data URL must be in base64")
        return _from_base64(body, place)
    # Only http and https: a `file:` URL would read any file of this machine.
    if "://" in text[:32]:
        if not start.startswith(("http://", "https://")):
            raise RowError(f"{place}: image: {text.partition('://')[0]!r} is not an address that images can come from")
        return WebImage(text)
    # The source is trusted: it knows where its own files are.
    if folder is None:
        return Path(text)
    if _PLAIN.fullmatch(text):
        return folder / text
    # By the names alone: what lies in the folder may be a link, but a row cannot lead out of it.
    base = os.path.normpath(folder.absolute())
    if "\0" in text or not Path(os.path.normpath(Path(base) / text)).is_relative_to(base):
        raise RowError(f"{place}: image: {text!r} lies outside {folder}; say image_folder= if that is meant")
    return Path(os.path.normpath(folder / text))


def _from_base64(text: str, place: str) -> bytes:
    try:
        return a2b_base64(text, strict_mode=True)
    except ValueError:
        raise RowError(f"{place}: image: the bytes are not base64") from None


def _load(source: Any) -> Any:
    # Only a late look-up shows that this row has no image.
    if source is None:
        return None
    if is_picture(source):
        source.load()
        return source
    _check_size(source)
    try:
        from PIL import Image
    except ImportError:
        return _check_beginning(source)
    # Pillow would also read formats that are programs (EPS is handed to Ghostscript), and some that nobody sends.
    Image.init()
    formats = [name for name in _FORMATS if name in Image.OPEN]
    with Image.open(BytesIO(source) if isinstance(source, bytes) else source, formats=formats) as picture:
        width, height = picture.size
        if width * height > MOST_PIXELS:
            raise RowError(f"{width} x {height} pixels are more than the {MOST_PIXELS:,} allowed")
        picture.load()
        return picture


def _check_size(source: bytes | Path) -> None:
    if isinstance(source, Path):
        if not source.is_file():
            raise RowError(f"there is no file {source}")
        size = source.stat().st_size
    else:
        size = len(source)
    if not size:
        raise RowError("it is empty")
    if size > LARGEST_FILE:
        raise RowError(f"{size:,} bytes are more than the {LARGEST_FILE:,} allowed")


def _check_beginning(source: bytes | Path) -> bytes | Path:
    """Return the image as it is, if it begins like one; more cannot be said without Pillow."""
    if isinstance(source, bytes):
        head = source[:8]
    else:
        with source.open("rb") as file:
            head = file.read(8)
    if not head.startswith(_BEGINNINGS):
        raise RowError("the bytes do not begin like an image")
    return source
