"""Draws the images of the CRAG sample, with nothing but the standard library: `python tools/draw_crag_sample.py`.

The pictures are our own and in the public domain (CC0). Each is a handful of shapes; what its row says of its quality
(blurred, rotated, ...) is then done to it.
"""

import json
import math
import struct
import sys
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

SCENES = Path(__file__).with_name("crag_scenes.txt")
SAMPLE = Path(__file__).parents[1] / "src" / "adjudge" / "crag" / "sample"
WIDTH, HEIGHT = 120, 90
LARGEST = 3000  # bytes of a file

Colour = tuple[int, int, int]
Point = tuple[float, float]
Pixels = list[list[Colour]]

COLOURS: dict[str, Colour] = {
    "black": (20, 20, 24),
    "blue": (40, 80, 190),
    "brown": (120, 72, 36),
    "cream": (245, 236, 214),
    "gold": (240, 186, 40),
    "green": (46, 140, 70),
    "grey": (130, 134, 140),
    "orange": (236, 130, 40),
    "red": (206, 40, 44),
    "sky": (176, 214, 240),
    "violet": (122, 60, 170),
    "white": (250, 250, 250),
}

# Three by five dots a sign, a row a digit: 7 is all three.
FONT = {
    "%": "51245",
    "-": "00700",
    "0": "75557",
    "2": "71747",
    "5": "74717",
    "B": "65656",
    "D": "65556",
    "I": "72227",
    "M": "57755",
    "O": "75557",
    "P": "75744",
    "S": "74717",
    "T": "72222",
    "V": "55522",
    "X": "55255",
    "Y": "55222",
}


class Picture:
    """A picture to draw on, from the upper left corner."""

    def __init__(self, background: str) -> None:
        self.pixels: Pixels = [[COLOURS[background]] * WIDTH for _ in range(HEIGHT)]

    def fill(self, colour: str, inside: Callable[[float, float], bool]) -> None:
        """Colour every pixel whose middle is inside."""
        for y, line in enumerate(self.pixels):
            for x in range(WIDTH):
                if inside(x + 0.5, y + 0.5):
                    line[x] = COLOURS[colour]

    def rect(self, colour: str, left: float, top: float, right: float, bottom: float) -> None:
        """Draw a rectangle."""
        self.fill(colour, lambda x, y: left <= x < right and top <= y < bottom)

    def oval(self, colour: str, x: float, y: float, wide: float, high: float | None = None) -> None:
        """Draw a disc or an oval around a point."""
        high = wide if high is None else high
        self.fill(colour, lambda a, b: ((a - x) / wide) ** 2 + ((b - y) / high) ** 2 <= 1)

    def ring(self, colour: str, x: float, y: float, outer: float, inner: float) -> None:
        """Draw a ring around a point."""
        self.fill(colour, lambda a, b: inner <= math.hypot(a - x, b - y) <= outer)

    def line(self, colour: str, points: Sequence[float], width: float = 2) -> None:
        """Draw a line through points given as x, y, x, y, ..."""
        corners = list(zip(points[::2], points[1::2], strict=True))
        for start, end in pairwise(corners):
            self.fill(colour, partial(_is_near, start, end, width / 2))

    def shape(self, colour: str, points: Sequence[float]) -> None:
        """Draw what a line through points encloses."""
        corners = list(zip(points[::2], points[1::2], strict=True))
        self.fill(colour, lambda x, y: _encloses(corners, x, y))

    def regular(self, colour: str, x: float, y: float, radius: float, sides: float, turned: float = 0.0) -> None:
        """Draw a shape with equal sides around a point."""
        angles = (turned + 2 * math.pi * index / sides for index in range(int(sides)))
        corners = ((x + radius * math.sin(angle), y - radius * math.cos(angle)) for angle in angles)
        self.shape(colour, [value for corner in corners for value in corner])

    def text(self, colour: str, left: int, top: int, text: str, size: int = 3) -> None:
        """Write in small capitals and digits."""
        for index, sign in enumerate(text):
            for row, dots in enumerate(FONT[sign]):
                for column in range(3):
                    if int(dots) & (4 >> column):
                        x, y = left + (4 * index + column) * size, top + row * size
                        self.rect(colour, x, y, x + size, y + size)


def _is_near(start: Point, end: Point, most: float, x: float, y: float) -> bool:
    """Say whether a point lies near the line between two others."""
    across, down = end[0] - start[0], end[1] - start[1]
    along = ((x - start[0]) * across + (y - start[1]) * down) / (across * across + down * down)
    along = min(1.0, max(0.0, along))
    return math.hypot(x - start[0] - along * across, y - start[1] - along * down) <= most


