"""The policy as a table of our own: answer, gold, whether they are equal."""

import pytest

from adjudge.rewards.math import MathPolicy, compare

EQUAL = [
    # numbers
    ("42.0", "42"),
    ("042", "42"),
    ("1,234", "1234"),
    ("1 234", "1234"),
    (r"1{,}234", "1234"),
    (r"1\,000\,000", "10^6"),
    ("1.5e3", "1500"),
    (r"1.5 \times 10^{-3}", "0.0015"),
    ("½", "0.5"),
    (r"2\frac{1}{3}", r"\frac73"),
    ("2 1/3", r"\frac73"),
    ("forty-two", "42"),
    (r"\text{twelve}", "12"),
    (r"0.1\overline{6}", r"\frac16"),
    (r"\$18.50", "18.5"),
    ("−5", "-5"),
    # percent: a percent is its value; a gold with the sign also accepts the bare number
    (r"42\%", "0.42"),
    ("35", r"35\%"),
    ("0.35", r"35\%"),
    (r"35 \text{ percent}", "35%"),
    ("12.5%", r"\frac18"),
    # rounding
    (r"\frac13", "0.333"),
    (r"\pi", "3.14"),
    ("0.3333", r"\frac13"),
    ("3.1416", r"\pi"),
    (r"\sqrt{17}", "4.123105625617661"),
    # units and degrees
    (r"42 \text{ cm}", "42"),
    ("15th", "15"),
    (r"9.8 \text{ m/s}^2", "9.8"),
    (r"100 \text{ cm}", r"1 \text{ m}"),
    (r"60 \text{ minutes}", r"1 \text{ hour}"),
    ("90", r"90^\circ"),
    (r"60^\circ 30'", "60.5"),
    (r"18 \text{ km/h}", r"5 \text{ m/s}"),
    (r"60 \text{ mph}", r"60 \text{ miles per hour}"),
    (r"\$0.25", r"25 \text{ cents}"),
    (r"12.5 \text{ dollars}", r"\$12.50"),
    (r"4:30 \text{ PM}", r"4:30 \text{ p.m.}"),
    (r"33.33\%", r"\frac13"),
    (r"20 \text{ min}", "20"),
    (r"\left.3\right.", "3"),
    ("(1000)_2", "1000_2"),
    (r"321_{\text{five}}", "321_5"),
    # lists, tuples, sets
    ("42, 42.0", "42"),
    (r"\text{Maximum} = 2, \text{Minimum} = 1", "1,2"),
    ("5, 3", "x_1=3, x_2=5"),
    ("2, 1", "1,2"),
    (r"\{2, 1\}", "1,2"),
    ("1, 5", r"3 \pm 2"),
    ("y=2, x=1", "x=1, y=2"),
    ("a=1, b=2", "(1,2)"),
    (r"1 \text{ and } 2", "1,2"),
    ("1,2", r"x=1 \text{ or } x=2"),
    ("(3, -2), (3, 2)", r"(3, \pm 2)"),
    ("1, 2, 1", "1, 2"),
    ("250, 3", "3,250"),
    ("3250", "3,250"),
    # intervals
    ("1<x<2", "(1,2)"),
    (r"x \ne 1", r"(-\infty,1)\cup(1,\infty)"),
    ("5 > x", "x < 5"),
    ("-x > -1", "x < 1"),
    (r"\{x \mid x \ge 2\}", r"[2,\infty)"),
    (r"x<-1 \text{ or } x>2", r"(-\infty,-1)\cup(2,\infty)"),
    (r"[-\frac32,-1]\cup[1,\frac32]", r"1\le|z|\le\frac32"),
    # equations and functions
    ("x=42", "42"),
    ("42 = 42", "42"),
    (r"x = 1+1 = 2 \approx 2.0", "2"),
    ("2x+4y-3=0", r"y=-\frac12x+\frac34"),
    ("2x+3", "y=2x+3"),
    (r"\frac6x", "xy=6"),
    ("f(y)=y", "f(x)=x"),
    ("y=x^2", "f(x)=x^2"),
    (r"-32+3t \text{ for some integer } t", "-32+3x"),
    (r"k\pi, k \in \mathbb{Z}", r"n\pi, n \in \mathbb{Z}"),
    # algebra
    ("(x-1)(x+1)", "x^2-1"),
    (r"\frac{\sqrt2}{2}", r"\frac{1}{\sqrt2}"),
    (r"1-\cos^2 x", r"\sin^2 x"),
    (r"3\log 2", r"\log 8"),
    (r"\sqrt2+\sqrt3", r"\sqrt{5+2\sqrt6}"),
    (r"\frac{d!}{2k(d-k)!}", r"\binom dk\frac{(k-1)!}{2}"),
    ("2^{n+1}", r"2\cdot 2^n"),
    (r"\lfloor \frac{n+1}{2} \rfloor", r"\lceil n/2 \rceil"),
    (r"\frac{1}{1+i}", r"\frac{1-i}{2}"),
    (r"\sqrt[3]{-8}", "-2"),
    (r"\log(1000/x)", r"3-\log x"),
    (r"\sum_{k=1}^{n} k", r"\frac{n(n+1)}{2}"),
    (r"\sin 75^\circ", r"\frac{\sqrt6+\sqrt2}{4}"),
    # ratios, bases, matrices, choices, words
    (r"\frac34", "3:4"),
    ("6:8", "3:4"),
    ("2:4:6", "1:2:3"),
    ("1010_{2}", "1010_2"),
    ("(1,2,3)", r"\begin{pmatrix}1\\2\\3\end{pmatrix}"),
    (
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}+\begin{pmatrix}1&1\\1&1\end{pmatrix}",
        r"\begin{bmatrix}2&3\\4&5\end{bmatrix}",
    ),
    (r"\text{(B)}", "B"),
    ("B. 42", "B"),
    ("C", "C. x = 42"),
    (r"\emptyset", r"\text{no solution}"),
    (r"\text{all real numbers}", r"\mathbb{R}"),
    ("odd", r"\text{odd}"),
    (r"\text{Petya}", "Petya will receive the last token."),
]

