"""A reliability curve as SVG: how often a judge is right, against how confident it is."""

from html import escape

from adjudge.statistics import Moments, Reliability, mean_of

__all__ = ["reliability_svg"]

_SIZE, _LEFT, _TOP = 320, 56, 48
_TITLE = 45  # letters of a title that fit
_STYLE = "font-family='system-ui, sans-serif' font-size='12' fill='#333'"


def reliability_svg(found: Reliability, title: str) -> str:
    """Draw the bins as points, larger for more rows, with intervals; on the diagonal confidence and accuracy are equal.

    >>> from adjudge.statistics import reliability
    >>> svg = reliability_svg(reliability([0.9, 0.2], [True, False]), "local:0 <b>")
    >>> svg.count("<circle"), "<b>" in svg
    (2, False)
    """
    rows = sum(each.n for each in found.bins)
    width, height = _SIZE + _LEFT + 24, _SIZE + _TOP + 52
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}'>",
        f"<rect width='{width}' height='{height}' fill='white'/>",
        f"<text x='{_LEFT}' y='18' {_STYLE} font-weight='600'>{escape(_cut(title))}</text>",
        f"<text x='{_LEFT}' y='33' {_STYLE}>calibration error {found.error:.3f} over {rows:,} rows</text>",
    ]
    for tenth in range(0, 11, 2):
        share = tenth / 10
        x, y = _x(share), _y(share)
        parts += [
            f"<path d='M{x} {_y(0)}V{_y(1)}M{_x(0)} {y}H{_x(1)}' stroke='#e5e5e5'/>",
            f"<text x='{x}' y='{_y(0) + 18}' {_STYLE} text-anchor='middle'>{share:.1f}</text>",
            f"<text x='{_LEFT - 8}' y='{y + 4}' {_STYLE} text-anchor='end'>{share:.1f}</text>",
        ]
    parts.append(f"<path d='M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}' stroke='#999' stroke-dasharray='4 4'/>")
    points = " ".join(f"{_x(each.probability)},{_y(each.share)}" for each in found.bins)
    parts.append(f"<polyline points='{points}' fill='none' stroke='#2563eb' stroke-width='1.5'/>")
    for each in found.bins:
        mean = mean_of(Moments(each.n, each.share))
        if mean is not None and mean.low is not None and mean.high is not None:
            x = _x(each.probability)
            parts.append(f"<path d='M{x} {_y(mean.low)}V{_y(mean.high)}' stroke='#2563eb' stroke-opacity='.45'/>")
        radius = round(3 + 14 * (each.n / rows) ** 0.5, 1)
        words = f"{each.n:,} rows: said {each.probability:.2f}, right {each.share:.2f}"
        parts.append(
            f"<circle cx='{_x(each.probability)}' cy='{_y(each.share)}' r='{radius}' fill='#2563eb' "
            f"fill-opacity='.55'><title>{words}</title></circle>"
        )
    middle = f"{_STYLE} text-anchor='middle'"
    parts += [
        f"<text x='{_x(0.5)}' y='{_y(0) + 38}' {middle}>probability of CORRECT</text>",
        f"<text transform='translate(16 {_y(0.5)}) rotate(-90)' {middle}>share that is right</text>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _cut(title: str) -> str:
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"


def _x(share: float) -> float:
    return round(_LEFT + share * _SIZE, 1)


def _y(share: float) -> float:
    return round(_TOP + (1.0 - share) * _SIZE, 1)
