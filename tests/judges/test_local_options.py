"""Questions that list options: which option an answer chooses, and whether that is the accepted one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._options import by_option, chosen, options_of, spoken
from adjudge.judges.local._pair import Candidate
from adjudge.judges.local._tier0 import assess

PLANETS = "Which planet has the most mass? (A) Earth (B) Saturn (C) Jupiter (D) Neptune"
CAPITALS = "What is the capital of Australia?\nA. Sydney\nB. Canberra\nC. Melbourne\nD. Perth"
GASES = "Which gas do plants absorb for photosynthesis?\nA) Oxygen\nB) Nitrogen\nC) Hydrogen\nD) Carbon dioxide"
PRIMES = "Select all prime numbers. A: 9  B: 11  C: 15  D: 17"
PAINTERS = "Who painted the Mona Lisa?\n1. Michelangelo\n2. Raphael\n3. Leonardo da Vinci\n4. Titian"
COMPOUNDS = "Which compound is burnt? (A) carbon (B) carbon dioxide (C) carbon monoxide\nAnswer with the letter only."
VITAMINS = "Which vitamin prevents scurvy? A) vitamin A B) vitamin B C) vitamin C D) vitamin D"
GERMS = "Was it (a) a virus, (b) a bacterium, or (c) a fungus?"
PRODUCTS = "What is 7 x 8? A. 54 B. 56 C. 58 D. 64"
MAMMALS = "Which of these are mammals?\n(1) whale\n(2) shark\n(3) bat\n(4) eagle"
STATEMENTS = (
    "Which statement is true?\n"
    "A. Water boils at 100 degrees Celsius at sea level.\n"
    "B. Water boils at 90 degrees Celsius at sea level.\n"
    "C. Water never boils."
)


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        (PLANETS, "C", "Jupiter"),
        (PLANETS, "C", "It's Jupiter."),
        (PLANETS, "C", "The answer is Jupiter"),
        (PLANETS, "C", "c"),
        (PLANETS, "C", "C. Jupiter"),
        (PLANETS, "C", "Option C"),
        (PLANETS, "Jupiter", "C"),
        (PLANETS, "Jupiter", "(C)"),
        (PLANETS, "Jupiter", "I would pick option C."),
        (CAPITALS, "B", "Canberra"),
        (CAPITALS, "B. Canberra", "b"),
        (CAPITALS, "B. Canberra", "B) Canberra"),
        (CAPITALS, "B. Canberra", "Canberra"),
        (CAPITALS, "B", "\\boxed{B}"),
        (CAPITALS, "B", "**B. Canberra**"),
        (CAPITALS, "Canberra", "The correct option is B."),
        (GASES, "D) Carbon dioxide", "d"),
        (GASES, "D) Carbon dioxide", "Option D"),
        (GASES, "D) Carbon dioxide", "D. Carbon dioxide"),
        (GASES, "D) Carbon dioxide", "carbon dioxide"),
        (PRIMES, "B, D", "B and D"),
        (PRIMES, "B, D", "BD"),
        (PRIMES, "B, D", "D, B"),
        (PRIMES, "B, D", "(B) and (D)"),
        (PRIMES, "B, D", "11 and 17"),
        (PRIMES, "B, D", "options B and D"),
        (PRIMES, "B and D", "B,D"),
        (PRIMES, "BD", "B, D"),
        (PRIMES, "11, 17", "B and D"),
        (PRIMES, "B, D", "B: 11\nD: 17"),
        (PAINTERS, "3", "Option 3: Leonardo da Vinci"),
        (PAINTERS, "3", "3"),
        (PAINTERS, "3", "3. Leonardo da Vinci"),
        (PAINTERS, "3", "Leonardo da Vinci"),
        (PAINTERS, "3", "number 3"),
        (PAINTERS, "Leonardo da Vinci", "3"),
        (PAINTERS, "3. Leonardo da Vinci", "(3)"),
        (COMPOUNDS, "B", "carbon dioxide"),
        (COMPOUNDS, "A", "carbon"),
        (COMPOUNDS, "carbon dioxide", "b"),
        (VITAMINS, "C", "vitamin C"),
        (GERMS, "b", "a bacterium"),
        (GERMS, "b", "bacterium"),
        (GERMS, "b", "It was a bacterium."),
        (GERMS, "a bacterium", "b"),
        (PRODUCTS, "B", "56"),
        (PRODUCTS, "B", "B. 56"),
        (PRODUCTS, "56", "B"),
        (MAMMALS, "1, 3", "1 and 3"),
        (MAMMALS, "1, 3", "whale and bat"),
        (MAMMALS, "(1) and (3)", "3, 1"),
        (STATEMENTS, "A", "Water boils at 100 degrees Celsius at sea level."),
        (STATEMENTS, "Water never boils.", "C"),
    ],
)
def test_the_option(question: str, reference: str, response: str) -> None:
    """An option is chosen by its label, its text or both, however it is marked, and several of them in any order."""
    seen = assess(question, (reference,), response)
    assert (seen.is_right, seen.reasons, seen.ruled) == (True, ("option",), True)


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        (PLANETS, "C", "Jupiter has the most mass."),
        (PLANETS, "Jupiter", "Jupiter, so C"),
        (CAPITALS, "B", "Canberra is the capital of Australia."),
        (CAPITALS, "B", "It is Canberra, although many believe it is Sydney."),
        (CAPITALS, "B", "Canberra, not Sydney"),
        (GASES, "D", "Plants absorb carbon dioxide."),
        (PAINTERS, "3", "Leonardo da Vinci painted it."),
        (VITAMINS, "C", "Vitamin C prevents scurvy."),
    ],
)
def test_the_option_in_words(question: str, reference: str, response: str) -> None:
    """A sentence with the text of the option is judged as if that were the reference, and the options not there."""
    assert assess(question, (reference,), response).is_right


@pytest.mark.parametrize(
    ("question", "reference", "response", "reason"),
    [
        (PLANETS, "C", "Saturn", "other-option"),
        (PLANETS, "C", "The answer is Neptune.", "other-option"),
        (PLANETS, "C", "(C) Saturn", "other-option"),
        (PLANETS, "C", "B: Jupiter", "other-option"),
        (PLANETS, "C", "Jupiter or Saturn", "hedged"),
        (PLANETS, "C", "Earth, Saturn, Jupiter, Neptune", "many-answers"),
        (PLANETS, "C", "not Jupiter", "negated"),
        (PLANETS, "C", "Saturn has the most mass.", "other-option"),
        (PLANETS, "C", "(A) Earth (B) Saturn (C) Jupiter (D) Neptune", "many-answers"),
        (PLANETS, "Jupiter", "B", "other-option"),
        (PLANETS, "Jupiter", "C) Saturn", "other-option"),
        (PLANETS, "Jupiter", "I would pick option D.", "other-option"),
        (PLANETS, "Jupiter", "Which planet has the most mass?", "repeats-question"),
        (PLANETS, "C", "Which planet has the most mass?", "repeats-question"),
        (CAPITALS, "B. Canberra", "B. Sydney", "other-option"),
        (CAPITALS, "B. Canberra", "A. Canberra", "other-option"),
        (CAPITALS, "B", "Sydney", "other-option"),
        (CAPITALS, "B", "Sydney is the capital of Australia.", "other-option"),
        (CAPITALS, "Canberra", "The correct option is C.", "other-option"),
        (CAPITALS, "B", "A, B", "many-answers"),
        (CAPITALS, "B", "Sydney, not Canberra", "negated"),
        (GASES, "D", "Oxygen", "other-option"),
        (GASES, "D", "They absorb oxygen.", "other-option"),
        (GASES, "D) Carbon dioxide", "D) Oxygen", "other-option"),
        (PRIMES, "B, D", "A, B, D", "many-answers"),
        (PRIMES, "B, D", "D", "list-incomplete"),
        (PRIMES, "B, D", "B or D", "hedged"),
        (PRIMES, "B, D", "A and B", "other-option"),
        (PRIMES, "B, D", "11", "list-incomplete"),
        (PRIMES, "B, D", "9, 11 and 17", "many-answers"),
        (PRIMES, "B, D", "ABCD", "many-answers"),
        (PRIMES, "B, D", "B: 11\nC: 15", "other-option"),
        (PAINTERS, "3", "Raphael", "other-option"),
        (PAINTERS, "3", "Option 2", "other-option"),
        (PAINTERS, "3", "3. Raphael", "other-option"),
        (PAINTERS, "Leonardo da Vinci", "4", "other-option"),
        (PAINTERS, "3", "13", "not-contained"),
        (PAINTERS, "3", "Michelangelo painted it.", "other-option"),
        (COMPOUNDS, "B", "carbon", "other-option"),
        (COMPOUNDS, "A", "carbon dioxide", "other-option"),
        (COMPOUNDS, "A", "Carbon monoxide is burnt.", "other-option"),
        (VITAMINS, "C", "vitamin D", "other-option"),
        (VITAMINS, "A", "vitamin C", "other-option"),
        (GERMS, "b", "a virus", "other-option"),
        (GERMS, "a bacterium", "a", "other-option"),
        (GERMS, "a", "a fungus", "other-option"),
        (PRODUCTS, "B", "58", "other-option"),
        (PRODUCTS, "B", "B) 54", "other-option"),
        (PRODUCTS, "56", "D", "other-option"),
        (MAMMALS, "1, 3", "whale", "list-incomplete"),
        (MAMMALS, "1, 3", "1, 2, 3", "many-answers"),
        (MAMMALS, "1, 3", "whale, bat and eagle", "many-answers"),
        (STATEMENTS, "A", "Water boils at 90 degrees Celsius at sea level.", "other-option"),
        (STATEMENTS, "B", "Water never boils.", "other-option"),
        (STATEMENTS, "Water never boils.", "A", "other-option"),
        (PLANETS, "C", "The correct answer is (C) Saturn because it is the biggest.", "other-option"),
        (PLANETS, "C", "Jupiter? No, Saturn.", "negated"),
        (PLANETS, "C", "Maybe Jupiter, maybe Saturn", "hedged"),
        (PAINTERS, "3", "options 3 and 4", "many-answers"),
        (PAINTERS, "3", "It's not option 3", "not-contained"),
    ],
)
def test_another_option(question: str, reference: str, response: str, reason: str) -> None:
    """Another label or text, the two at odds, one too few or too many, a denial: wrong, with that name."""
    seen = assess(question, (reference,), response)
    assert (seen.is_right, seen.reasons[0]) == (False, reason)


@pytest.mark.parametrize(
    "question",
    [
        "Which is largest?\nA - Earth\nB - Saturn\nC - Jupiter",
        "Which is largest?\n**A.** Earth\n**B.** Saturn\n**C.** Jupiter",
        "Which is largest? A)Earth B)Saturn C)Jupiter",
        "Which is largest? A) Earth / B) Saturn / C) Jupiter",
        "Which is largest?\n- A: Earth\n- B: Saturn\n- C: Jupiter",
        "Which is largest?\n[a] Earth\n[b] Saturn\n[c] Jupiter\n\nAnswer:",
        "Which is largest? A. Earth, B. Saturn, or C. Jupiter? Answer with one letter.",
    ],
)
def test_ways_to_list_options(question: str) -> None:
    """Options are marked by brackets, dots, colons, dashes or bold letters, in a row or one a line."""
    found = options_of(question)
    assert found is not None
    assert dict(found.texts) == {"A": "Earth", "B": "Saturn", "C": "Jupiter"}


@pytest.mark.parametrize(
    ("question", "response", "expected"),
    [
        (PAINTERS, "option three", "3"),
        (PRIMES, "B D", "BD"),
        (PRIMES, "bd", "BD"),
        (PRIMES, "B+D", "BD"),
        (GERMS, "A virus", "A"),
        (GERMS, "A fungus", "C"),
        (GERMS, "B virus", ""),
    ],
)
def test_ways_to_choose(question: str, response: str, expected: str | None) -> None:
    """Options are joined or set side by side; an `A` before a word is an article."""
    found = options_of(question)
    assert found is not None
    assert chosen(found, response, is_several=True) == (None if expected is None else frozenset(expected))


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("The primes are B (11) and D (17).", (True, "option")),
        ("The primes are A (9), B (11) and D (17).", (False, "many-answers")),
        ("B is prime.", (False, "list-incomplete")),
        ("C is not prime, B and D are.", None),
    ],
)
def test_several_in_words(response: str, expected: tuple[bool, str] | None) -> None:
    """Where several options are accepted together, a sentence names them all and no other one."""
    found = options_of(PRIMES)
    assert found is not None
    assert by_option(found, ("B, D",), Candidate(response)) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Who is John B. Goode?",
        "What do sections 1. and 2. say?",
        "A: Hello\nB: Hi there\nWhat did B say?",
        "How many are there? 1. 4 2. 3 3. 2",
        "Which is it? (A) Rome (B) Rome",
    ],
)
def test_no_options(question: str) -> None:
    """Initials, sections and speakers are no options, nor are those of which labels and texts may be mixed up."""
    assert options_of(question) is None


def test_alternatives() -> None:
    """Several references are alternatives; one that is no option says nothing."""
    found = options_of(PLANETS)
    assert found is not None
    assert by_option(found, ("B", "Jupiter", "a gas giant"), Candidate("C")) == (True, "option")
    assert by_option(found, ("Mars",), Candidate("C")) is None
    assert spoken(PLANETS, ("Mars",)) == (PLANETS, ("Mars",))
    assert spoken(PRIMES, ("BD", "11 and 17 alone")) == ("Select all prime numbers.", ("11, 17", "11 and 17 alone"))


@given(st.text(alphabet="aAbBcC12 ().:,;?\n\\boxedthe{}", max_size=3000))
def test_any_text(text: str) -> None:
    """Whatever a question or an answer is made of, it is read, and soon."""
    options_of(text)
    found = options_of(PLANETS)
    assert found is not None
    given_ones = chosen(found, text, is_several=True)
    assert given_ones is None or given_ones <= found.texts.keys()
