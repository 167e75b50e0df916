r"""Substances by their formula, their symbol or their name: `NaCl` is sodium chloride, `Au` is gold.

"$\mathrm{CO_2}$", "co2" and "carbon dioxide"  ->  "CO2";   "H₂"  ->  "H";   "Nacl2"  ->  None
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

from adjudge.judges.local._codes.given import choices, given
from adjudge.judges.local._reading.candidate import Candidate, Decision, Question
from adjudge.judges.local._reading.words import DENIALS, words

_LONGEST = 60  # characters of a response that names a substance
_LOOKED_AT = 50  # references
_ELEMENTS = """H hydrogen He helium Li lithium Be beryllium B boron C carbon N nitrogen O oxygen F fluorine Ne neon
Na sodium Mg magnesium Al aluminium Si silicon P phosphorus S sulfur Cl chlorine Ar argon K potassium Ca calcium
Sc scandium Ti titanium V vanadium Cr chromium Mn manganese Fe iron Co cobalt Ni nickel Cu copper Zn zinc Ga gallium
Ge germanium As arsenic Se selenium Br bromine Kr krypton Rb rubidium Sr strontium Y yttrium Zr zirconium Nb niobium
Mo molybdenum Tc technetium Ru ruthenium Rh rhodium Pd palladium Ag silver Cd cadmium In indium Sn tin Sb antimony
Te tellurium I iodine Xe xenon Cs caesium Ba barium La lanthanum Ce cerium Nd neodymium Sm samarium Eu europium
Gd gadolinium W tungsten Re rhenium Os osmium Ir iridium Pt platinum Au gold Hg mercury Tl thallium Pb lead Bi bismuth
Po polonium At astatine Rn radon Fr francium Ra radium Ac actinium Th thorium U uranium Np neptunium Pu plutonium
Am americium Cm curium Es einsteinium Fm fermium No nobelium"""
_COMPOUNDS = {
    "H2O": "water", "NaCl": "sodium chloride|table salt", "CO2": "carbon dioxide", "CO": "carbon monoxide",
    "H2O2": "hydrogen peroxide", "O3": "ozone", "NH3": "ammonia", "CH4": "methane", "C2H6": "ethane",
    "C3H8": "propane", "C4H10": "butane", "C2H4": "ethylene|ethene", "C6H6": "benzene", "CH3OH": "methanol",
    "C2H5OH": "ethanol|ethyl alcohol", "CH3COOH": "acetic acid|ethanoic acid", "C6H12O6": "glucose",
    "C12H22O11": "sucrose", "HCl": "hydrochloric acid|hydrogen chloride", "H2SO4": "sulfuric acid|sulphuric acid",
    "HNO3": "nitric acid", "H3PO4": "phosphoric acid", "H2CO3": "carbonic acid", "KOH": "potassium hydroxide",
    "NaOH": "sodium hydroxide|caustic soda", "KCl": "potassium chloride", "CaCO3": "calcium carbonate",
    "CaO": "calcium oxide|quicklime", "CaCl2": "calcium chloride", "Na2CO3": "sodium carbonate|washing soda",
    "N2O": "nitrous oxide|laughing gas|dinitrogen monoxide", "Ca(OH)2": "calcium hydroxide",
    "NaHCO3": "sodium bicarbonate|sodium hydrogen carbonate|bicarbonate of soda|baking soda",
    "Fe2O3": "iron(III) oxide|ferric oxide", "SiO2": "silicon dioxide|silica", "SO2": "sulfur dioxide|sulphur dioxide",
    "NO2": "nitrogen dioxide", "H2S": "hydrogen sulfide", "NH4": "ammonium",
}  # fmt: skip
_PAIRS = dict(zip(_ELEMENTS.split()[::2], _ELEMENTS.split()[1::2], strict=True))
_NAMES = {name: symbol for symbol, name in _PAIRS.items()}
_NAMES |= {"aluminum": "Al", "sulphur": "S", "cesium": "Cs", "quicksilver": "Hg"}
_NAMES |= {name.lower(): formula for formula, names in _COMPOUNDS.items() for name in names.split("|")}
_FORMULAS = {symbol: symbol for symbol in _PAIRS} | {formula: formula for formula in _COMPOUNDS}
_FORMULAS |= {f"{one}2": one for one in ("H", "N", "O", "F", "Cl", "Br", "I")}
_SMALL = {formula.lower(): formula for formula in _FORMULAS if len(formula) > 2}
_ATOM = rf"(?:{'|'.join(sorted(_PAIRS, key=len, reverse=True))})\d*"
_ANY = re.compile(rf"(?:{_ATOM}|\((?:{_ATOM})+\)\d*){{1,12}}[+-]?")
_MARKS = re.compile(r"\\(?:mathrm|text|ce|rm)\b|[\s_{}$\\]")
_CHEMISTRY = frozenset(
    ("element", "symbol", "chemical", "chemically", "formula", "compound", "molecule", "metal", "gas", "atomic")
)
_WRITTEN = frozenset(("symbol", "formula"))
_CALLED = frozenset(("name", "called", "known"))


def substances_of(references: Sequence[str]) -> frozenset[str]:
    """Return the substances that are accepted, by their formulas, if nothing else is; else none.

    >>> sorted(substances_of(["table salt", "NaCl"])), sorted(substances_of(["gold", "a medal"]))
    (['NaCl'], [])
    """
    found: set[str] = set()
    for text in references[:_LOOKED_AT]:
        substance = read_substance(text) if len(text) <= _LONGEST else None
        if substance is None:
            return frozenset()
        found.add(substance)
    return frozenset(found)


def read_substance(text: str) -> str | None:
    """Return the formula of a text that is a substance, as its name or its formula.

    >>> [read_substance(text) for text in ("H₂O", "water", "$H_2O$", "Au", "h2", "au")]
    ['H2O', 'H2O', 'H2O', 'Au', None, None]
    """
    name = _NAMES.get(text.strip().lower())
    if name is not None:
        return name
    plain = _formula(text)
    return _FORMULAS.get(plain) or _SMALL.get(plain.lower())


def by_substance(
    asked: Question, accepted: frozenset[str], references: Sequence[str], candidate: Candidate
) -> Decision | None:
    """Judge a short candidate by the substance that it is, in any form; None where that is not plain."""
    if not accepted or len(candidate.text) > _LONGEST or not DENIALS.isdisjoint(candidate.plain):
        return None
    is_chemistry = not asked.plain.isdisjoint(_CHEMISTRY)
    # For example `No`, `CO`.
    if not is_chemistry and any(len(one) < 3 for one in references):
        return None
    several = set() if asked.wants_list else set(map(read_substance, choices(candidate.text)))
    if len(several) > 1 and None not in several:
        return False, "many-answers" if len(several) > 2 else "hedged"
    is_written = is_chemistry and all(map(_is_formula, references))
    for reading in given(candidate.text):
        found = read_substance(reading)
        if found in accepted:
            return (True, "substance") if _answers(asked, reading) else None
        if found is not None or (is_written and _is_formula(_formula(reading))):
            return False, "other-substance"
    return None


def _answers(asked: Question, reading: str) -> bool:
    """Whether the question asks for this form of a substance, and does not have it itself."""
    plain = reading.strip().lower()
    if plain not in _NAMES:
        return asked.plain.isdisjoint(_CALLED) and not asked.plain.issuperset(words(_formula(reading)))
    return asked.plain.isdisjoint(_WRITTEN) and not asked.plain.issuperset(words(plain))


def _formula(text: str) -> str:
    return _MARKS.sub("", normalize("NFKC", text))


def _is_formula(text: str) -> bool:
    return len(text) > 1 and _ANY.fullmatch(text) is not None
