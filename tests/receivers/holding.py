"""An endpoint in a process of its own that says how much memory it came to use.

It prints its address; for each line that it reads it prints the growth of its memory, in bytes, at its peak.
"""

import sys
from pathlib import Path

from adjudge.receivers import EndpointLimits, OtlpEndpoint
from receivers.spans import send, story, trace_id


def peak() -> int:
    """Return the most memory that this process has had, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def main(held: int) -> None:
    """Serve until nothing more is to be read."""
    with OtlpEndpoint(limits=EndpointLimits(held_bytes=held)) as endpoint:
        # Whatever is imported late is imported now.
        trace = trace_id()
        send(endpoint.url, *story(trace))
        endpoint.wait(trace, settle=0.01)
        before = peak()
        print(endpoint.url, flush=True)  # noqa: T201 (what this program is for)
        for _ in sys.stdin:
            counts = endpoint.counts
            print(peak() - before, counts.spans, counts.evicted, flush=True)  # noqa: T201 (same)


if __name__ == "__main__":
    main(int(sys.argv[1]))
