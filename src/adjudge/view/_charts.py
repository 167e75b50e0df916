"""Small pictures as SVG, made on the server: distributions, intervals, trends, reliability.

Plain shapes with classes, whose colours are the style sheet's: nothing inline that a content security policy would have
to allow. Each has a title that says the same in words.
"""

from collections.abc import Sequence
from html import escape

from adjudge.statistics import Mean, Reliability
from adjudge.view._figures import HistogramBar
from adjudge.view._text import decimal

WIDTH, HEIGHT = 260, 64


def histogram(bins: Sequence[HistogramBar], name: str) -> str:
    """Return the distribution of a score; each bar says its range and count."""
    if not bins:
        return ""
    tallest = max(one.count for one in bins) or 1
    step = WIDTH / len(bins)
    bars = []
    for at, one in enumerate(bins):
        # A bar of a few rows among many must not vanish.
        height = 0.0 if not one.count else max(2.0, HEIGHT * one.count / tallest)
        words = f"{one.low:g} to {one.high:g}: {one.count:,}"
        bars.append(
            f'<rect class="bar" x="{at * step + 0.5:.2f}" y="{HEIGHT - height:.2f}" width="{step - 1:.2f}"'
            f' height="{height:.2f}"><title>{words}</title></rect>'
        )
    ends = f'<text x="0" y="{HEIGHT + 14}">{bins[0].low:g}</text>'
    ends += f'<text x="{WIDTH}" y="{HEIGHT + 14}" text-anchor="end">{bins[-1].high:g}</text>'
    most = max(bins, key=lambda one: one.count)
    words = f"Distribution of {name}: most values, {most.count:,}, lie in {most.low:g} to {most.high:g}"
    return _svg("histogram", WIDTH, HEIGHT + 18, words, "".join(bars) + ends)


def interval_bar(mean: Mean | None, range_: tuple[float, float] | None) -> str:
    """Return a mean with its interval on the scale of its scorer."""
    if mean is None:
        return ""
    low, high = range_ or (min(0.0, mean.low or mean.value), max(1.0, mean.high or mean.value))
    scale = 120 / ((high - low) or 1.0)

    def place(value: float) -> float:
        return 2 + min(max((value - low) * scale, 0.0), 120.0)

    shapes = '<line class="axis" x1="2" x2="122" y1="8" y2="8"/>'
    words = f"mean {decimal(mean.value)}"
    if mean.low is not None and mean.high is not None:
        shapes += f'<line class="whisker" x1="{place(mean.low):.1f}" x2="{place(mean.high):.1f}" y1="8" y2="8"/>'
        words += f", 95 % interval {decimal(mean.low)} to {decimal(mean.high)}"
    shapes += f'<circle class="dot" cx="{place(mean.value):.1f}" cy="8" r="3.5"/>'
    return _svg("interval", 124, 16, words, shapes)


def difference_bar(value: float, low: float | None, high: float | None, reach: float) -> str:
    """Return a difference with its interval around zero; `reach` is the farthest that any on the page goes."""
    scale = 60 / (reach or 1.0)

    def place(one: float) -> float:
        return 62 + min(max(one * scale, -60.0), 60.0)

    shapes = '<line class="axis" x1="2" x2="122" y1="8" y2="8"/><line class="zero" x1="62" x2="62" y1="1" y2="15"/>'
    words = f"difference {value:+.4f}"
    if low is not None and high is not None:
        side = "better" if low > 0 else "worse" if high < 0 else "open"
        shapes += f'<line class="whisker {side}" x1="{place(low):.1f}" x2="{place(high):.1f}" y1="8" y2="8"/>'
        words += f", interval {low:+.4f} to {high:+.4f}"
    shapes += f'<circle class="dot" cx="{place(value):.1f}" cy="8" r="3.5"/>'
    return _svg("interval", 124, 16, words, shapes)


def trend(values: Sequence[float]) -> str:
    """Return the values of runs with one name, the oldest first, as a line."""
    return _line("trend", values, 80, 20, "runs")


def course(values: Sequence[float]) -> str:
    """Return how a figure went from window to window, as a line between its least and its greatest value."""
    return _line("course", values, 320, 34, "windows")


def _line(name: str, values: Sequence[float], width: int, height: int, what: str) -> str:
    """Return values as a line with a dot at the last one; a single value has no line."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    step, scale = (width - 4) / (len(values) - 1), (height - 6) / ((high - low) or 1.0)
    places = [(2 + at * step, height - 3 - (value - low) * scale) for at, value in enumerate(values)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    words = f"from {decimal(values[0])} to {decimal(values[-1])} over {len(values):,} {what}"
    shapes = f'<polyline class="trend" points="{points}"/>'
    shapes += f'<circle class="dot" cx="{places[-1][0]:.1f}" cy="{places[-1][1]:.1f}" r="2.5"/>'
    return _svg(name, width, height, words, shapes)


def outcome_bar(scored: int, unscored: int, error: int, waiting: int = 0) -> str:
    """Return the three outcomes, and rows that wait, as shares of a bar."""
    counts = {"scored": scored, "unscored": unscored, "error": error, "waiting": waiting}
    total = sum(counts.values()) or 1
    shapes, x = "", 0.0
    for name, count in counts.items():
        width = 80 * count / total
        # One error among thousands must be seen.
        width = max(width, 2.0) if count else 0.0
        shapes += f'<rect class="{name}" x="{x:.2f}" y="3" width="{min(width, 80 - x):.2f}" height="8"/>'
        x = min(x + width, 78.0)
    words = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count or name != "waiting")
    return _svg("outcomes", 80, 14, words, shapes)


def split_bar(right: int, wrong: int) -> str:
    """Return the shares of right and wrong rows as a bar."""
    width = 170 * right / ((right + wrong) or 1)
    shapes = f'<rect class="right" x="0" y="2" width="{width:.2f}" height="8"/>'
    shapes += f'<rect class="wrong" x="{width:.2f}" y="2" width="{170 - width:.2f}" height="8"/>'
    return _svg("split-bar", 170, 12, f"{right:,} right, {wrong:,} wrong", shapes)


def reliability_diagram(found: Reliability) -> str:
    """Return how often a judge is right at each of its probabilities; on the diagonal it is as sure as it should be."""
    size = 220
    shapes = f'<rect class="frame" x="30" y="4" width="{size}" height="{size}"/>'
    shapes += f'<line class="axis" x1="30" y1="{size + 4}" x2="{size + 30}" y2="4"/>'
    most = max((one.n for one in found.bins), default=1) or 1
    for one in found.bins:
        if one.n:
            x, y = 30 + one.probability * size, 4 + (1 - one.share) * size
            radius = 3 + 7 * (one.n / most) ** 0.5
            words = f"{one.n:,} rows: said {one.probability:.2f}, right {one.share:.2f}"
            shapes += f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>{words}</title></circle>'
    shapes += f'<text x="30" y="{size + 20}">0</text><text x="{size + 30}" y="{size + 20}" text-anchor="end">1</text>'
    shapes += f'<text x="{size / 2 + 30}" y="{size + 20}" text-anchor="middle">probability that the judge gave</text>'
    return _svg("reliability", size + 40, size + 26, "Share of rows that are right, by the judge's probability", shapes)


def _svg(name: str, width: int, height: int, words: str, shapes: str) -> str:
    """Return a picture with its title, which is what a screen reader says."""
    title = escape(words, quote=True)
    return (
        f'<svg class="{name}" role="img" aria-label="{title}" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}">{shapes}</svg>'
    )
