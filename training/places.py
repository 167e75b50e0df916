"""Make `places.json`: which places lie in which, from WordNet's database (`data.noun` and `index.noun` of a folder).

    python training/places.py WORDNET/dict

Kept are places with a name of their own, each with the places that people take for it where a coarser answer will do:
what it lies in and what that lies in, continents only for what lies in them directly. Of a name with several places,
WordNet's first one counts; `others` has what its namesakes lie in, but for capitals, beside which nobody means those.
`names` keeps the names of one place together, each with the place that it means first; abbreviations with all.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

OUT = Path(__file__).parents[1] / "src/adjudge/judges/local/places.json"
LOCATION, OBJECT = "15", "17"  # WordNet's files of places, and of natural objects: continents, rivers, mountains
INSTANCE, PART_OF = "@i", "#p"
CONTINENT = "continent"
TOO_LARGE = frozenset(
    "northern hemisphere,southern hemisphere,eastern hemisphere,western hemisphere,eurasia".split(",")
)
DIRECTIONS = frozenset("north,south,east,west,northeast,northwest,southeast,southwest,midwest,occident".split(","))
MEANT = {"russia": "Russian Federation", "kuwait": "State of Kuwait"}  # not WordNet's first ones
HOMONYMS = frozenset(
    "new york,washington,georgia,congo,korea,jersey,samoa,micronesia,ireland,macedonia,quebec,birmingham".split(",")
)
WORDS_TOO = frozenset("OK,HI,IN,ME,OR,AS,PR,TT,VI,GU,H.I.".split(","))  # abbreviations that say something else
_OTHER_PLACES = """
Yugoslavia; Federal Republic of Yugoslavia; Jugoslavija; United Arab Republic; Central Africa; French Sudan; Haiti;
Hayti; South West Africa; Dutch East Indies; Annam; Holy Land; Promised Land; Canaan; Byzantium; Latin Quarter; Left
Bank; Sion; Kalimantan; West Malaysia; Salvador; Leicester; Forbidden City; Queen City; Gold Coast; Salisbury; Ragusa;
Port Arthur; Colon; Mona; Cambria; Santiago; Madras; the City; Caribees; Hub of the Universe; Persian Empire; East
India; Libra the Balance; Libra the Scales; Ram; Bull; Twins; Crab; Lion; Virgin; Balance; Scorpion; Archer; Goat;
Water Bearer; Fish; Hunter; Dragon; Crow; Crane; Dove; Snake; Triangle; Wagon; Wain; Plough; Centaur; Chameleon;
Charioteer; Dixie; the Hill; Rand; Reef; Para; Free State; First State; Old Colony; Golden State; Silver State;
Mountain State; Near East
"""
_MORE = """
New York City/NYC/Big Apple; Czech Republic/Czechia; United Arab Emirates/UAE/Emirates; Democratic Republic of the
Congo/DRC/DR Congo/Congo-Kinshasa; Swaziland/Eswatini; Turkey/Turkiye; Cape Verde/Cabo Verde; East Timor/Timor-Leste;
Sri Lanka/Ceylon; Republic of the Congo/Congo-Brazzaville; Myanmar/Republic of the Union of Myanmar; Iran/Persia;
Japan/Nippon/Nihon; Los Angeles/LA; San Francisco/SF; Kolkata/Calcutta; Leningrad/Saint Petersburg/St. Petersburg;
Deutschland/Federal Republic of Germany; Vatican City/the Vatican; Kyiv/Kiev; Chennai/Madras; Mexico City/Ciudad de
Mexico; Venice/Venezia; Florence/Firenze; Munich/Munchen; Vienna/Wien; Cologne/Koln; Prague/Praha; Moscow/Moskva;
Warsaw/Warszawa; Copenhagen/Kobenhavn; Lisbon/Lisboa; Brussels/Bruxelles; Geneva/Geneve; Beijing/Peking;
Guangzhou/Canton
"""
FORMAL = frozenset(
    "republic kingdom state states federal democratic people's peoples socialist islamic union "
    "commonwealth grand duchy principality federation federative federated of the and america arab "
    "hashemite popular united independent great ".split()
)
OTHER_PLACES = frozenset(" ".join(_OTHER_PLACES.split()).split("; "))
MORE = {names[0]: names[1:] for names in (one.split("/") for one in " ".join(_MORE.split()).split("; "))}
CLAIMED = frozenset(name for names in MORE.values() for name in names)  # whatever else has this name


@dataclass(frozen=True, slots=True)
class Place:
    """A synset that is one place."""

    names: tuple[str, ...]
    wholes: tuple[str, ...]
    is_continent: bool
    is_land: bool  # no river, no mountain


def read_places(text: Iterator[str]) -> dict[str, Place]:
    """Return the places of `data.noun` by their offset."""
    lines = [line.split("|")[0].split() for line in text if not line.startswith("  ")]
    continents = {line[0] for line in lines if line[4] == CONTINENT}
    found: dict[str, Place] = {}
    for line in lines:
        end = 4 + 2 * int(line[3], 16)
        names = tuple(line[at].replace("_", " ") for at in range(4, end, 2))
        pointers = [(line[at], line[at + 1]) for at in range(end + 1, end + 1 + 4 * int(line[end]), 4)]
        kinds = {offset for sign, offset in pointers if sign == INSTANCE}
        if line[1] in (LOCATION, OBJECT) and kinds:
            wholes = tuple(offset for sign, offset in pointers if sign == PART_OF)
            found[line[0]] = Place(names, wholes, not kinds.isdisjoint(continents), line[1] == LOCATION)
    return found


def wholes_of(offset: str, places: Mapping[str, Place]) -> list[str]:
    """Return what a place lies in, and what that lies in."""
    near = [one for one in places[offset].wholes if one in places]
    further = [one for whole in near for one in places[whole].wholes if one in places and not places[one].is_continent]
    return list(dict.fromkeys([*near, *further]))


def read_senses(text: Iterator[str], places: Mapping[str, Place]) -> dict[str, list[str]]:
    """Return the places of each name in `index.noun`, the one that is meant first."""
    found: dict[str, list[str]] = {}
    for line in text:
        if line.startswith("  "):
            continue
        fields = line.split()
        name = fields[0].replace("_", " ")
        senses = [offset for offset in fields[-int(fields[2]) :] if offset in places]
        if senses and (fields[-int(fields[2])] in places or any(places[one].is_land for one in senses)):
            found[name] = sorted(senses, key=lambda one: _rank(places[one], MEANT.get(name)))
    return found


def _rank(place: Place, meant: str | None) -> tuple[bool, bool, bool]:
    """Rank the places of one name: Cairo is a capital before it is a town, Jordan a country before it is a river."""
    return meant is not None and meant not in place.names, not place.is_land, not _is_capital(place)


def _is_capital(place: Place) -> bool:
    """Whether a place is a country's capital; those of its states are only the `capital of` one."""
    return any(name.endswith(" capital") for name in place.names)


