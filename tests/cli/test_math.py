"""`adjudge math` says whether two answers are equal, why, and by an exit code."""

import subprocess
import sys

import pytest


def math(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return subprocess.run(
        [sys.executable, "-m", "adjudge", "math", *arguments], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        ((r"So $\boxed{\frac{1}{2}}$.", "0.5"), 0, ["equal", "exact-rational", r"\frac{1}{2}", "characters 11 to 22"]),
        (("-3", "3"), 1, ["not equal", "mismatch: -3 is not 3"]),
        (("41 or 42", "42"), 1, ["not equal", "hedged"]),
        ((r"\boxed{4}", r"\frac{1}{"), 3, ["undecided", "unparsed-gold"]),
        (("--extraction", "lenient", "I get 7 in the end, I think, after all", "7"), 0, ["equal"]),
        (("\x1b[31m4", "4"), 1, ["not equal"]),
    ],
)
def test_verdict_and_exit_code(arguments: tuple[str, ...], code: int, shown: list[str]) -> None:
    """0 equal, 1 not equal, 3 a gold that cannot be read; the reason and the answer are shown, escapes are not."""
    result = math(*arguments)
    assert result.returncode == code, result.stderr
    assert all(text in result.stdout for text in shown), result.stdout
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("arguments", [("4",), ("4", "4", "--limit", "0"), ("4", "4", "--extraction", "all")])
def test_a_wrong_call_is_2(arguments: tuple[str, ...]) -> None:
    """A missing answer or a senseless option is one line and exit code 2."""
    result = math(*arguments)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