DIFFERENT = [
    # units, currencies, times
    (r"5 \text{ km/h}", r"5 \text{ m/s}"),
    (r"\$25", r"25 \text{ cents}"),
    (r"12.5 \text{ euros}", r"\$12.50"),
    (r"4:30 \text{ a.m.}", r"4:30 \text{ p.m.}"),
    (r"33.3\%", r"\frac13"),
    ("3+", "3"),
    # names, choices, doubts
    ("5, 3", "A=3, B=5"),
    (r"\textbf{(C)}\ 12", r"\textbf{(B)}\ 12"),
    (r"x = 42 \text{ is one, or } x = 43", "42"),
    # integers are never approximate, and coarse decimals are no roundings
    ("42.0000001", "42"),
    ("41.999", "42"),
    ("0.4999", r"\frac12"),
    ("0.333", r"\frac13"),
    ("2.334", r"\frac73"),
    ("3.1415", r"\pi"),
    (r"\pi", "3.1"),
    (r"\frac{22}{7}", r"\pi"),
    ("0.33", "0.333"),
    (r"\frac{1}{2006!}", r"\frac{1}{2004!}"),
    ("2^{100}+1", "2^{100}"),
    (r"\frac{1}{2^{98}}", r"\frac{1}{2^{99}}"),
    (r"e^{\pi\sqrt{163}}", "262537412640768744"),
    # a percent sign only in the answer, a converted base, radians for degrees
    (r"42\%", "42"),
    ("10", "1010_2"),
    (r"90^\circ", r"\frac{\pi}{2}"),
    (r"5 \text{ cm}", r"5 \text{ m}"),
    (r"5 \text{ kg}", r"5 \text{ m}"),
    # hedges: alternatives, supersets, ranges, half of both signs
    (r"41 \text{ or } 42", "42"),
    ("41, 42", "42"),
    (r"\{41,42\}", "42"),
    ("5", r"3 \pm 2"),
    (r"\pm 42", "42"),
    ("41 < x < 43", "42"),
    (r"x \in \mathbb{R}", "42"),
    ("1,2,3", "1,2"),
    ("1", "1,2"),
    ("x=1", r"x=1 \text{ or } x=2"),
    ("x", "42"),
    # order and brackets
    ("(2,1)", "(1,2)"),
    ("(1,2)", "[1,2)"),
    (r"(\infty,5)", r"(5,\infty)"),
    (r"(5,\infty+1)", r"(5,\infty)"),
    ("x=2, y=1", "x=1, y=2"),
    (r"x \ge 2", r"(2,\infty)"),
    ("1, 3, 3", "1, 1, 3"),
    ("36", "36,36,108"),
    # equations
    ("11a+c", "7 = 11a+c"),
    ("0", "a+3z=0"),
    ("y=3x+2", "y=2x+3"),
    ("x^2+y^2=4", "x^2+y^2=2"),
    ("g(x)=x", "f(x)=x"),
    ("3x=15", "5"),
    ("x+1", "y+1"),
    (r"\sqrt{x^2}", "x"),
    ("-(a<4)", "a<4"),
    ("x", "|x|"),
    ("12:00", "1:00"),
    ("4:3", "3:4"),
    ("1:4:9", "1:2:3"),
    (r"\begin{pmatrix}1&3\\2&4\end{pmatrix}", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}"),
    ("A", "B"),
    (r"\text{Vasya}", "Petya will receive the last token."),
    ("0", r"\text{no solution}"),
    ("5m", "5"),
    (r"-[0,1)", "1"),
]


