"""The reliability curve: where its marks stand, by the scale that the drawing itself shows."""

import re
from itertools import pairwise
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges._curve import reliability_svg
from adjudge.statistics import Reliability, reliability

SVG = "{http://www.w3.org/2000/svg}"
TENTHS = ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
rows = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


def found_in(pairs: list[tuple[float, bool]]) -> Reliability:
    """Return the reliability of some rows."""
    found = reliability([p for p, _ in pairs], [label for _, label in pairs])
    assert found is not None
    return found


def drawn(pairs: list[tuple[float, bool]], title: str = "m") -> Element:
    """Return the drawing of some rows, read as the XML that it is."""
    return fromstring(reliability_svg(found_in(pairs), title))  # noqa: S314 (our own)


def numbers(element: Element, *names: str) -> list[float]:
    """Return attributes as numbers."""
    return [float(element.attrib[name]) for name in names]


def paths(svg: Element, stroke: str) -> list[list[float]]:
    """Return the numbers of the lines of one colour."""
    found = [one for one in svg.iter(f"{SVG}path") if one.get("stroke") == stroke]
    return [[float(number) for number in re.findall(r"[\d.]+", one.attrib["d"])] for one in found]


def texts(svg: Element) -> list[Element]:
    """Return what is written."""
    return list(svg.iter(f"{SVG}text"))


def scale(svg: Element) -> tuple[float, float, float, float]:
    """Return where 0 and 1 stand, from left to right and from the bottom up, by the lines of the grid."""
    grid = paths(svg, "#e5e5e5")
    (left, bottom, _, _, _, _), (right, _, _, _, top, _) = grid[0], grid[-1]
    return left, right, bottom, top


@given(rows)
def test_points_stand_where_their_numbers_are(pairs: list[tuple[float, bool]]) -> None:
    """Each bin is a point at its probability and its share, joined by a line, with its numbers as words."""
    svg, bins = drawn(pairs), found_in(pairs).bins
    left, right, bottom, top = scale(svg)
    wanted = [(left + (right - left) * one.probability, bottom + (top - bottom) * one.share) for one in bins]
    circles = list(svg.iter(f"{SVG}circle"))
    for circle, place, one in zip(circles, wanted, bins, strict=True):
        assert numbers(circle, "cx", "cy") == pytest.approx(place, abs=0.051)
        assert circle[0].text == f"{one.n:,} rows: said {one.probability:.2f}, right {one.share:.2f}"
    (line,) = svg.iter(f"{SVG}polyline")
    assert line.attrib["points"].split(" ") == [f"{one.attrib['cx']},{one.attrib['cy']}" for one in circles]


def test_more_rows_are_a_larger_point() -> None:
    """Beyond its least size, the area of a point goes with the share of the rows."""
    svg = drawn([(0.95, True)] * 64 + [(0.55, True)] * 16 + [(0.25, False)] * 20)
    small, middle, large = (numbers(one, "r")[0] for one in svg.iter(f"{SVG}circle"))
    assert (small, middle, large) == pytest.approx((3 + 14 * 0.2**0.5, 3 + 14 * 0.4, 3 + 14 * 0.8), abs=0.051)


def test_intervals_are_wilsons() -> None:
    """Through each point goes a line over Wilson's interval of its share: for 6 of 10 from .3127 to .8318."""
    svg = drawn([(0.65, True)] * 6 + [(0.65, False)] * 4)
    _, _, bottom, top = scale(svg)
    ((x, low, high),) = paths(svg, "#2563eb")
    assert x == numbers(next(svg.iter(f"{SVG}circle")), "cx")[0]
    assert (low, high) == pytest.approx([bottom + (top - bottom) * end for end in (0.312674, 0.831820)], abs=0.051)


def test_the_scale_is_square_and_written() -> None:
    """Both scales go from 0 to 1 by fifths, with their numbers beside them, and the diagonal joins their ends."""
    svg = drawn([(0.9, True)])
    left, right, bottom, top = scale(svg)
    assert right - left == bottom - top == 320
    below = [one for one in texts(svg) if one.get("text-anchor") == "middle" and "x" in one.attrib]
    beside = [one for one in texts(svg) if one.get("text-anchor") == "end"]
    assert [one.text for one in below] == [*TENTHS, "probability of CORRECT"]
    assert [one.text for one in beside] == TENTHS
    fifths = [n / 5 for n in range(6)]
    assert [numbers(one, "x")[0] for one in below] == pytest.approx([*(left + 320 * n for n in fifths), left + 160])
    heights = [numbers(one, "y")[0] for one in beside]
    assert [one - other for one, other in pairwise(heights)] == pytest.approx([64.0] * 5)
    for fifth, line in zip(fifths, paths(svg, "#e5e5e5"), strict=True):
        assert line == pytest.approx([left + 320 * fifth, bottom, top, left, bottom - 320 * fifth, right])
    assert paths(svg, "#999") == [[left, bottom, right, top]]
    assert all(numbers(one, "y")[0] > bottom for one in below)
    assert all(numbers(one, "x")[0] < left for one in beside)
    assert texts(svg)[-1].text == "share that is right"
    assert texts(svg)[-1].attrib["transform"] == f"translate(16 {(bottom + top) / 2}) rotate(-90)"


def test_everything_is_inside() -> None:
    """No mark stands outside of the drawing, and the background covers it."""
    svg = drawn([(0.0, False), (1.0, True)])
    width, height = numbers(svg, "width", "height")
    assert svg.attrib["viewBox"] == f"0 0 {width:g} {height:g}"
    assert numbers(svg[0], "width", "height") == [width, height]
    assert not any((one.tail or "").strip() for one in svg.iter())
    for x, y in [numbers(one, "x", "y") for one in texts(svg) if "x" in one.attrib]:
        assert 0 < x < width
        assert 0 < y < height
    for x, y, r in [numbers(one, "cx", "cy", "r") for one in svg.iter(f"{SVG}circle")]:
        assert r <= x <= width - r
        assert r <= y <= height - r


@pytest.mark.parametrize(
    ("title", "written"),
    [("local:0 <b> & 'co'", "local:0 <b> & 'co'"), ("m" * 45, "m" * 45), ("m" * 46, f"{'m' * 44}…")],
)
def test_titles(title: str, written: str) -> None:
    """A title is text, whatever is in it, and cut where it does not fit; below it stand the error and the rows."""
    name, under, *_ = texts(drawn([(0.9, True)] * 1500, title))
    assert name.text == written
    assert under.text == "calibration error 0.100 over 1,500 rows"
    assert reliability_svg(found_in([(0.9, True)]), title).endswith("</svg>\n")
