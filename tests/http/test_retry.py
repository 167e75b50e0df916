"""When to try again."""

import random
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.http import is_transient, retry_after_s
from adjudge.http._retry import backoff_s, quotas


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": " 0.25 "}, 0.25),
        ({"retry-after": "86400"}, 86400.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": formatdate(1_000_030, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "9" * 400}, float("inf")),
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e3"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": "Wed, 99 Foo 2026 00:00:00 GMT"}, None),
        ({"retry-after": "٣"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, fractions, milliseconds and dates are read; whatever is none of these says nothing."""
    assert retry_after_s(headers, now=1_000_000) == seconds


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms"]), st.text()))
def test_any_header_is_read(headers: dict[str, str]) -> None:
    """No header makes the reader raise, and no wait is negative or not a number."""
    seconds = retry_after_s(headers)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [("1s", 1.0), ("6m0s", 360.0), ("20ms", 0.02), ("1h2m3.5s", 3723.5), ("7.66s", 7.66), ("12", 12.0)],
)
def test_how_long_until_there_are_more(reset: str, seconds: float) -> None:
    """Durations in the units that servers use are read."""
    headers = {"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": reset}
    [(left, until_s, _)] = quotas(headers)
    assert left == 9
    assert until_s == pytest.approx(seconds)


def test_quotas_of_calls_and_tokens() -> None:
    """Anthropic's headers have moments, and tokens beside calls."""
    at = "1970-01-12T13:47:10Z"
    names = {"requests": "50", "tokens": "8000", "input-tokens": "4000", "output-tokens": "1000"}
    headers = {f"anthropic-ratelimit-{name}-remaining": left for name, left in names.items()}
    headers |= {f"anthropic-ratelimit-{name}-reset": at for name in names}
    assert quotas(headers, now=1_000_000) == [
        (50.0, 30.0, False),
        (8000.0, 30.0, True),
        (4000.0, 30.0, True),
        (1000.0, 30.0, True),
    ]


@given(st.text(), st.text())
def test_any_quota_is_read(remaining: str, reset: str) -> None:
    """No header makes the reader raise, and nothing negative comes of it."""
    headers = {"x-ratelimit-remaining-tokens": remaining, "x-ratelimit-reset-tokens": reset}
    assert all(left >= 0 and seconds >= 0 for left, seconds, _ in quotas(headers))


@given(st.integers(1, 10_000), st.integers())
def test_jitter_is_full_and_bounded(attempt: int, seed: int) -> None:
    """A wait lies between nothing and a bound that doubles up to eight seconds."""
    assert 0 <= backoff_s(attempt, random.Random(seed)) <= min(8.0, 0.25 * 2 ** min(attempt - 1, 6))  # noqa: S311 (jitter)


def test_what_may_pass() -> None:
    """408, 409, 425, 429 and 5xx are worth another attempt, other refusals are not."""
    assert [status for status in range(300, 531) if is_transient(status)] == [408, 409, 425, 429, *range(500, 531)]