@pytest.mark.parametrize(("answer", "gold"), EQUAL)
def test_equal(answer: str, gold: str) -> None:
    """These are the same answer."""
    verdict = compare(rf"The final answer is $\boxed{{{answer}}}$.", gold)
    assert verdict.equal is True, verdict


@pytest.mark.parametrize(("answer", "gold"), DIFFERENT)
def test_different(answer: str, gold: str) -> None:
    """These are not."""
    verdict = compare(rf"The final answer is $\boxed{{{answer}}}$.", gold)
    assert verdict.equal is False, verdict


@pytest.mark.parametrize(
    ("policy", "answer", "gold"),
    [
        (MathPolicy(percent=False), "35", r"35\%"),
        (MathPolicy(gold_digits=0), r"\frac13", "0.333"),
        (MathPolicy(answer_digits=0), "0.3333", r"\frac13"),
        (MathPolicy(answer_digits=6), "0.3333", r"\frac13"),
        (MathPolicy(list_order=True), "2,1", "1,2"),
        (MathPolicy(degrees=False), "90", r"90^\circ"),
        (MathPolicy(prose=False), r"\text{Petya}", "Petya will receive the last token."),
        (MathPolicy(choices=False), "B. 42", "B"),
    ],
)
def test_each_choice_can_be_refused(policy: MathPolicy, answer: str, gold: str) -> None:
    """What a policy's default accepts, its other setting refuses."""
    assert compare(rf"\boxed{{{answer}}}", gold).equal is True
    assert compare(rf"\boxed{{{answer}}}", gold, policy=policy).equal is False


def test_units_can_be_ignored() -> None:
    """With `units="ignore"` only the numbers are compared."""
    assert compare(r"\boxed{5 \text{ cm}}", r"5 \text{ m}", policy=MathPolicy(units="ignore")).equal is True


@pytest.mark.parametrize(
    ("response", "gold", "equal", "reason"),
    [
        (r"\boxed{\text{Evelyn}}", "Evelyn", True, "exact-string"),
        (r"\boxed{\frac24}", "0.5", True, "exact-rational"),
        (r"\boxed{1.4142}", r"\sqrt2", True, "numeric"),
        (r"\boxed{x(x+1)}", "x^2+x", True, "symbolic"),
        (r"\boxed{2,1}", "1,2", True, "set"),
        (r"\boxed{1<x<2}", "(1,2)", True, "interval"),
        (r"\boxed{\begin{pmatrix}1\\2\end{pmatrix}}", r"\begin{bmatrix}1.0\\2\end{bmatrix}", True, "matrix"),
        (r"\boxed{(B)}", "B", True, "choice"),
        (r"\boxed{3}", "4", False, "mismatch"),
        ("", "4", False, "no-answer"),
        (None, "4", False, "no-answer"),
        ("", "", None, "unparsed-gold"),
        (r"\boxed{3, 4}", "4", False, "hedged"),
        (r"\boxed{4", "4", False, "hedged"),
        (r"\boxed{(((}", "4", False, "unparsed-answer"),
        (r"\boxed{4}", r"\frac{(", None, "unparsed-gold"),
        (r"\boxed{9^{9^{9}}}", "4", False, "too-large"),
    ],
)
def test_reasons(response: str | None, gold: str, equal: bool | None, reason: str) -> None:
    """Each reason has a case; only an unreadable gold leaves `equal` open."""
    verdict = compare(response, gold)
    assert (verdict.equal, verdict.reason) == (equal, reason), verdict


def test_verdict_tells_where_and_how() -> None:
    """A verdict names the answer, where it stands, both canonical forms, the tier and a line for people."""
    response = r"Hence $x = \boxed{\frac{2}{4}}$."
    verdict = compare(response, "0.5")
    assert verdict.answer == r"\frac{2}{4}"
    assert verdict.span is not None
    assert response[slice(*verdict.span)] == verdict.answer
    assert (verdict.answer_canonical, verdict.gold_canonical, verdict.tier) == ("1/2", "1/2", 1)
    assert verdict.detail == "1/2 equals 1/2"