def table(places: Mapping[str, Place], senses: Mapping[str, list[str]]) -> dict[str, object]:
    """Return the names of all wholes, for each place the numbers of its wholes there, and the names of one place."""
    regions: dict[str, int] = {}
    lying: dict[str, list[int]] = {}
    others: dict[str, list[int]] = {}
    for name in sorted(senses.keys() - DIRECTIONS):
        lying[name] = sorted(regions.setdefault(one, len(regions)) for one in _meant_wholes(senses[name][0], places))
    for name, numbers in lying.items():
        first, *more = senses[name]
        wholes = {regions[one] for sense in more for one in _meant_wholes(sense, places) if one in regions}
        if not _is_capital(places[first]) and numbers and not wholes.issubset(numbers):
            others[name] = sorted(wholes.difference(numbers))
    names = [[name for name in places[one].names if name.lower() not in DIRECTIONS] for one in regions]
    return {
        "source": "WordNet 3.1, Copyright 2011 by Princeton University",
        "regions": names,
        "places": lying,
        "others": others,
        "names": names_of(places, senses),
    }


def names_of(places: Mapping[str, Place], senses: Mapping[str, list[str]]) -> list[list[str]]:
    """Return the names of each place that has several, without those that are another one with a word more."""
    found: list[list[str]] = []
    for offset, place in places.items():
        own = [name for name in place.names if name not in CLAIMED]
        names = [name for name in own if _is_name(name, senses.get(name.lower(), [offset]), offset)]
        names += [more for name in tuple(names) for more in MORE.get(name, ()) if more not in names]
        kept = [one for one in names if not any(_is_longer(one, other) for other in names)]
        if len({name.lower().replace(".", "") for name in kept}) > 1:
            found.append(kept)
    return found


def _is_name(name: str, senses: list[str], offset: str) -> bool:
    """Whether a name means this place and no other; an abbreviation may mean several."""
    is_plain = (name[0].isupper() or name.startswith("the ")) and (not name.endswith(".") or name.isupper())
    if not is_plain or "capital" in name or name.lower() in HOMONYMS | DIRECTIONS:
        return False
    return name not in WORDS_TOO | OTHER_PLACES and (senses[0] == offset or name.isupper())


def _is_longer(one: str, other: str) -> bool:
    """Whether a name is another one with more than the style of a state: `Nile River`, not `Republic of Ghana`."""
    mine, yours = set(one.lower().split()), set(other.lower().split())
    return mine > yours and not mine - yours <= FORMAL


def _meant_wholes(offset: str, places: Mapping[str, Place]) -> list[str]:
    return [one for one in wholes_of(offset, places) if _is_meant(places[one])]


def _is_meant(place: Place) -> bool:
    return place.names[0].lower() not in TOO_LARGE and not all(name.lower() in DIRECTIONS for name in place.names)


def main() -> None:
    """Read WordNet, write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of WordNet's database files")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    with (options.folder / "data.noun").open(encoding="utf-8") as data:
        places = read_places(data)
    with (options.folder / "index.noun").open(encoding="utf-8") as index:
        made = table(places, read_senses(index, places))
    options.out.write_text(json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
