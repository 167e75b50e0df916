"""What the server counts, as Prometheus reads it: rows by outcome and reason, requests, batches, queue, latency.

The reason of a row is the code of its score, which is the same for all rows with that fault. Codes come from scorers,
which may be somebody's own: odd ones, and those beyond the first hundred, are counted as `other`.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
MOST_CODES = 100
_CODE = re.compile(r"[a-z0-9-]{0,40}")


@dataclass(slots=True)
class Metrics:
    """The counts of one server."""

    rows: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # scorer, status, code
    requests: Counter[tuple[str, int]] = field(default_factory=Counter)  # path, status of the reply
    seconds: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds_sum: float = 0.0
    batches: int = 0
    failed_batches: int = 0  # of which a process died, or was killed
    queued: int = 0  # rows that wait or are being scored

    def add_rows(self, scorer: str, codes: Mapping[str, int]) -> None:
        """Count scored rows, given as `status code`."""
        for found, count in codes.items():
            status, _, code = found.partition(" ")
            key = (scorer, status, code if not code or _CODE.fullmatch(code) else "other")
            if key not in self.rows and len(self.rows) >= MOST_CODES:
                key = (scorer, status, "other")
            self.rows[key] += count

    def add_request(self, path: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self.requests[path, status] += 1
        self.seconds[bisect_left(BOUNDS, seconds)] += 1
        self.seconds_sum += seconds

    def as_text(self) -> str:
        """Return all of it in Prometheus' text format."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "# TYPE adjudge_rows_total counter"
        for (scorer, status, code), count in sorted(self.rows.items()):
            labels = f'scorer="{_escaped(scorer)}",status="{status}",reason="{code}"'
            yield f"adjudge_rows_total{{{labels}}} {count}"
        yield "# TYPE adjudge_requests_total counter"
        for (path, answered), count in sorted(self.requests.items()):
            yield f'adjudge_requests_total{{path="{path}",status="{answered}"}} {count}'
        yield "# TYPE adjudge_request_seconds histogram"
        total = 0
        for bound, count in zip((*BOUNDS, "+Inf"), self.seconds, strict=True):
            total += count
            yield f'adjudge_request_seconds_bucket{{le="{bound}"}} {total}'
        yield f"adjudge_request_seconds_sum {self.seconds_sum:.6f}"
        yield f"adjudge_request_seconds_count {total}"
        for name, kind, number in (
            ("batches_total", "counter", self.batches),
            ("failed_batches_total", "counter", self.failed_batches),
            ("queued_rows", "gauge", self.queued),
        ):
            yield f"# TYPE adjudge_{name} {kind}"
            yield f"adjudge_{name} {number}"


def _escaped(name: str) -> str:
    return name.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
