"""Short statements: what turns one round, what turns it back, and what says yes or no."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._senses import sense_of
from adjudge.judges.local._tier0 import assess

DRUG = "Did the drug reduce symptoms compared with placebo?", "It reduced symptoms."
SHOP = "Is the shop open on Sundays?", "It is closed on Sundays."
RESULT = "Was the result statistically significant?", "No, it was not significant."
SALT = "Is the substance soluble in water?", "It is insoluble."
PRICES = "What happened to prices last year?", "Prices rose."
EXAM = "Did Anna pass the exam?", "She failed the exam."
COURT = "Was the defendant found guilty?", "not guilty"
BIRDS = "Can penguins fly?", "Penguins cannot fly."


@pytest.mark.parametrize(
    ("row", "response"),
    [
        (DRUG, "It did not reduce symptoms."),
        (DRUG, "Symptoms were not reduced."),
        (DRUG, "It increased symptoms."),
        (DRUG, "It failed to reduce symptoms."),
        (SHOP, "It isn't closed on Sundays."),
        (SHOP, "It is open on Sundays."),
        (RESULT, "The result was statistically significant."),
        (("How was it?", "not significant"), "significant"),
        (("How is it described?", "non-toxic"), "It is toxic."),
        (("What was the bridge like?", "It was unsafe."), "The bridge was safe."),
        (SALT, "It isn't insoluble."),
        (SALT, "It dissolves in water."),
        (PRICES, "Prices did not rise."),
        (PRICES, "They went down."),
        (("When did she leave?", "She left before the storm."), "She left after the storm."),
        (("What was the reply?", "They agreed."), "They disagreed."),
        (("Who eats more?", "Men eat more than women."), "Men eat less than women."),
        (COURT, "He was convicted."),
        (EXAM, "She passed the exam."),
    ],
)
def test_what_turns_a_statement_round(row: tuple[str, str], response: str) -> None:
    """A statement with a denial more, or with one opposite, says something else."""
    seen = assess(row[0], (row[1],), response)
    assert (seen.is_right, seen.ruled) == (False, True)
    assert seen.reasons[0] in ("negated", "opposite", "yes-no")


@pytest.mark.parametrize(
    ("row", "response"),
    [
        (SHOP, "It isn't open on Sundays."),
        (RESULT, "The result was non-significant."),
        (RESULT, "insignificant"),
        (SALT, "It does not dissolve in water."),
        (PRICES, "Prices went up."),
        (COURT, "He was acquitted."),
        (EXAM, "She did not pass."),
        (("Why did he resign?", "He was not paid."), "He was unpaid."),
    ],
)
def test_what_has_the_same_sense(row: tuple[str, str], response: str) -> None:
    """A denial of the opposite says the same, and so does another word on the same side."""
    found = assess(row[0], (row[1],), response)
    assert (found.is_right, found.reasons) == (True, ("same-sense",))


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("Prices fell.", "Prices did not rise."),  # they may have stayed
        ("It reduced symptoms.", "It may not have reduced symptoms."),
        ("It reduced symptoms.", "It not only reduced symptoms."),
        ("It reduced symptoms.", "It reduced symptoms, not mortality."),
        ("It is famous.", "It is not infamous."),
        ("oil", "Oil does not burn."),
    ],
)
def test_what_is_not_plain(reference: str, response: str) -> None:
    """What lies between two opposites, what may be, and words that only look denied are left to the model."""
    seen = assess("What did they find?", (reference,), response)
    assert not {"same-sense", "opposite"}.intersection(seen.reasons)


def test_a_question_that_denies() -> None:
    """Where the question denies, an answer may repeat the denial."""
    assert assess("What does not dissolve in water?", ("oil",), "Oil does not dissolve in water.").is_right
    assert assess("Which bird cannot fly?", ("ostrich",), "The ostrich cannot fly.").is_right


@pytest.mark.parametrize(
    ("row", "right", "wrong"),
    [
        (DRUG, "Yes, it did.", "No."),
        (SHOP, "No.", "Yes."),
        (RESULT, "It wasn't.", "Yes, it was."),
        (BIRDS, "They can't.", "Yes, they can."),
        (EXAM, "No", "Yes, she did."),
        (("Does water boil at 100 degrees?", "Yes, it does."), "true", "It doesn't."),
        (("Is Berlin in France?", "No, it is in Germany."), "It is not in France.", "It is in France."),
        (("Is the shop open?", "No"), "The shop is closed.", "It is not closed."),
        (("Is the substance insoluble?", "Yes"), "It is not soluble.", "It's soluble."),
        (("Did the temperature rise?", "Yes"), "It went up.", "It fell."),
        (("Is the statement right?", "incorrect"), "wrong", "Yes, it is correct."),
        (("Is the statement right?", "correct"), "It is not wrong.", "It is not correct."),
        (("Had the train left by noon?", "No"), "I hear that it hadn't, at any rate by noon.", "Yes, it had."),
        (("Is the Earth flat?", "No"), "The Earth is not flat.", "The Earth is flat."),
    ],
)
def test_yes_and_no(row: tuple[str, str], right: str, wrong: str) -> None:
    """A bare yes or no is what the reference says to the question; a statement is the yes or no that it says."""
    seen = [assess(row[0], (row[1],), one) for one in (right, wrong)]
    assert [(one.is_right, one.reasons) for one in seen] == [(True, ("yes-no",)), (False, ("yes-no",))]


@pytest.mark.parametrize(
    "response", ["Yes. No.", "The drug.", "Drug symptoms", "Did it?", "Yes, it did not.", "It may."]
)
@pytest.mark.parametrize("reference", ["Yes", "It reduced symptoms.", "Yes, it did."])
def test_neither_yes_nor_no(reference: str, response: str) -> None:
    """Both, words without a verb, a question and what may be are no yes."""
    seen = assess(DRUG[0], (reference,), response)
    assert seen.reasons != ("yes-no",) or not seen.is_right or response.startswith("Yes, ")


def test_a_yes_or_no_that_is_not_said() -> None:
    """A statement about a part of the question says neither yes nor no to it."""
    assert not assess("Is Paris the capital of France?", ("Yes",), "It is in France.").is_right
    assert not assess("Is Paris the capital of France?", ("No",), "It is in France.").is_right


@pytest.mark.parametrize(
    ("reference", "response", "is_right"),
    [
        ("her brother's friend", "a friend of her brother", True),
        ("the mother of his uncle", "his uncle’s mother", True),
    ],
)
def test_whose_it_is(reference: str, response: str, is_right: bool) -> None:
    """Whose and what cannot be exchanged."""
    seen = assess("Who did Maria marry?", (reference,), response)
    assert (seen.is_right, seen.reasons == ("swapped-roles",)) == (is_right, not is_right)


@given(st.text(max_size=60))
def test_any_text_has_a_sense_or_none(text: str) -> None:
    """No text is too odd to be read."""
    sense = sense_of(text)
    assert sense is None or sense.denials >= 0
