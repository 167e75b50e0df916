"""Make `places.json`: which places lie in which, from WordNet's database (`data.noun` and `index.noun` of a folder).

    python training/places.py WORDNET/dict

Kept are places with a name of their own, each with the places that people take for it where a coarser answer will do:
what it lies in and what that lies in, continents only for what lies in them directly. Of a name with several places,
WordNet's first one counts.
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


@dataclass(frozen=True, slots=True)
class Place:
    """A synset that is one place."""

    names: tuple[str, ...]
    wholes: tuple[str, ...]
    is_continent: bool


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
            found[line[0]] = Place(names, wholes, not kinds.isdisjoint(continents))
    return found


def wholes_of(offset: str, places: Mapping[str, Place]) -> list[str]:
    """Return what a place lies in, and what that lies in."""
    near = [one for one in places[offset].wholes if one in places]
    further = [one for whole in near for one in places[whole].wholes if one in places and not places[one].is_continent]
    return list(dict.fromkeys([*near, *further]))


def first_senses(text: Iterator[str], places: Mapping[str, Place]) -> dict[str, str]:
    """Return the place of each name in `index.noun`: the first of its senses that is one."""
    found: dict[str, str] = {}
    for line in text:
        if line.startswith("  "):
            continue
        fields = line.split()
        senses = [offset for offset in fields[-int(fields[2]) :] if offset in places]
        if senses:
            found[fields[0].replace("_", " ")] = senses[0]
    return found


def table(places: Mapping[str, Place], senses: Mapping[str, str]) -> dict[str, object]:
    """Return the names of all wholes, and for each place the numbers of its wholes there."""
    regions: dict[str, int] = {}
    lying: dict[str, list[int]] = {}
    for name in sorted(senses.keys() - DIRECTIONS):
        wholes = [one for one in wholes_of(senses[name], places) if _is_meant(places[one])]
        lying[name] = sorted(regions.setdefault(one, len(regions)) for one in wholes)
    names = [[name for name in places[one].names if name.lower() not in DIRECTIONS] for one in regions]
    return {"source": "WordNet 3.1, Copyright 2011 by Princeton University", "regions": names, "places": lying}


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
        made = table(places, first_senses(index, places))
    options.out.write_text(json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
