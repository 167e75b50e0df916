"""Formulas: the same one in another writing is right, another one is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._answer import given as given_by
from adjudge.judges.local._answer import unboxed
from adjudge.judges.local._formulas import by_formula, formulas_of
from adjudge.judges.local._pair import Candidate
from adjudge.judges.local._tier0 import assess

_TABLE = [
    (
        "Differentiate x^2.",
        "2x",
        [
            "2x",
            "$2x$",
            "2*x",
            "2 x",
            "\\(2x\\)",
            "The derivative is 2x.",
            "\\boxed{2x}",
            "f'(x) = 2x",
            "`2x`",
            "It's $2x$.",
            "y = 2x",
            "2·x",
            "2 \\cdot x",
        ],
        ["x^2/2", "2x^2", "x", "2", "2x + 1", "-2x", "3x", "\\boxed{x^2}", "The derivative is x/2.", "2y", "$2x^2$"],
    ),
    (
        "Solve 3x > 9.",
        "x > 3",
        ["x>3", "$x > 3$", "3 < x", "(3, \\infty)", "(3, ∞)", "x \\gt 3", "Therefore, x > 3.", "\\boxed{x > 3}"],
        ["x < 3", "x >= 3", "x ≥ 3", "x > -3", "x = 3", "[3, \\infty)", "x > 4", "\\boxed{x<3}"],
    ),
    (
        "What is the area of a circle?",
        "\\pi r^2",
        [
            "πr²",
            "pi r^2",
            "pi*r**2",
            "$\\pi r^2$",
            "A = \\pi r^2",
            "πr^2",
            "\\pi \\cdot r^{2}",
            "r^2 π",
            "The area is $\\pi r^2$.",
        ],
        ["2\\pi r", "πr", "2πr²", "πd", "\\pi r^3", "4\\pi r^2", "r^2"],
    ),
    (
        "What is the complexity of merge sort?",
        "O(n log n)",
        [
            "O(n log n)",
            "$O(n \\log n)$",
            "O(n*log(n))",
            "O(n log(n))",
            "`O(n log n)`",
            "It is O(n log n).",
            "linearithmic time",
            "O(nlogn)",
        ],
        [
            "O(n)",
            "O(log n)",
            "O(n^2)",
            "O(n² log n)",
            "logarithmic time",
            "linear time",
            "It runs in O(log n) time.",
            "quadratic",
        ],
    ),
    (
        "What is the complexity of a hash lookup?",
        "O(1)",
        ["constant time", "constant", "O(1) time", "$O(1)$", "It takes constant time."],
        ["O(n)", "linear time", "O(log n)", "logarithmic"],
    ),
    (
        "What is the complexity of bubble sort?",
        "quadratic time",
        ["O(n^2)", "O(n²)", "quadratic", "$O(n^2)$"],
        ["O(n)", "O(n log n)", "O(n^3)", "cubic time"],
    ),
    (
        "Simplify sqrt(8).",
        "2\\sqrt{2}",
        [
            "2√2",
            "2*sqrt(2)",
            "2 sqrt(2)",
            "$2\\sqrt{2}$",
            "\\boxed{2\\sqrt{2}}",
            "2\\sqrt2",
            "2 \\cdot \\sqrt{2}",
            "√8 = 2√2",
        ],
        ["4\\sqrt{2}", "\\sqrt{2}", "2\\sqrt{3}", "2√3", "√2/2", "\\boxed{4\\sqrt{2}}", "2"],
    ),
    (
        "State the mass-energy relation.",
        "E = mc^2",
        ["E=mc²", "E = m c^2", "$E = mc^2$", "E=mc2", "Einstein's formula is E = mc^2.", "E = mc**2"],
        ["E = mc", "E = m^2c", "E = mc^3", "E = ½mv²", "F = ma", "E = 2mc"],
    ),
    (
        "Solve x^2 = 4.",
        "x = \\pm 2",
        [
            "x = 2 or x = -2",
            "2 and -2",
            "{-2, 2}",
            "±2",
            "x = ±2",
            "x=2, x=-2",
            "-2 and 2",
            "x = -2 or 2",
            "\\boxed{\\pm 2}",
            "+/-2",
            "x = 2 and x = -2",
            "x ∈ {-2, 2}",
        ],
        ["x = 2", "2", "-2", "x = -2", "±4", "x = 2 or x = 3", "4", "x = ±3", "\\boxed{2}"],
    ),
    (
        "Solve x^2 - 5x + 6 = 0.",
        "x = 2 or x = 3",
        ["x = 3 or x = 2", "2 and 3", "{2, 3}", "2, 3", "x=2,3", "x = 2, x = 3", "\\{2,3\\}"],
        ["x = 2", "x = -2 or x = -3", "2 and 4", "x = 3", "{1, 6}"],
    ),
    (
        "Expand (a+b)^2.",
        "a^2 + 2ab + b^2",
        ["a² + 2ab + b²", "a^2+b^2+2ab", "$a^2 + 2ab + b^2$", "b^2 + 2ba + a^2", "(a+b)^2 = a^2 + 2ab + b^2"],
        ["a^2 + b^2", "a^2 - 2ab + b^2", "a^2 + ab + b^2", "2a + 2b"],
    ),
    (
        "Factor a^2+2ab+b^2.",
        "(a+b)^2",
        ["(a + b)^2", "(b+a)^2", "(a+b)²", "$(a+b)^2$", "(a+b)**2", "\\left(a+b\\right)^2"],
        ["(a-b)^2", "(a+b)^3", "(a+b)", "a + b", "(a+b)(a-b)"],
    ),
    (
        "What is the antiderivative of x/1?",
        "x^2/2 + C",
        ["\\frac{x^2}{2} + C", "x²/2 + C", "(1/2)x^2 + C", "\\frac{1}{2}x^2 + C", "C + x^2/2"],
        ["x^2 + C", "2x + C", "x^2/3 + C"],
    ),
    ("What is half of x?", "1/2 x", ["x/2", "\\frac{x}{2}", "\\frac{1}{2}x", "½x", "(1/2)x"], ["2x", "x/3", "x"]),
    (
        "Solve y' = y.",
        "y = Ce^x",
        ["Ce^x", "y = C e^x", "y=Ce^{x}", "$y = Ce^{x}$"],
        ["y = e^{-x}", "y = Ce^{2x}", "y = Cx"],
    ),
    (
        "What is sin^2 x + cos^2 x minus sin^2 x?",
        "cos^2 x",
        ["\\cos^2 x", "cos²x", "cos^2(x)", "\\cos^2(x)"],
        ["sin^2 x", "cos x", "sin x", "-cos^2 x"],
    ),
    (
        "Solve for x.",
        "3",
        ["3", "x = 3", "\\boxed{3}", "$3$", "x=3.", "The solution is $x=3$."],
        ["-3", "\\boxed{-3}", "$-3$", "x = -3", "x=-3", "`-3`"],
    ),
    (
        "Solve for x.",
        "-3",
        ["-3", "\\boxed{-3}", "$-3$", "x = -3", "x=-3", "−3", "x = −3"],
        ["3", "\\boxed{3}", "$3$", "x = 3"],
    ),
    (
        "Solve the inequality.",
        "x \\leq 5",
        ["x ≤ 5", "x <= 5", "(-\\infty, 5]", "5 >= x", "$x \\le 5$"],
        ["x < 5", "x ≥ 5", "(-\\infty, 5)", "x = 5"],
    ),
    (
        "Write the balanced equation.",
        "2H2 + O2 -> 2H2O",
        [
            "2H2 + O2 → 2H2O",
            "2 H2 + O2 --> 2 H2O",
            "2H_2 + O_2 \\rightarrow 2H_2O",
            "O2 + 2H2 → 2H2O",
            "2H₂ + O₂ = 2H₂O",
        ],
        [],
    ),
    (
        "What is the slope-intercept form?",
        "y = mx + b",
        ["y=mx+b", "$y = mx + b$", "y = b + mx"],
        ["y = mx", "y = mx - b", "x = my + b", "ax + by = c"],
    ),
    (
        "What is the speed in terms of d and t?",
        "v = d/t",
        ["d/t", "v=d/t", "v = \\frac{d}{t}", "\\frac{d}{t}"],
        ["v = t/d", "v = dt", "t/d"],
    ),
    ("Which plane has this designation?", "F-16", ["F-16", "the F-16", "F16"], ["F-15", "F-35"]),
    ("Is it applicable?", "N/A", ["N/A", "n/a"], []),
    ("How long is it?", "5 m", ["5 m", "5m", "5 metres", "five meters"], ["6 m", "5 km"]),
    ("How heavy is it?", "2 t", ["2 t", "2 tonnes", "2000 kg"], ["3 t"]),
]
_RIGHT = [(question, reference, one) for question, reference, right, _ in _TABLE for one in right]
_WRONG = [(question, reference, one) for question, reference, _, wrong in _TABLE for one in wrong]


@pytest.mark.parametrize(("question", "reference", "response"), _RIGHT)
def test_the_same_formula(question: str, reference: str, response: str) -> None:
    """Blanks, signs, brackets, the order of terms, the name before `=` and words around a formula do not count."""
    assert assess(question, (reference,), response).is_right


@pytest.mark.parametrize(("question", "reference", "response"), _WRONG)
def test_another_formula(question: str, reference: str, response: str) -> None:
    """Another sign, power, factor, side or number of solutions is another answer."""
    assert not assess(question, (reference,), response).is_right


@pytest.mark.parametrize(
    "text",
    [
        "F-16",
        "5 m",
        "9.8 m/s^2",
        "N/A",
        "5G",
        "X-ray",
        "a-ha",
        "7",
        "1/2",
        "Paris",
        "B+",
        "25°C",
        "AC/DC",
        "$5 million",
        r"\d+",
        "C++",
        "U2",
        "A minor",
        "World War II",
        "10-20",
        "3:2",
    ],
)
def test_no_formula(text: str) -> None:
    """A name, a quantity or a number is no formula."""
    assert not formulas_of([text])


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("2x", "two x"),
        ("2x", "It is not 2x."),
        ("2x", "I doubt that it is `2x`."),
        ("x = 0.33", "1/3"),
        ("x > 3", "x is more than 3"),
    ],
)
def test_what_is_not_plain_is_left_alone(reference: str, response: str) -> None:
    """Where words, a choice, rounding or an unclear line of a fraction play a part, formulas do not decide."""
    accepted = formulas_of([reference])
    assert accepted
    assert by_formula("Which is it?", accepted, Candidate(response)) is None


@pytest.mark.parametrize(
    ("reference", "response"),
    [("2x + 2", "2(x + 1)"), ("x = 1, y = 2", "(1, 2)"), ("2^10", "1024"), ("x > 3", "(3, \\infty)")],
)
def test_what_is_equal_by_algebra(reference: str, response: str) -> None:
    """Formulas may differ in their form, unless the response is what the question asks to be worked out."""
    accepted = formulas_of([reference])
    assert by_formula("What is it?", accepted, Candidate(response)) == (True, "formula")
    assert by_formula(f"Work out {response}.", accepted, Candidate(response)) is None


def test_a_name_counts_where_both_have_one() -> None:
    """`y > 3` is not `x > 3` and `y = 3` not `x = 3`; an interval or a value has no name."""
    for reference, response, is_right in (
        ("x = 2a", "y = 2a", False),
        ("x = 2a", "2a", True),
    ):
        assert assess("Solve it.", (reference,), response).is_right is is_right


def test_nothing_but_formulas_is_accepted() -> None:
    """One reference in words among formulas, and no formula decides."""
    assert not formulas_of(["2x", "twice x"])
    assert len(formulas_of(["2x", "x + 3"])) == 2


def test_a_box_is_the_answer() -> None:
    """The box at the end is judged, not what was worked out before it; a box that is denied is no answer."""
    assert not assess("Solve it.", ("12",), r"With 12 and 3 we get \boxed{15}.").is_right
    assert assess("Solve it.", ("15",), r"With 12 and 3 we get \boxed{15}.").is_right
    assert not assess("Solve it.", ("15",), r"It is not \boxed{15}.").is_right
    assert not assess("Solve it.", ("15",), r"\boxed{15} \boxed{16}").is_right
    assert not assess("Solve it.", ("2x",), r"\boxed{2x} or \boxed{3x}").is_right
    assert unboxed(r"\boxed{\frac{1}{2}}") == r"\frac{1}{2}"


@given(st.text(alphabet="xyn012.+-*/^=<>(){}[]|,!_'\\ ²π√±∞acosqrtflgin$`", max_size=60))
def test_any_text_is_read(text: str) -> None:
    """Whatever the signs, reading ends, and a formula is itself."""
    given_by(text)
    assert by_formula("Which is it?", formulas_of([text]), Candidate(text)) in (None, (True, "formula"))


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    """No text is a fault: it is judged by a name, or left; a formula is accepted for itself; no box is made up."""
    found = by_formula("Which is it?", formulas_of(["2x"]), Candidate(text))
    assert found is None or found[1] in ("formula", "other-formula", "hedged", "many-answers", "negated")
    assert len(formulas_of([text])) <= 1
    assert len(unboxed(text)) <= len(text)
