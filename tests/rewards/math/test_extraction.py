"""Where the answer is found, and what is not one."""

import pytest

from adjudge.rewards.math import MathPolicy, compare

FOUND = [
    ("42", "42"),
    ("**42**", "42"),
    (r"\[42\]", r"\[42\]"),
    ("$42$", "$42$"),
    ("= 42", "= 42"),
    ("x = 42.", "x = 42."),
    ("#### 42", "42"),
    ("<answer>42</answer>", "42"),
    ("Final Answer: **42**", "42"),
    ("ANSWER: 42", "42"),
    ("The answer is 17. Wait, the answer is 42.", "42"),
    ("The answer is:\n\n\\[\n42\n\\]", "\\[\n42\n\\]"),
    ("Reasoning...\nAnswer: 25", "25"),
    ("So the ordered pair that solves the system is $(7, 6)$.", "$(7, 6)$"),
    (
        "Therefore, there are 12 sequences that meet the conditions. I hope it is correct.",
        "12 sequences that meet the conditions",
    ),
    ("Final Answer: Jane started growing Sphere 3 hours ago.", "3"),
    ("The number is not 10 which is 1,000.99m²", "1,000.99"),
    (r"\boxed{1} is wrong. \boxed{2}", "2"),
    (r"First \boxed{41}. Correction: \boxed{42}", "42"),
    (r"\boxed{\boxed{42}}", "42"),
    (r"\boxed{1} and \boxed{2}", "1, 2"),
    (r"\boxed{1},\boxed{2}", "1, 2"),
    (r"\boxed{1} papers and \boxed{2} bins", "1, 2"),
    (r"\boxed{41} or \boxed{42}", "41, 42"),
    (r"$\boxed{20}$ percent", "20%"),
    (r"<think>\boxed{1}</think> \boxed{2}", "2"),
    (r"\boxed{255} ... Final Answer: The final answer is $10,455$.", "$10,455$"),
    (r"\boxed{a\{b\}c}", r"a\{b\}c"),
    ("The probability that Alice wins is 2/3. Therefore, it is 2/3. <|im_start|>user", "2/3"),
    (r"\fbox{7}", "7"),
]

MISSING = [
    ("", "no-answer"),
    ("   \n", "no-answer"),
    (r"\boxed{}", "no-answer"),
    (r"<think>\boxed{42}</think>", "no-answer"),
    (r"<think>so \boxed{42}", "no-answer"),
    (r"<THINK>\boxed{42}</THINK>", "no-answer"),
    (r"\boxed{42", "hedged"),
    (r"\boxed{41} then \boxed{42", "hedged"),
    ("lorem ipsum 42 " * 100, "no-answer"),
]


@pytest.mark.parametrize(("response", "answer"), FOUND)
def test_found(response: str, answer: str) -> None:
    """The last box, else the last statement, else a short whole text."""
    assert compare(response, "42").answer == answer


@pytest.mark.parametrize(("response", "reason"), MISSING)
def test_missing(response: str, reason: str) -> None:
    """What is empty, hidden in thinking or left open is no answer."""
    verdict = compare(response, "42")
    assert (verdict.equal, verdict.reason, verdict.answer) == (False, reason, None)


def test_modes() -> None:
    """`boxed` takes boxes only; `lenient` takes the last number of a long text."""
    long = "We go on and on about 41 and other things. " * 30 + "In the end there were 42 of them"
    assert compare("The answer is 42.", "42", policy=MathPolicy(extraction="boxed")).reason == "no-answer"
    assert compare(r"\boxed{42}", "42", policy=MathPolicy(extraction="boxed")).equal
    assert compare(long, "42").reason == "no-answer"
    assert compare(long, "42", policy=MathPolicy(extraction="lenient")).equal


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (r"Hence the sum is $\boxed{12\text{ and }13}$, to be precise.", "12, 13"),
        (r"\(\boxed{1}\) and \(\boxed{-2}\).", "-2, 1"),
        ("$8$,$4$", "4, 8"),
        ("$125$ miles", "125"),
        ("Long story. Final Answer: The final answer is $28 \\%$. I hope it is correct.", r"28\%"),
        ("\x0crac{1}{2}", r"\frac12"),
        (r"\\frac{1}{2}", r"\frac12"),
    ],
)
def test_golds_are_read_generously(gold: str, answer: str) -> None:
    """A gold may be a worked solution, several formulas, or LaTeX with damaged backslashes."""
    assert compare(rf"\boxed{{{answer}}}", gold).equal
