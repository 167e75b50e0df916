"""A picture for every item, drawn by us as SVG: what it is, in the colour that was chosen, or its first."""

from functools import cache
from html import escape
from importlib.resources import files
from zlib import crc32

from adjudge.environments.webshop._colours import colour_of
from adjudge.environments.webshop._goods import Item

__all__ = ["picture"]

_BOX = '<path d="M10 22l22-10 22 10v24L32 56 10 46z"/><path d="M10 22l22 10 22-10M32 32v24" fill="none"/>'

_PAINT = {
    "black": "#3a3f47",
    "white": "#fbfaf7",
    "navy": "#2d3f73",
    "red": "#c8473f",
    "green": "#3f7d57",
    "grey": "#9aa1ab",
    "rose gold": "#dca597",
    "gold": "#d8b04a",
    "teal": "#2f8f8b",
    "mustard": "#d29f2b",
    "lilac": "#b79ad6",
}
_PLAIN = ("#8fb3c9", "#c9b38f", "#a9c58f", "#c99a8f", "#a99ac9", "#8fc4b4")  # where there is none to choose


@cache
def _shapes() -> dict[str, str]:
    """Return the shapes by kind of thing, in a field of 64 by 64; `currentColor` is the item's colour."""
    text = files("adjudge.environments.webshop").joinpath("pictures.txt").read_text(encoding="utf-8")
    pairs = (line.partition(": ") for line in text.splitlines())
    return {name: shape for name, _, shape in pairs}


def picture(item: Item, options: tuple[str, ...] = ()) -> str:
    """Return the item's picture as SVG, with its title as its description."""
    values = (*options, *(value for axis in item.options.values() for value in axis))  # the first colour to be had
    paints = (_PAINT.get(colour_of(value) or "") for value in values)
    colour = next((paint for paint in paints if paint is not None), _PLAIN[crc32(item.asin.encode()) % len(_PLAIN)])
    return (
        f'<svg class="picture" viewBox="0 0 64 64" role="img" aria-label="{escape(item.title)}" color="{colour}"'
        ' fill="currentColor" stroke="#2c3038" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round">'
        f"{_shapes().get(item.query, _BOX)}</svg>"
    )
