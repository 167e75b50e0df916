"""Lists where several things are asked for: which members they need, and whether in their order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._members import by_members, is_ordered, lists_of
from adjudge.judges.local._pair import Candidate, prepare, read_question
from adjudge.judges.local._tier0 import assess


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        ("Which statements are true?", "A, C", "A and C"),
        ("Which statements are true?", "A, C", "C, A"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "- Lithuania\n- Latvia\n- Estonia"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "1. Latvia\n2. Estonia\n3. Lithuania"),
        (
            "List the Baltic states.",
            "Estonia, Latvia, Lithuania",
            "The Baltic states are Lithuania, Estonia and Latvia.",
        ),
        (
            "List the Baltic states.",
            "Estonia, Latvia, Lithuania",
            "Sure! Here they are:\n* Latvia\n* Lithuania\n* Estonia",
        ),
        ("Name the four Gospels.", "Matthew, Mark, Luke, John", "John, Luke, Mark & Matthew"),
        ("Name the four Gospels.", "Matthew, Mark, Luke, John", "The Gospels of Matthew, Mark, Luke and John"),
        ("Name the four Gospels.", "Matthew, Mark, Luke, and John", "1) Mark 2) Luke 3) John 4) Matthew"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "7, 5, 3 and 2"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "two, three, five and seven"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "The prime numbers below 10 are 2, 3, 5, and 7."),
        ("What are the factors of 6?", "1, 2, 3, 6", "6, 3, 2, 1"),
        ("Name the two moons of Mars.", "Phobos and Deimos", "Deimos, Phobos"),
        ("Name the two moons of Mars.", "Phobos, Deimos", "Deimos and Phobos"),
        ("Which oceans touch Africa?", "Atlantic Ocean and Indian Ocean", "the Indian and the Atlantic"),
        ("Which oceans touch Africa?", "Atlantic, Indian", "the Atlantic Ocean and the Indian Ocean"),
        ("Who wrote the book?", "Neil Gaiman and Terry Pratchett", "Terry Pratchett and Neil Gaiman"),
        ("Who wrote the book?", "Neil Gaiman and Terry Pratchett", "Terry Pratchett & Neil Gaiman"),
        ("What are the colours of the French flag?", "blue, white, red", "red, white and blue"),
        (
            "What are the ingredients of pesto?",
            "basil, pine nuts, garlic, olive oil and cheese",
            "- garlic\n- olive oil\n- cheese\n- basil\n- pine nuts",
        ),
        (
            "List the Great Lakes in any order.",
            "Erie, Huron, Michigan, Ontario, Superior",
            "Superior, Michigan, Huron, Erie, Ontario",
        ),
        (
            "List the Great Lakes.",
            "Erie, Huron, Michigan, Ontario, Superior",
            "Huron, Ontario, Michigan, Erie, Superior",
        ),
        (
            "List the Great Lakes.",
            "Erie, Huron, Michigan, Ontario, Superior",
            "Lake Huron, Lake Ontario, Lake Michigan, Lake Erie, Lake Superior",
        ),
        ("Which ingredients are needed in order to make bread?", "flour, water, yeast", "yeast, flour, water"),
        ("Who founded Hewlett-Packard?", "Bill Hewlett and David Packard", "David Packard and Bill Hewlett"),
        ("What are the three states of matter?", "solid, liquid and gas", "gas, liquid, solid"),
        (
            "What are the three states of matter?",
            "solid, liquid and gas",
            "The three states of matter are gas, solid, and liquid.",
        ),
        ("What are the three states of matter?", "solid, liquid and gas", "Solid, liquid, gas."),
        ("Which two elements make up water?", "hydrogen and oxygen", "oxygen and hydrogen"),
        ("What colours are on the Italian flag?", "green, white, red", "**Red**, **white**, and **green**"),
        ("Who are the members of the trio?", "Tom, Dick and Harry", "Harry, Tom, Dick"),
        (
            "Who were the Beatles?",
            "John Lennon, Paul McCartney, George Harrison, Ringo Starr",
            "Paul McCartney, John Lennon, Ringo Starr and George Harrison",
        ),
        ("Find all divisors of 12.", "1, 2, 3, 4, 6, 12", "12, 6, 4, 3, 2, 1"),
        ("Solve x^2 = 9.", "3, -3", "-3, 3"),
        ("Solve x^2 = 9.", "3 and -3", "-3 and 3"),
        (
            "Name all countries in North America that use the dollar.",
            "Canada, United States",
            "United States and Canada",
        ),
        ("Name all countries in North America that use the dollar.", "Canada, United States", "USA, Canada"),
        ("Which states does the river cross?", "Ohio, Indiana and Illinois", "Illinois, Indiana, Ohio"),
        ("Which days are market days?", "Monday, Wednesday, Friday", "Friday, Monday and Wednesday"),
        ("Which fruits are in the bowl?", "apples and pears", "pears, apples"),
        ("What are the vowels?", "A, E, I, O, U", "U, O, I, E and A"),
        ("Select all that apply.", "A, C, D", "D, C, A"),
        ("Which answers are right?", "B and C", "B, C"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Estonia, Latvia and Lithuania, but not Finland"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "lithuania, latvia, estonia"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "The answer is Estonia, Lithuania, Latvia"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Answer: Estonia, Lithuania, Latvia."),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "1. 2\n2. 3\n3. 5\n4. 7"),
        ("List the months with 30 days.", "April, June, September, November", "November, April, June and September"),
        ("Which two teams played the final?", "France and Croatia", "Croatia and France"),
        ("Who discovered the structure of DNA?", "James Watson and Francis Crick", "Francis Crick and James Watson"),
        ("Which cities have offices?", "London, Paris, Rome", "Paris, Rome, London"),
        ("Name two of the Great Lakes.", "Erie, Huron, Michigan, Ontario, Superior", "Erie and Huron"),
        ("Name one of the Baltic states.", "Estonia, Latvia, Lithuania", "Latvia"),
        ("Give an example of a Baltic state.", "Estonia, Latvia, Lithuania", "Latvia"),
    ],
)
def test_the_list(question: str, reference: str, response: str) -> None:
    """A list has its members in any order, in a sentence, line by line, with bullets, numbers or `and`."""
    seen = assess(question, (reference,), response)
    assert (seen.is_right, seen.reasons, seen.ruled) == (True, ("list",), True)


@pytest.mark.parametrize(
    ("question", "reference", "response", "reason"),
    [
        ("Which statements are true?", "A, C", "A, B, C", "extra-member"),
        ("Which statements are true?", "A, C", "A", "list-incomplete"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Lithuania\nEstonia", "list-incomplete"),
        (
            "List the Baltic states.",
            "Estonia, Latvia, Lithuania",
            "Estonia, Latvia, Lithuania and Finland",
            "extra-member",
        ),
        (
            "List the Baltic states.",
            "Estonia, Latvia, Lithuania",
            "Finland, Estonia, Latvia, Lithuania",
            "extra-member",
        ),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Latvia; Lithuania; Poland", "other-member"),
        ("Name the four Gospels.", "Matthew, Mark, Luke, John", "Matthew, Mark, Luke, John and Acts", "extra-member"),
        (
            "Name the four Gospels.",
            "Matthew, Mark, Luke, John",
            "The four Gospels are Matthew, Mark, Luke, and Paul.",
            "other-member",
        ),
        ("Name the four Gospels.", "Matthew, Mark, Luke, John", "Mark, Luke, John", "list-incomplete"),
        (
            "Name the four Gospels.",
            "Matthew, Mark, Luke, and John",
            "Matthew, Mark, Luke, John, Thomas, Judas",
            "extra-member",
        ),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "1, 2, 3, 5, 7", "extra-member"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "2, 3, 5", "list-incomplete"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "2, 3, 5, 9", "other-member"),
        (
            "List the prime numbers below 10.",
            "2, 3, 5, 7",
            "The prime numbers below 10 are 2, 3, 5, 7 and 9.",
            "extra-member",
        ),
        ("What are the factors of 6?", "1, 2, 3, 6", "1, 2, 3", "list-incomplete"),
        ("What are the factors of 6?", "1, 2, 3, 6", "1, 2, 3, 4, 6", "extra-member"),
        ("Which countries border Portugal by land?", "Spain", "Spain and France", "extra-member"),
        ("Which countries border Portugal by land?", "Spain", "Spain, France", "extra-member"),
        ("Which countries border Portugal by land?", "Spain", "Portugal borders Spain and Morocco.", "extra-member"),
        ("Name the two moons of Mars.", "Phobos and Deimos", "Deimos", "list-incomplete"),
        ("Name the two moons of Mars.", "Phobos and Deimos", "Phobos, Deimos and Europa", "extra-member"),
        ("Name the two moons of Mars.", "Phobos, Deimos", "Phobos", "list-incomplete"),
        (
            "Which oceans touch Africa?",
            "Atlantic Ocean and Indian Ocean",
            "Atlantic, Indian and Pacific",
            "extra-member",
        ),
        ("Who wrote the book?", "Neil Gaiman and Terry Pratchett", "Terry Pratchett", "list-incomplete"),
        ("What are the colours of the French flag?", "blue, white, red", "red, white, blue and green", "extra-member"),
        ("What are the colours of the French flag?", "blue, white, red", "white and red", "list-incomplete"),
        (
            "What are the ingredients of pesto?",
            "basil, pine nuts, garlic, olive oil and cheese",
            "- garlic\n- olive oil\n- cheese\n- basil",
            "list-incomplete",
        ),
        (
            "What are the ingredients of pesto?",
            "basil, pine nuts, garlic, olive oil and cheese",
            "- garlic\n- olive oil\n- cheese\n- basil\n- pine nuts\n- cream",
            "extra-member",
        ),
        ("Which band sang it?", "Peter, Paul and Mary", "Peter and Paul", "list-incomplete"),
        ("What are the three states of matter?", "solid, liquid and gas", "solid and liquid", "list-incomplete"),
        (
            "What are the three states of matter?",
            "solid, liquid and gas",
            "solid, liquid, gas and plasma",
            "extra-member",
        ),
        ("What are the three states of matter?", "solid, liquid and gas", "solid, liquid, not gas", "negated"),
        ("Which two elements make up water?", "hydrogen and oxygen", "hydrogen, oxygen and carbon", "extra-member"),
        ("Which two elements make up water?", "hydrogen and oxygen", "oxygen", "list-incomplete"),
        ("Who are the members of the trio?", "Tom, Dick and Harry", "Harry, Tom, Dick and Sally", "extra-member"),
        ("Who are the members of the trio?", "Tom, Dick and Harry", "Harry and Tom", "list-incomplete"),
        (
            "Who were the Beatles?",
            "John Lennon, Paul McCartney, George Harrison, Ringo Starr",
            "Paul McCartney, John Lennon, Ringo Starr, George Harrison and Pete Best",
            "extra-member",
        ),
        (
            "Who were the Beatles?",
            "John Lennon, Paul McCartney, George Harrison, Ringo Starr",
            "Paul McCartney, John Lennon, Ringo Starr, and Mick Jagger",
            "other-member",
        ),
        ("Find all divisors of 12.", "1, 2, 3, 4, 6, 12", "2, 3, 4, 6", "list-incomplete"),
        ("Find all divisors of 12.", "1, 2, 3, 4, 6, 12", "1, 2, 3, 4, 6, 8, 12", "extra-member"),
        ("Solve x^2 = 9.", "3, -3", "3", "list-incomplete"),
        ("What are the next three numbers: 2, 4, 8?", "16, 32, 64", "16, 32, 128", "other-member"),
        (
            "Name all countries in North America that use the dollar.",
            "Canada, United States",
            "Canada",
            "list-incomplete",
        ),
        (
            "Name all countries in North America that use the dollar.",
            "Canada, United States",
            "Canada, United States, Mexico",
            "extra-member",
        ),
        ("Which book is it?", "The Lion, the Witch and the Wardrobe", "The Lion", "list-incomplete"),
        ("Which days are market days?", "Monday, Wednesday, Friday", "Monday to Friday", "list-incomplete"),
        (
            "Which days are market days?",
            "Monday, Wednesday, Friday",
            "Monday, Tuesday, Wednesday, Friday",
            "extra-member",
        ),
        ("Which fruits are in the bowl?", "apples and pears", "apples, pears, plums", "extra-member"),
        ("Which fruits are in the bowl?", "apples", "apples and pears", "extra-member"),
        ("Which languages does she speak?", "French", "French and a little German", "extra-member"),
        ("Which countries won?", "Brazil", "Brazil, Argentina", "extra-member"),
        ("Which countries won?", "Brazil", "Argentina, Brazil and Peru", "extra-member"),
        ("Who won the prizes?", "Ann", "Ann and Bob", "extra-member"),
        ("What are the vowels?", "A, E, I, O, U", "A, E, I, O", "list-incomplete"),
        ("What are the vowels?", "A, E, I, O, U", "A, E, I, O, U, Y", "extra-member"),
        ("Select all that apply.", "A, C, D", "A, C", "list-incomplete"),
        ("Which answers are right?", "B and C", "B, C, D", "extra-member"),
        ("Which answers are right?", "B and C", "C", "list-incomplete"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Estonia, Latvia, but not Lithuania", "negated"),
        (
            "List the Baltic states.",
            "Estonia, Latvia, Lithuania",
            "Estonia, Latvia, Lithuania, Poland, Finland, Sweden, Norway",
            "extra-member",
        ),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "lithuania, latvia, estonia, poland", "extra-member"),
        (
            "List the Baltic states.",
            "Estonia, Latvia, Lithuania",
            "They are not Estonia, Latvia and Lithuania.",
            "negated",
        ),
        (
            "List the Baltic states.",
            "Estonia, Latvia, Lithuania",
            "Estonia; Latvia; Lithuania; and Russia's Kaliningrad",
            "extra-member",
        ),
        (
            "List the Baltic states.",
            "Estonia, Latvia, Lithuania",
            "Estonia\nLatvia\nLithuania\nBelarus",
            "extra-member",
        ),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Estonia, Latvia", "list-incomplete"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Latvia", "list-incomplete"),
        ("Which fruits are in the bowl?", "apples and pears", "apples and pears and plums", "extra-member"),
        ("Which fruits are in the bowl?", "apples and pears", "pears", "list-incomplete"),
        ("Which fruits are in the bowl?", "apples", "apples, pears", "extra-member"),
        ("Which countries border Portugal by land?", "Spain", "spain and france", "extra-member"),
        ("Which countries border Portugal by land?", "Spain", "Spain & Morocco", "extra-member"),
        ("Which countries border Portugal by land?", "Spain", "- Spain\n- France", "extra-member"),
        ("Which countries border Portugal by land?", "Spain", "Spain, Andorra, France", "extra-member"),
        ("Which countries border Portugal by land?", "Spain", "The countries are Spain and France.", "extra-member"),
        ("Which countries border Portugal by land?", "Spain", "France, not Spain", "negated"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "2,3,5,7,9", "extra-member"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "3, 5, 7", "list-incomplete"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "2, 3, 5, 7, 11", "extra-member"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "2, 3, 5 and 8", "other-member"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "1. 2\n2. 3\n3. 5\n4. 9", "other-member"),
        (
            "List the months with 30 days.",
            "April, June, September, November",
            "November, April, June and July",
            "other-member",
        ),
        (
            "List the months with 30 days.",
            "April, June, September, November",
            "April, June, September, November, February",
            "extra-member",
        ),
        ("Which two teams played the final?", "France and Croatia", "Croatia and Belgium", "other-member"),
        ("Which two teams played the final?", "France and Croatia", "France", "list-incomplete"),
        ("Who discovered the structure of DNA?", "James Watson and Francis Crick", "Francis Crick", "list-incomplete"),
        ("What did he order?", "fish and chips", "fish", "list-incomplete"),
        ("Which cities have offices?", "London, Paris, Rome", "London, Paris, Rome and Berlin", "extra-member"),
    ],
)
def test_another_list(question: str, reference: str, response: str, reason: str) -> None:
    """A list with a member too few or too many, with another one or with one denied is wrong, under that name."""
    seen = assess(question, (reference,), response)
    assert (seen.is_right, seen.reasons, seen.ruled) == (False, (reason,), True)


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Estonia, Latvia, Lithuania, and that is all."),
        (
            "List the Baltic states.",
            "Estonia, Latvia, Lithuania",
            "Estonia, Latvia and Lithuania, three countries in Northern Europe",
        ),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "2 3 5 7"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "2\n3\n5\n7"),
        ("Which countries border Portugal by land?", "Spain", "Spain"),
        ("Which countries border Portugal by land?", "Spain", "Just Spain"),
        ("Which countries border Portugal by land?", "Spain", "Spain and only Spain"),
        ("Which countries border Portugal by land?", "Spain", "Portugal borders Spain."),
        ("Where was he born?", "Springfield, Illinois, United States", "Springfield, Illinois"),
        ("Where was he born?", "Paris, Texas", "Paris, Texas, USA"),
        ("When was it?", "July 4, 1776", "4 July 1776"),
        ("What is the population?", "1,250,300", "1250300"),
        ("Which novel is it?", "Crime and Punishment", "Crime and Punishment"),
        ("Which band sang it?", "Peter, Paul and Mary", "Peter, Paul and Mary"),
        ("What are the three states of matter?", "solid, liquid and gas", "solids, liquids, and gases"),
        ("Which two elements make up water?", "hydrogen and oxygen", "Hydrogen (H) and oxygen (O)"),
        ("What colours are on the Italian flag?", "green, white, red", "green/white/red"),
        ("What colours are on the Italian flag?", "green, white, red", "green white red"),
        (
            "Who were the Beatles?",
            "John Lennon, Paul McCartney, George Harrison, Ringo Starr",
            "John, Paul, George and Ringo",
        ),
        ("Find all divisors of 12.", "1, 2, 3, 4, 6, 12", "1,2,3,4,6,12"),
        ("Find all divisors of 12.", "1, 2, 3, 4, 6, 12", "{1, 2, 3, 4, 6, 12}"),
        ("Find all divisors of 12.", "1, 2, 3, 4, 6, 12", "$1, 2, 3, 4, 6, 12$"),
        ("Find all divisors of 12.", "1, 2, 3, 4, 6, 12", "\\{1, 2, 3, 4, 6, 12\\}"),
        ("What are the next three numbers: 2, 4, 8?", "16, 32, 64", "16, 32, 64"),
        ("Which book is it?", "The Lion, the Witch and the Wardrobe", "The Lion, the Witch and the Wardrobe"),
        ("Which firm is it?", "Johnson & Johnson", "Johnson and Johnson"),
        ("Which firm is it?", "Procter & Gamble", "Procter and Gamble"),
        ("When did they meet?", "March 3, 2001", "3 March 2001"),
        ("When did they meet?", "March 3, 2001 and May 5, 2002", "May 5, 2002 and March 3, 2001"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Lithuania Latvia Estonia"),
        ("Which two elements make up water?", "hydrogen and oxygen", "Hydrogen + oxygen"),
        ("Which fruits are in the bowl?", "apples and pears", "an apple and a pear"),
        ("Which fruits are in the bowl?", "apples", "Apples, which are red"),
        ("Which languages does she speak?", "French", "French, her mother tongue"),
        ("Which countries won?", "Brazil", "Brazil, in South America"),
        ("What are the vowels?", "A, E, I, O, U", "a e i o u"),
        ("Select all that apply.", "A, C, D", "A C D"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Estonia, Latvia, Lithuania, obviously"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Estonia, Latvia, Lithuania, of course"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Estonia, Latvia, Lithuania (three in all)"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "Estonia, Latvia, Lithunia"),
        ("List the Baltic states.", "Estonia, Latvia, Lithuania", "a) Latvia b) Estonia c) Lithuania"),
        ("Which fruits are in the bowl?", "apples and pears", "apples, pears, mostly"),
        ("Which fruits are in the bowl?", "apples and pears", "pears and apples, I believe"),
        ("Which fruits are in the bowl?", "apples", "apples, mainly"),
        ("Which fruits are in the bowl?", "apples", "apples, yes"),
        ("Which fruits are in the bowl?", "apples", "only apples"),
        ("Which countries border Portugal by land?", "Spain", "Spain, obviously"),
        ("Which countries border Portugal by land?", "Spain", "Spain, of course"),
        ("Which countries border Portugal by land?", "Spain", "Spain, and no other country"),
        ("Which countries border Portugal by land?", "Spain", "Spain; Portugal has only one neighbour"),
        ("Which countries border Portugal by land?", "Spain", "- Spain"),
        ("Which countries border Portugal by land?", "Spain", "Spain, not France"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "2, 3, 5, 7 and no others"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "2, 3, 5, 7."),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "There are four: 2, 3, 5, 7"),
        ("List the prime numbers below 10.", "2, 3, 5, 7", "Two, three, five, seven"),
        ("Which two teams played the final?", "France and Croatia", "Croatia vs France"),
        ("Who discovered the structure of DNA?", "James Watson and Francis Crick", "Watson and Crick"),
        ("What is on the flag?", "a star and a crescent", "a crescent and a star"),
        ("What did he order?", "fish and chips", "fish and chips"),
        ("Which cities have offices?", "London, Paris, Rome", "London, England; Paris, France; Rome, Italy"),
    ],
)
def test_no_other_list(question: str, reference: str, response: str) -> None:
    """Remarks, categories, places and titles with commas make no other list."""
    found = by_members(question, read_question(question), prepare((reference,)), Candidate(response))
    assert found in (None, (True, "list"))


@pytest.mark.parametrize(
    ("question", "reference", "response", "is_right"),
    [
        (
            "What are the first three planets from the Sun, in order?",
            "Mercury, Venus, Earth",
            "Venus, Mercury, Earth",
            False,
        ),
        (
            "What are the first three planets from the Sun, in order?",
            "Mercury, Venus, Earth",
            "1. Mercury\n2. Venus\n3. Earth",
            True,
        ),
        (
            "What are the first three planets from the Sun, in order?",
            "Mercury, Venus, Earth",
            "Mercury, then Venus, then Earth",
            True,
        ),
        (
            "What are the first three planets from the Sun, in order?",
            "Mercury, Venus, Earth",
            "Earth, Venus and Mercury",
            False,
        ),
        (
            "What are the first three planets from the Sun, in order?",
            "Mercury, Venus, Earth",
            "Mercury, Venus, Mars",
            False,
        ),
        (
            "What are the first three planets from the Sun, in order?",
            "Mercury, Venus, Earth",
            "Mercury, Venus, Earth, Mars",
            False,
        ),
        ("Sort the numbers 3, 1, 2 in ascending order.", "1, 2, 3", "3, 2, 1", False),
        ("Sort the numbers 3, 1, 2 in ascending order.", "1, 2, 3", "1, 2, 3", True),
        ("Sort the numbers 3, 1, 2 in ascending order.", "1, 2, 3", "1 < 2 < 3", True),
        ("Sort the numbers 3, 1, 2 in ascending order.", "1, 2, 3", "3, 1, 2", False),
        ("Sort the numbers 3, 1, 2 in ascending order.", "1, 2, 3", "[1, 2, 3]", True),
        (
            "Rank these by size, from smallest to largest: horse, mouse, cat.",
            "mouse, cat, horse",
            "mouse, horse, cat",
            False,
        ),
        (
            "Rank these by size, from smallest to largest: horse, mouse, cat.",
            "mouse, cat, horse",
            "mouse -> cat -> horse",
            True,
        ),
        (
            "Rank these by size, from smallest to largest: horse, mouse, cat.",
            "mouse, cat, horse",
            "horse, mouse, cat",
            False,
        ),
        (
            "List the Great Lakes in alphabetical order.",
            "Erie, Huron, Michigan, Ontario, Superior",
            "Superior, Michigan, Huron, Erie, Ontario",
            False,
        ),
        (
            "Name the first three US presidents.",
            "George Washington, John Adams, Thomas Jefferson",
            "John Adams, George Washington, Thomas Jefferson",
            False,
        ),
        (
            "Name the first three US presidents.",
            "George Washington, John Adams, Thomas Jefferson",
            "George Washington, John Adams and Thomas Jefferson",
            True,
        ),
        ("Put these in order of size, smallest first: cow, ant, dog", "ant, dog, cow", "ant, dog and cow", True),
        ("Put these in order of size, smallest first: cow, ant, dog", "ant, dog, cow", "cow, dog, ant", False),
        (
            "In which order did they rule?",
            "Henry VII, Henry VIII, Edward VI",
            "Henry VIII, Henry VII, Edward VI",
            False,
        ),
        (
            "In which order did they rule?",
            "Henry VII, Henry VIII, Edward VI",
            "Henry VII, then Henry VIII, then Edward VI",
            True,
        ),
        ("What is the order of the planets?", "Mercury, Venus, Earth, Mars", "Mars, Earth, Venus, Mercury", False),
        ("Arrange the words alphabetically: pear, apple, fig", "apple, fig, pear", "apple, fig, pear", True),
        ("Arrange the words alphabetically: pear, apple, fig", "apple, fig, pear", "pear, apple, fig", False),
        ("Arrange the words alphabetically: pear, apple, fig", "apple, fig, pear", "fig, apple, pear", False),
        (
            "List the months with 30 days in chronological order.",
            "April, June, September, November",
            "April, September, June, November",
            False,
        ),
        (
            "List the months with 30 days in chronological order.",
            "April, June, September, November",
            "April, June, September, November",
            True,
        ),
        ("Sort in descending order: 5, 9, 1", "9, 5, 1", "9, 5, 1", True),
        ("Sort in descending order: 5, 9, 1", "9, 5, 1", "1, 5, 9", False),
        ("Sort in descending order: 5, 9, 1", "9, 5, 1", "9 > 5 > 1", True),
        ("Sort in descending order: 5, 9, 1", "9, 5, 1", "9\n5\n1", True),
    ],
)
def test_order(question: str, reference: str, response: str, *, is_right: bool) -> None:
    """Where the question asks for an order, the same members in another one are wrong."""
    assert assess(question, (reference,), response).is_right is is_right


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("List them in order.", True),
        ("List them in the correct order.", True),
        ("List them in order of size.", True),
        ("In which order did they rule?", True),
        ("Sort them.", True),
        ("Rank them by size.", True),
        ("Name them from smallest to largest.", True),
        ("Who were the first three presidents?", True),
        ("List them in any order.", False),
        ("List them in no particular order.", False),
        ("What is needed in order to win?", False),
        ("What sort of fruits are they?", False),
        ("Who was the first president?", False),
        ("Which towns does the road from Rome to Ostia cross?", False),
    ],
)
def test_is_ordered(question: str, *, expected: bool) -> None:
    """An order is asked for by its name, by sorting and ranking, or from one end to the other."""
    assert is_ordered(question) is expected


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("The Gospels of the New Testament are Matthew, Mark, Luke and John.", None),
        ("The Gospels of the New Testament are Matthew, Mark, Luke, John and Acts.", (False, "extra-member")),
        ("The Gospels of the New Testament are Matthew, Mark and Luke.", (False, "list-incomplete")),
        ("The New Testament is made up of Matthew, Mark, Luke, John and Acts.", (False, "extra-member")),
        ("The forged ones are Matthew, Mark, Luke and John.", None),
        ("Those that never existed are Matthew, Mark and Luke.", None),
    ],
)
def test_words_before_a_list(response: str, expected: tuple[bool, str] | None) -> None:
    """Behind words that the question lacks a list may be wrong, and is not right for sure."""
    question = "Name the four Gospels."
    prepared = prepare(("Matthew, Mark, Luke, John",))
    assert by_members(question, read_question(question), prepared, Candidate(response)) == expected


def test_appositions() -> None:
    """What stands behind a name and is not written as one tells of it; after an `and` it is another thing."""
    question = "Which rivers flow through Cairo?"
    assert assess(question, ("Nile",), "The Nile, Africa's longest river").is_right
    assert assess(question, ("Nile",), "the Nile and the Congo").reasons == ("extra-member",)
    assert assess("Which languages does she speak?", ("French",), "French and a little German").reasons == (
        "extra-member",
    )


def test_all_references_are_looked_at() -> None:
    """A list is wrong only if it is none of those that are accepted; beside other references nothing is decided."""
    question = "What are its colours?"
    assert assess(question, ("red and blue", "red, blue and gold"), "gold, blue, red").reasons == ("list",)
    assert assess(question, ("red and blue", "red, blue and gold"), "blue").reasons == ("list-incomplete",)
    assert lists_of(["red and blue", "purple"]) == ()
    asked = read_question(question)
    assert by_members(question, asked, prepare(("red", "blue")), Candidate("red and blue")) is None


@given(st.text(alphabet="ab,;/&and ortheis:-*123.()\n<>", max_size=700))
def test_any_text(text: str) -> None:
    """Whatever a reference or a response is made of, it is read, and soon."""
    lists_of([text])
    prepared = prepare(("a1, b2 and d3",))
    found = by_members("Which are they?", read_question("Which are they?"), prepared, Candidate(text))
    assert found is None or found[0] == (found[1] == "list")