def _encloses(corners: Sequence[Point], x: float, y: float) -> bool:
    crossings = 0
    for (x1, y1), (x2, y2) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            crossings += 1
    return crossings % 2 == 1


def scenes() -> dict[str, tuple[str, list[list[str]]]]:
    """Return the background and the shapes of each scene."""
    found: dict[str, tuple[str, list[list[str]]]] = {}
    name = ""
    for line in SCENES.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if line.startswith(" "):
            found[name][1].append(words)
        else:
            name, background = words
            found[name] = (background, [])
    return found


def _put(picture: Picture, kind: str, colour: str, given: Sequence[str]) -> None:
    if kind == "text":
        left, top, words, size = given
        picture.text(colour, int(left), int(top), words, int(size))
        return
    numbers = [float(number) for number in given]
    if kind in ("line", "shape"):
        getattr(picture, kind)(colour, numbers)
    else:
        getattr(picture, kind)(colour, *numbers)


def _half(pixels: Pixels) -> Pixels:
    return [line if y < HEIGHT * 3 // 5 else [COLOURS["black"]] * WIDTH for y, line in enumerate(pixels)]


def _covered(pixels: Pixels) -> Pixels:
    return [
        [COLOURS["grey"] if x > 84 and y > 50 else colour for x, colour in enumerate(line)]
        for y, line in enumerate(pixels)
    ]


def _dark(pixels: Pixels) -> Pixels:
    return [[(red // 3, green // 3, blue // 3) for red, green, blue in line] for line in pixels]


def _coarse(pixels: Pixels) -> Pixels:
    def mean(left: int, top: int) -> Colour:
        block = [pixels[y][x] for y in range(top, top + 3) for x in range(left, left + 3)]
        red, green, blue = (sum(colour[part] for colour in block) // 9 for part in range(3))
        return red, green, blue

    return [[mean(x // 3 * 3, y // 3 * 3) for x in range(WIDTH)] for y in range(HEIGHT)]


def _turned(pixels: Pixels) -> Pixels:
    return [list(line) for line in zip(*reversed(pixels), strict=True)]


QUALITIES: dict[str, Callable[[Pixels], Pixels]] = {
    "normal": lambda pixels: pixels,
    "low light": _dark,
    "blurred": _coarse,
    "truncated": _half,
    "occluded": _covered,
    "rotated": _turned,
}


def draw(name: str, quality: str = "normal") -> bytes:
    """Return a scene as a PNG file."""
    background, shapes = scenes()[name]
    picture = Picture(background)
    for kind, colour, *given in shapes:
        _put(picture, kind, colour, given)
    return as_png(QUALITIES[quality](picture.pixels))


def as_png(pixels: Pixels) -> bytes:
    """Return pixels as a PNG file with a palette, or in full colour where there are too many."""
    palette = sorted({colour for line in pixels for colour in line})
    if len(palette) <= 256:
        number = {colour: index for index, colour in enumerate(palette)}
        lines = b"".join(b"\0" + bytes(number[colour] for colour in line) for line in pixels)
    else:
        lines = b"".join(b"\0" + bytes(part for colour in line for part in colour) for line in pixels)
    kind = 3 if len(palette) <= 256 else 2
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, kind, 0, 0, 0))]
    if kind == 3:
        chunks.append((b"PLTE", bytes(part for colour in palette for part in colour)))
    chunks += [(b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    packed = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def wanted() -> dict[str, str]:
    """Return the quality of each image that the sample names."""
    features = json.loads((SAMPLE / "dataset_info.json").read_bytes())["features"]["turns"]["feature"]
    names = features["image_quality"]["names"]
    found: dict[str, str] = {}
    for line in (SAMPLE / "conversations.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        turns = row["turns"]
        first = turns["image_quality"][0] if isinstance(turns, dict) else turns[0]["image_quality"]
        found[Path(row["image"]).stem] = names[first]
    return found


def main() -> None:
    """Draw every image of the sample."""
    for name, quality in wanted().items():
        data = draw(name, quality)
        if len(data) >= LARGEST:
            sys.exit(f"{name}.png has {len(data)} bytes")
        (SAMPLE / "images" / f"{name}.png").write_bytes(data)
        print(f"{name}.png {len(data)}")


if __name__ == "__main__":
    main()
