"""Places that lie in one another: a coarser one is accepted with doubt where the question is where something is."""

import json
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from adjudge.judges.local._tier0 import assess

TRAINING = Path(__file__).parents[2] / "training"


@pytest.mark.parametrize(
    ("question", "references", "response"),
    [
        ("Where is the Prado?", ["Madrid"], "Spain"),
        ("Where is the Prado?", ["Madrid"], "It is in Spain."),
        ("where is the prado", ["in Madrid"], "in spain"),
        ("Where does the baobab grow?", ["Senegal"], "the west coast of Africa"),
        ("Where does the baobab grow?", ["Senegal"], "Located in Africa"),
        ("Where was she born?", ["Brooklyn"], "New York"),
        ("Where was she born?", ["Round Rock, Texas"], "She was born in the United States."),
        ("Where in Europe did it begin?", ["Bavaria", "Munich"], "Germany"),
    ],
)
def test_a_coarser_place(question: str, references: list[str], response: str) -> None:
    """What a place lies in, or what that lies in, says where something is: CORRECT, with low confidence."""
    seen = assess(question, tuple(references), response)
    assert (seen.is_right, seen.reasons) == (True, ("coarser-place", "low-confidence"))


@pytest.mark.parametrize(
    ("question", "references", "response"),
    [
        ("Where is the Prado?", ["Madrid"], "Portugal"),
        ("Where is the Prado?", ["Madrid"], "Barcelona, Spain"),
        ("Where is the Prado?", ["Madrid"], "Torremolinos, Spain"),
        ("Where is the Prado?", ["Madrid"], "not in Spain"),
        ("Where is the Prado?", ["Madrid"], "Spain or Portugal"),
        ("Where is the Prado?", ["Madrid"], "Spain and Portugal"),
        ("Where is the Prado?", ["Madrid"], "Europe"),
        ("Where is the Prado?", ["Madrid"], "the northern hemisphere"),
        ("Where in Spain is the Prado?", ["Madrid"], "Spain"),
        ("Which city has the Prado?", ["Madrid"], "Spain"),
        ("Who beat France?", ["Bavaria"], "Germany"),
        ("Where is the Prado?", ["Spain"], "Seville"),
        ("Where was she born?", ["Paris"], "Texas"),
    ],
)
def test_no_coarser_place(question: str, references: list[str], response: str) -> None:
    """Another place, a finer one, a continent for a town, the question's own, a choice: none is taken for it."""
    assert "coarser-place" not in assess(question, tuple(references), response).reasons


def test_the_table_is_whole() -> None:
    """Every region has its names, and a place that lies in it; the table stays small."""
    text = files("adjudge.judges.local").joinpath("places.json").read_text(encoding="utf-8")
    record = json.loads(text)
    regions, places = record["regions"], record["places"]
    assert len(text) < 200_000
    assert all(names and all(names) for names in regions)
    assert {number for wholes in places.values() for number in wholes} == set(range(len(regions)))


def test_the_table_is_made_from_wordnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Towns have their country, countries their continent, towns no continent; ordinary nouns are left out."""
    monkeypatch.syspath_prepend(str(TRAINING))
    import places

    (tmp_path / "data.noun").write_text(
        "  1 a licence\n"
        "00000010 17 n 01 continent 0 000 | a large landmass\n"
        "00000020 17 n 01 Africa 0 001 @i 00000010 n 0000 | a continent\n"
        "00000030 15 n 02 Senegal 0 Republic_of_Senegal 0 002 @i 00000060 n 0000 #p 00000020 n 0000 | a republic\n"
        "00000040 15 n 01 Dakar 0 002 @i 00000070 n 0000 #p 00000030 n 0000 | a port\n"
        "00000050 15 n 01 harbour 0 001 #p 00000040 n 0000 | a place for ships\n",
        encoding="utf-8",
    )
    (tmp_path / "index.noun").write_text(
        "  1 a licence\n"
        "africa n 1 1 @i 1 0 00000020\n"
        "dakar n 1 1 @i 1 0 00000040\n"
        "harbour n 1 1 #p 1 0 00000050\n"
        "senegal n 2 1 @i 2 0 00000050 00000030\n",
        encoding="utf-8",
    )
    out = tmp_path / "places.json"
    monkeypatch.setattr(sys, "argv", ["places.py", str(tmp_path), "--out", str(out)])
    places.main()
    made = json.loads(out.read_text(encoding="utf-8"))
    assert made["regions"] == [["Senegal", "Republic of Senegal"], ["Africa"]]
    assert made["places"] == {"africa": [], "dakar": [0], "senegal": [1]}
    assert made["names"] == [["Senegal", "Republic of Senegal"]]


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("10–12 years", "11. 5 years"),
        ("Rosebud", "` ` rosebud''"),
    ],
)
def test_blanks_inside_of_figures(reference: str, response: str) -> None:
    """Systems that join tokens with blanks write figures and quotes apart: they are the same."""
    assert assess("What is it?", (reference,), response).is_right


@pytest.mark.parametrize(
    ("reference", "response"),
    [("2,579", "2, 580"), ("1200", "1, 2, 3"), ("5", "In 1990. 6 of them."), ("12", "1. 2"), ("100200", "100 or 200")],
)
def test_blanks_that_are_none(reference: str, response: str) -> None:
    """Figures are joined only to give the reference's number, not to make one up."""
    assert not assess("How many are there?", (reference,), response).is_right
