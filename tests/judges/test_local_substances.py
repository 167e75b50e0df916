"""Substances: a formula, a symbol and a name of the same one are one answer, unless the question asks for a form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local._formulas import by_substance, read_substance, substances_of
from adjudge.judges.local._pair import Candidate, read_question
from adjudge.judges.local._tier0 import assess

_TABLE = [
    (
        "What is table salt chemically?",
        "sodium chloride",
        ["NaCl", "sodium chloride", "NaCl (sodium chloride)", "nacl"],
        ["KCl", "potassium chloride", "NaOH", "sodium hydroxide", "Na", "Cl2"],
    ),
    (
        "What do plants take in?",
        "carbon dioxide",
        ["CO2", "CO₂", "carbon dioxide (CO2)", "$\\mathrm{CO_2}$", "CO2 gas"],
        ["CO", "O2", "carbon monoxide", "H2O"],
    ),
    ("What do we drink?", "water", ["H2O", "H₂O", "$H_2O$"], ["H2O2", "D2", "HO", "CO2"]),
    (
        "What is the formula of water?",
        "H2O",
        ["H₂O", "H2O", "h2o", "\\ce{H2O}", "The formula is H2O.", "H_2O"],
        ["water", "H2O2", "HO", "OH", "HO2", "H3O"],
    ),
    (
        "What is the formula of salt?",
        "NaCl",
        ["NaCl", "Na Cl", "nacl", "The formula is NaCl.", "\\text{NaCl}"],
        ["KCl", "Na2Cl", "NaOH", "salt", "sodium chloride", "CaCl"],
    ),
    (
        "What is the formula of sulfuric acid?",
        "H2SO4",
        ["H₂SO₄", "H2SO4", "H_2SO_4", "$\\mathrm{H_2SO_4}$"],
        ["H2SO3", "HSO4", "H2S", "HCl", "sulfuric acid"],
    ),
    ("What is the formula of rust?", "Fe2O3", ["Fe₂O₃", "Fe2O3", "Fe_2O_3"], ["FeO", "Fe3O4", "Fe2O", "FeO3"]),
    (
        "Which acid is in the stomach?",
        "hydrochloric acid",
        ["HCl", "hydrochloric acid", "HCl (hydrochloric acid)"],
        ["H2SO4", "sulfuric acid", "HNO3", "hydrofluoric acid", "NaCl"],
    ),
    ("What is the symbol of gold?", "Au", ["Au", "AU", "au", "The symbol is Au."], ["Ag", "Go", "gold", "Gd", "Al"]),
    ("Which metal is in the ring?", "gold", ["Au", "gold", "Gold (Au)"], ["Ag", "silver", "Fe", "copper", "Cu"]),
    ("Which element has atomic number 26?", "iron", ["Fe", "iron", "Fe (iron)"], ["Ir", "Cu", "iridium", "Co"]),
    (
        "Which element has atomic number 26?",
        "Fe",
        ["iron", "Fe", "Iron (Fe)"],
        ["copper", "F", "Cu", "fermium", "cobalt"],
    ),
    ("What is the symbol of sodium?", "Na", ["Na"], ["So", "S", "K", "sodium", "Sd"]),
    (
        "What gas do we breathe in to live?",
        "oxygen",
        ["O2", "oxygen", "O₂", "oxygen gas"],
        ["CO2", "N2", "nitrogen", "O3", "ozone"],
    ),
    ("Which gas is O3?", "ozone", ["ozone"], ["oxygen", "O2"]),
    ("What gas is produced?", "hydrogen", ["H2 gas", "H2", "hydrogen gas", "H₂"], ["chlorine gas", "Cl2", "O2", "He"]),
    ("What gas is produced?", "ammonia", ["NH3", "ammonia gas"], ["NH4", "nitrogen", "ammonium", "N2"]),
    ("What is natural gas mostly?", "methane", ["CH4", "CH₄"], ["C2H6", "ethane", "methanol", "CH3OH", "propane"]),
    (
        "What is baking soda?",
        "sodium bicarbonate",
        ["NaHCO3", "sodium hydrogen carbonate", "NaHCO₃"],
        ["Na2CO3", "sodium carbonate", "NaOH", "baking powder"],
    ),
    (
        "What is in chalk?",
        "CaCO3",
        ["calcium carbonate", "CaCO₃"],
        ["calcium chloride", "CaCl2", "calcium oxide", "CaO"],
    ),
    (
        "What is the name of the compound N2O?",
        "nitrous oxide",
        ["nitrous oxide", "laughing gas", "dinitrogen monoxide"],
        ["nitric oxide", "nitrogen dioxide", "N2O"],
    ),
    ("Which metal is liquid at room temperature?", "mercury", ["Hg", "mercury"], ["Pb", "Ag", "gallium"]),
    ("Which organisation won?", "CO", ["CO"], []),
    ("Which network aired it?", "CNN", ["CNN"], ["NBC", "CBS"]),
]
_RIGHT = [(question, reference, one) for question, reference, right, _ in _TABLE for one in right]
_WRONG = [(question, reference, one) for question, reference, _, wrong in _TABLE for one in wrong]


@pytest.mark.parametrize(("question", "reference", "response"), _RIGHT)
def test_the_same_substance(question: str, reference: str, response: str) -> None:
    """A substance may be given by its name or its formula, in any writing."""
    assert assess(question, (reference,), response).is_right


@pytest.mark.parametrize(("question", "reference", "response"), _WRONG)
def test_another_substance(question: str, reference: str, response: str) -> None:
    """Another substance is wrong, and so is a name where the formula is asked for."""
    assert not assess(question, (reference,), response).is_right


@pytest.mark.parametrize(
    ("question", "reference", "response"),
    [
        ("What is H2O?", "water", "H2O"),
        ("What is the symbol of iron?", "Fe", "iron"),
        ("What is the formula of salt?", "NaCl", "sodium chloride"),
        ("What is the compound called?", "methane", "CH4"),
        ("Which gas is it?", "carbon dioxide", "It is not CO2."),
        ("Is it so?", "No", "nobelium"),
        ("Which state is it?", "CO", "carbon monoxide"),
        ("What is it made of?", "iron", "steel"),
    ],
)
def test_what_is_not_plain_is_left_alone(question: str, reference: str, response: str) -> None:
    """What repeats the question, gives the form that is not asked for, or may be no substance is left alone."""
    accepted = substances_of([reference])
    assert accepted
    assert by_substance(read_question(question), accepted, [reference], Candidate(response)) is None


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    """No text is a fault: it is a substance or none, and judged by a name, or left."""
    read = read_substance(text)
    assert read is None or read == read_substance(text)
    found = by_substance(read_question("Which gas is it?"), substances_of(["CO2"]), ["CO2"], Candidate(text))
    assert found is None or found[1] in ("substance", "other-substance", "hedged", "many-answers", "negated")
