"""Images of rows: every form is handed over alike, none before it is asked for, a bad one is a fault of its row."""

import base64
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from adjudge.datasets import RowImage, read_conversations
from adjudge.datasets import _image as images
from adjudge.errors import Caught, RowError
from crag.pictures import png, row

PNG = png()


def image_of(value: Any, folder: Path | None = None, **more: Any) -> RowImage:
    """Return the image of a row as it is read."""
    (read,) = read_conversations([row(value, **more)], image_folder=folder)
    assert read.image is not None
    return read.image


FORMS: dict[str, Any] = {
    "bytes": PNG,
    "bytearray": bytearray(PNG),
    "memoryview": memoryview(PNG),
    "bytes in a mapping": {"bytes": PNG, "path": "nowhere.png"},
    "path in a mapping": {"bytes": None, "path": "a.png"},
    "base64 in a mapping": {"bytes": base64.b64encode(PNG).decode()},
    "data URL": f"data:image/png;base64,{base64.b64encode(PNG).decode()}",
    "file": "a.png",
    "file below": "below/../a.png",
    "PIL": Image.open(BytesIO(PNG)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_an_image(form: str, tmp_path: Path) -> None:
    """With Pillow an image of any form is decoded, and the same."""
    (tmp_path / "a.png").write_bytes(PNG)
    picture = image_of(FORMS[form], tmp_path).load()
    assert isinstance(picture, Image.Image)
    assert picture.size == (3, 2)
    assert picture.convert("RGB").getpixel((2, 1)) == (255, 0, 0)


def test_a_path_object_may_lie_anywhere(tmp_path: Path) -> None:
    """A `Path` does not come out of a data file: it is opened wherever it is."""
    (tmp_path / "a.png").write_bytes(PNG)
    assert image_of(tmp_path / "a.png", tmp_path / "elsewhere").load().size == (3, 2)


def test_a_link_in_the_folder_is_followed(tmp_path: Path) -> None:
    """Files in the folder may be links, as they are in the hub's cache."""
    (tmp_path / "blob").write_bytes(PNG)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.png").symlink_to(tmp_path / "blob")
    assert image_of("a.png", tmp_path / "data").load().size == (3, 2)


@pytest.mark.parametrize("form", ["bytes", "bytes in a mapping", "file", "PIL"])
def test_without_pillow(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Pillow an image is its bytes, or the path of its file; what is decoded stays so."""
    (tmp_path / "a.png").write_bytes(PNG)
    monkeypatch.setitem(sys.modules, "PIL", None)
    found = image_of(FORMS[form], tmp_path).load()
    if form == "PIL":
        assert found is FORMS["PIL"]
    else:
        assert found == (tmp_path / "a.png" if form == "file" else PNG)


def test_files_are_named_in_the_turns(tmp_path: Path) -> None:
    """An image that is a file is known by its path without being read."""
    (read,) = read_conversations([row("a.png")], image_folder=tmp_path)
    assert read.image is not None
    assert read.image.path == tmp_path / "a.png"
    assert read.conversation.turns[0].image == str(tmp_path / "a.png")
    assert image_of(PNG).path is None


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    """Reading conversations opens no image; a missing one is found when it is loaded."""
    image = image_of("missing.png", tmp_path)
    with pytest.raises(RowError, match=r"^row 1: image: there is no file .*missing\.png$") as caught:
        image.load()
    assert caught.value.code == "bad-image"


BAD: dict[str, tuple[Any, str]] = {
    "empty": (b"", "it is empty"),
    "no image": (b"hello", "UnidentifiedImageError"),
    "cut off": (png(40, 40)[:60], "row 1: image: "),
    "a bomb": (png(shown=(100_000, 100_000)), "row 1: image: "),
    "too many pixels": (png(shown=(9_000, 9_000)), "9000 x 9000 pixels"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_images(kind: str) -> None:
    """An image that cannot be decoded, or would fill the memory, is `bad-image` in one line with the row."""
    data, message = BAD[kind]
    with pytest.raises(RowError) as caught:
        image_of(data).load()
    assert caught.value.code == "bad-image"
    assert caught.value.message.startswith("row 1: image: ")
    assert message in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("data", [b"", b"hello", b"%PDF-1.7"])
def test_bad_images_without_pillow(data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Pillow what does not begin like an image is a fault: the agent is not handed just any file."""
    monkeypatch.setitem(sys.modules, "PIL", None)
    (tmp_path / "a.png").write_bytes(data)
    for value in (data, "a.png"):
        with pytest.raises(RowError, match=r"bytes do not begin like an image|it is empty"):
            image_of(value, tmp_path).load()


def test_files_of_any_size_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file over the bound is not opened."""
    monkeypatch.setattr(images, "LARGEST_FILE", 10)
    (tmp_path / "a.png").write_bytes(PNG)
    for value in (PNG, "a.png"):
        with pytest.raises(RowError, match=f"{len(PNG)} bytes are more than the 10 allowed"):
            image_of(value, tmp_path).load()


def test_a_folder_is_no_image(tmp_path: Path) -> None:
    """A path that is a folder is said to be no file."""
    with pytest.raises(RowError, match="there is no file"):
        image_of("below", tmp_path).load()


def test_rows_without_an_image() -> None:
    """None, an empty text and no column at all mean that there is no image."""
    bare = {name: value for name, value in row(None).items() if name != "image"}
    for one in (bare, row(None), row("")):
        (read,) = read_conversations([one])
        assert read.image is None


@given(st.binary(max_size=200), st.sampled_from([b"", PNG[:8], PNG[:20], PNG[:-12], b"GIF89a", b"\xff\xd8\xff"]))
def test_any_bytes(tail: bytes, head: bytes) -> None:
    """Whatever bytes a row has, they are an image or `bad-image`."""
    with Caught() as caught:
        assert isinstance(image_of(head + tail).load(), Image.Image)
    assert caught.error is None or (isinstance(caught.error, RowError) and caught.error.code == "bad-image")


def test_an_image_that_is_a_program_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostScript, which Pillow would hand to another program, is not an image here."""
    from PIL import EpsImagePlugin

    started: list[object] = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *given, **_: started.append(given))
    content = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\n%%EOF\n"
    with pytest.raises(RowError) as caught:
        RowImage("row 1", content).load()
    assert caught.value.code == "bad-image"
    assert started == []
