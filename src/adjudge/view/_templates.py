"""The templates, which escape everything, and the words that they share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from adjudge import __version__, comparison
from adjudge.errors import MissingExtra
from adjudge.statistics import Estimate, Mean
from adjudge.view import _charts
from adjudge.view._rows import number, tone_of
from adjudge.view._text import cut, decimal, one_line, pretty, shown

try:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup
except ImportError:
    raise MissingExtra.of("view", "the viewer") from None

FOLDER = Path(__file__).parent


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the templates."""
    found = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "address": address,
        "change": change,
        "cut": cut,
        "decimal": decimal,
        "ends": ends,
        "estimate": estimate,
        "interval": interval,
        "markup": Markup,  # of our own style sheet alone
        "money": money,
        "number": number,
        "one_line": one_line,
        "plain_interval": plain_interval,
        "pretty": pretty,
        "rows": rows,
        "seconds": seconds,
        "shown": shown,
        "signed_interval": signed_interval,
        "tone": tone_of,
        "when": when,
    }
    found.globals |= {
        "charts": {name: _drawn(name) for name in CHARTS},
        "version": __version__,
    }
    return found


CHARTS = (
    "course",
    "difference_bar",
    "histogram",
    "interval_bar",
    "outcome_bar",
    "reliability_diagram",
    "split_bar",
    "trend",
)


def _drawn(name: str) -> Any:
    """Return a chart as markup: it is ours, and its texts are escaped where it is drawn."""
    draw = getattr(_charts, name)
    return lambda *given: Markup(draw(*given))  # noqa: S704 (see above)


def render(template: str, **values: Any) -> str:
    """Return a page; half a character, which no page can hold, is replaced."""
    text = environment().get_template(template).render(**values)
    return text.encode("utf-8", "replace").decode()


def address(values: Mapping[str, str]) -> str:
    """Return values as the query of an address; empty ones are left out."""
    return urlencode({name: value for name, value in values.items() if value}, errors="replace")


def estimate(found: Estimate | None) -> str:
    """Return the value of an estimate as text."""
    return comparison.number(None if found is None else found.value)


def change(found: Estimate | None) -> str:
    """Return a difference as text, with its sign."""
    return comparison.number(None if found is None else found.value, signed=True)


def plain_interval(found: Estimate | None) -> str:
    """Return the interval of an estimate as text."""
    return comparison.interval(found, signed=False)


def signed_interval(found: Estimate | None) -> str:
    """Return the interval of a difference as text."""
    return comparison.interval(found)


def interval(mean: Mean | None) -> str:
    """Return an interval as text.

    >>> interval(Mean(0.5, 0.25, 0.75, 4, "t"))
    '0.2500 .. 0.7500'
    """
    return (
        "–" if mean is None or mean.low is None or mean.high is None else f"{decimal(mean.low)} .. {decimal(mean.high)}"
    )


def rows(count: int) -> str:
    """Return how many rows there are as text."""
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def ends(text: object, most: int) -> str:
    """Return a name whose end may matter as much as its beginning.

    >>> ends("a" * 40 + "b", 11)
    'aaaaaa…aaab'
    """
    whole = str(text)
    tail = most // 3 + 1
    return shown(whole if len(whole) <= most else f"{whole[: most - tail - 1]}…{whole[-tail:]}", most)


def seconds(value: float | None) -> str:
    """Return a time as text.

    >>> [seconds(one) for one in (0.0042, 1.234, 75.0, None)]
    ['4 ms', '1.2 s', '1 min 15 s', '–']
    """
    if value is None:
        return "–"
    if value < 1.0:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 60 else f"{int(value // 60)} min {int(value % 60)} s"


def money(value: float | None) -> str:
    """Return dollars as text."""
    return "–" if value is None else f"${value:,.4f}" if value < 1 else f"${value:,.2f}"


def when(value: float | str | None) -> str:
    """Return a time, given as seconds since 1970 or as ISO 8601, in this machine's time zone."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value or 0.0, UTC)
        return moment.astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OSError, OverflowError):
        return shown(value, 40)
