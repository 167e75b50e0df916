"""References that a response names beside the answer that it gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._tier0 import assess

CUP = "Who won the 2018 FIFA World Cup?", "France"
PLANET = "Which is the closest planet to the Sun?", "Mercury"
CAPITAL = "What is the capital of Brazil?", "Brasília"
MURDER = "Who killed Hamlet's father in the play?", "Claudius"
PHONE = "Who invented the telephone?", "Alexander Graham Bell"
WALL = "What year did the Berlin Wall come down?", "1989"
TOWER = "When was the tower finished?", "1889"
FAUST = "Who wrote Faust?", "Goethe"


@pytest.mark.parametrize(
    ("row", "response"),
    [
        (CUP, "Croatia beat France in the final and won the cup."),
        (CUP, "France was the runner-up."),
        (CUP, "Croatia won; France came second."),
        (CUP, "Croatia won, and the runner-up was France."),
        (PLANET, "Venus is the closest; Mercury comes second."),
        (PLANET, "Venus is the closest, followed by Mercury."),
        (CAPITAL, "Although some people say Brasília, the capital is actually Rio de Janeiro."),
        (CAPITAL, "Many think it is Brasília. It is Rio de Janeiro."),
        (FAUST, "Everyone assumes Goethe. The author is Schiller."),
        (WALL, "The protests started in 1989, but the wall itself came down in 1991."),
        (TOWER, "It was begun in 1889 but only finished in 1893."),
    ],
)
def test_beside_another_answer(row: tuple[str, str], response: str) -> None:
    """A reference that has lost, comes next, is blamed, is what others say, or dates something else is no answer."""
    seen = assess(row[0], (row[1],), response)
    assert (seen.is_right, seen.reasons, seen.ruled) == (False, ("other-answer",), True)


@pytest.mark.parametrize(
    ("row", "response"),
    [
        (CUP, "France beat Croatia in the final and won the cup."),
        (CUP, "Croatia lost to France in the final."),
        (CUP, "France defeated Croatia."),
        (("Who was the runner-up in 2018?", "Croatia"), "France beat Croatia."),
        (PLANET, "The closest is Mercury, followed by Venus."),
        (("Which planet comes after Venus?", "Earth"), "Venus is the second, followed by Earth."),
        (CAPITAL, "Although some people say Rio de Janeiro, the capital is actually Brasília."),
        (CAPITAL, "Brasília is the capital, although Rio is actually larger."),
        (FAUST, "Many people think Goethe was a poet, and he wrote Faust."),
        (FAUST, "Some say Goethe wrote it in Weimar, where he was a minister."),
        (FAUST, "Some say that Goethe wrote it in Weimar; it is in Berlin today."),
        (MURDER, "Claudius did it and let Polonius take the blame."),
        (("Who got the blame?", "Claudius"), "Polonius did it and let Claudius take the blame."),
        (PHONE, "Alexander Graham Bell invented it before Elisha Gray did."),
        (WALL, "It was built in 1961 and came down in 1989."),
        (WALL, "In 1989. Germany was united in 1990."),
        (TOWER, "It was finished in 1889, although the lift opened in 1890."),
        (TOWER, "The tower was finished on March 31, 1889."),
    ],
)
def test_the_answer_beside_another(row: tuple[str, str], response: str) -> None:
    """The winner, the first in a row, the one who did it and the right year stay the answer."""
    assert assess(row[0], (row[1],), response).is_right


@given(st.lists(st.sampled_from(("Paris", "Lyon", "beat", "second", "comes", "some say", "before", ",", ".", "1889"))))
def test_any_order_of_such_words(pieces: list[str]) -> None:
    """No order of the words is too odd to be read."""
    assert 0 <= assess("Who won in 1889?", ("Paris",), " ".join(pieces)).probability <= 1
