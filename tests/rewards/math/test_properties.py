"""What holds for any text and any expression."""

from time import process_time

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from adjudge.rewards.math import compare

NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.decimals(-1000, 1000, allow_nan=False, places=3).map(str),
    st.tuples(st.integers(-99, 99), st.integers(1, 99)).map(lambda pair: rf"\frac{{{pair[0]}}}{{{pair[1]}}}"),
)


def _expressions(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map(lambda pair: rf"\left({pair[0]}+{pair[1]}\right)"),
        st.tuples(inner, inner).map(lambda pair: rf"({pair[0]}) \cdot ({pair[1]})"),
        inner.map(lambda one: rf"\sqrt{{{one}}}"),
        inner.map(lambda one: rf"({one})^2"),
        st.tuples(inner, inner).map(lambda pair: rf"\left({pair[0]}, {pair[1]}\right)"),
    )


SCALARS = st.recursive(st.one_of(NUMBERS, st.sampled_from(["x", "y", r"\pi", "e"])), _expressions, max_leaves=5)
TEXTS = st.one_of(
    st.text(),
    st.text(alphabet=r"\{}()[]$^_+-*/=<>|,;:.!%0123456789abxyz "),
    st.lists(
        st.sampled_from(
            [
                r"\boxed{",
                "}",
                r"\frac",
                "{1}",
                "{x}",
                "^",
                "_",
                r"\text{",
                "or",
                "and",
                r"\sqrt",
                "(",
                ")",
                "1",
                "-",
                "answer is",
            ]
        ),
        max_size=30,
    ).map("".join),
)


@given(TEXTS, st.one_of(TEXTS, SCALARS))
@settings(max_examples=400)
@example("\ud800", "\udfff")
@example("\x00", "\\boxed{\x00}")
def test_never_raises(response: str, gold: str) -> None:
    """Any two texts get a verdict, and `equal` is None only for a gold that cannot be read."""
    verdict = compare(response, gold, limit_s=0.5)
    assert (verdict.equal is None) == (verdict.reason == "unparsed-gold")
    if verdict.span is not None:
        assert 0 <= verdict.span[0] <= verdict.span[1] <= len(response)


@given(SCALARS)
@settings(max_examples=150)
def test_gold_equals_itself(gold: str) -> None:
    """Every answer equals itself."""
    assert compare(rf"\boxed{{{gold}}}", gold).equal


@given(SCALARS, SCALARS)
@settings(max_examples=150)
def test_symmetry(one: str, other: str) -> None:
    """Without decimals, which round one way only, equality has no direction."""
    assume("." not in one + other)
    there, back = compare(rf"\boxed{{{one}}}", other), compare(rf"\boxed{{{other}}}", one)
    assert there.equal == back.equal


@given(SCALARS, st.sampled_from([" ", "  ", "\n", r"\, ", r"\; "]))
@settings(max_examples=150)
def test_white_space_means_nothing(gold: str, space: str) -> None:
    """Space around operators and brackets changes no verdict."""
    spread = gold.replace("+", f"{space}+{space}").replace(",", f",{space}").replace(r"\cdot", rf"{space}\cdot{space}")
    assert compare(rf"\boxed{{{space}{spread}{space}}}", gold).equal


@given(SCALARS)
@settings(max_examples=150)
def test_left_and_right_mean_nothing(gold: str) -> None:
    r"""`\left(` is `(`."""
    assert compare(rf"\boxed{{{gold}}}", gold.replace(r"\left", "").replace(r"\right", "")).equal


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))
def test_integers_are_exact(one: int, other: int) -> None:
    """Two integers are equal exactly when they are the same."""
    assert compare(rf"\boxed{{{one}}}", str(other)).equal is (one == other)


@given(st.integers(1, 10**6), st.integers(1, 10**4), st.integers(1, 50))
def test_fractions_reduce(top: int, bottom: int, factor: int) -> None:
    """A fraction equals itself extended, and not its neighbour."""
    gold = rf"\frac{{{top}}}{{{bottom}}}"
    assert compare(rf"\boxed{{{top * factor}/{bottom * factor}}}", gold).equal
    assert not compare(rf"\boxed{{{top * factor + 1}/{bottom * factor}}}", gold).equal


def _seconds(text: str) -> float:
    start = process_time()
    compare(text, "1")
    return process_time() - start


def test_linear_time() -> None:
    """Four times the input takes at most about four times the CPU time, up to 1 MB."""
    pieces = (
        "lorem ipsum dolor 12 ", r"\boxed{1} ", "answer: . ", "so $x=1$ and ", "{", "$", "<answer>1", "therefore 1. ",
        "<think>", r"\boxed{1} and ", "1 ", "final answer ", "####", "\\", "<|im_end|>",
    )  # fmt: skip
    for piece in pieces:
        small, large = piece * (250_000 // len(piece)), piece * (1_000_000 // len(piece))
        is_linear = any(_seconds(large) <= 6 * _seconds(small) + 0.05 for _ in range(5))
        assert is_linear, f"{piece!r} takes more than linear time"
