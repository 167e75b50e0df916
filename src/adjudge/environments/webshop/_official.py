"""The original's item files, where a user has them: items, their attributes, and what people were asked to find.

    items_shuffle.json     a list of items: asin, name, category, query, product_category, full_description,
                           small_description, pricing, customization_options
    items_ins_v2.json      by asin: attributes; instruction and instruction_attributes for synthetic goals
    items_human_ins.json   by asin: a list of instruction, instruction_attributes, instruction_options

Names with `_1000` before the ending are read too. What the original draws at random (a price within a range, a
price limit) is drawn here from the item's own number, so that it is the same every time; the order of the goals is the
original's, a shuffle with seed 233, so that task ids mean the same goals for the same files.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Literal

from adjudge.environments.webshop._goods import Catalogue, Goal, Item
from adjudge.environments.webshop._make import Chance, goal_for, price_limit
from adjudge.errors import DataError, UsageError
from adjudge.model import decode_json

__all__ = ["load_official"]

_LONGEST_ASIN = 10
_NO_PRICE = 100.0  # what an item without a price costs


def load_official(
    folder: str | Path, *, goals: Literal["human", "synthetic"] = "human", products: int | None = None
) -> Catalogue:
    """Read the files in a folder; `products` takes only the first so many items, as the original's small editions."""
    if goals not in ("human", "synthetic"):
        raise UsageError(f"goals must be human or synthetic, not {goals!r}")
    if products is not None and products < 1:
        raise UsageError(f"products must be at least 1, got {products}")
    place = Path(folder)
    rows = _read(place, "items_shuffle", list)[:products]
    notes = _read(place, "items_ins_v2", dict)
    items = tuple(_items(rows, notes))
    made = _human(items, _read(place, "items_human_ins", dict)) if goals == "human" else _synthetic(items, notes)
    ordered = list(made)
    Random(233).shuffle(ordered)  # noqa: S311 (the original's order)
    if not ordered:
        raise DataError(f"{place}: no item of these files has a {goals} instruction: there is nothing to do")
    return Catalogue(f"items of {place.name}", items, tuple(ordered))


def _read(folder: Path, name: str, kind: type) -> Any:
    for path in (folder / f"{name}.json", folder / f"{name}_1000.json"):
        if path.is_file():
            read = decode_json(path.read_bytes(), place=f"{path.name}: ")
            if not isinstance(read, kind):
                raise DataError(f"{path.name} should hold a JSON {'array' if kind is list else 'object'}")
            return read
    raise DataError(
        f"{folder} has no {name}.json: WebShop's own setup script downloads its item files; "
        "without them, leave `data` out and use adjudge's items"
    )


def _items(rows: list[Any], notes: Mapping[str, Any]) -> Iterator[Item]:
    known: set[str] = set()
    for number, row in enumerate(rows):
        asin = row.get("asin") if isinstance(row, dict) else None
        if not isinstance(asin, str):
            raise DataError(f"item {number} of the item file has no asin")
        # What the original leaves out when it reads the same files: task numbers depend on it.
        if asin == "nan" or len(asin) > _LONGEST_ASIN or asin.lower() in known:
            continue
        known.add(asin.lower())
        note = notes.get(asin)
        attributes = _texts(note.get("attributes")) if isinstance(note, dict) else ()
        try:
            yield _item(row, asin, attributes)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"item {number} ({asin}) does not have the form of WebShop's item files: {error!r}"
            ) from None


def _item(row: Mapping[str, Any], asin: str, attributes: tuple[str, ...]) -> Item:
    price, tag = _price(asin, row.get("pricing"))
    bullets = row.get("small_description")
    return Item(
        asin=asin,
        title=str(row["name"]),
        category=str(row["category"]),
        query=str(row["query"]).lower().strip(),
        product_category=str(row["product_category"]),
        price=price,
        price_tag=tag,
        attributes=attributes,
        options=_options(row.get("customization_options")),
        bullets=_texts(bullets if isinstance(bullets, list) else [bullets or ""]),
        description=str(row.get("full_description") or ""),
    )


def _price(asin: str, pricing: Any) -> tuple[float, str]:
    """Return what an item costs and its tag: "$10.00$20.00" is a range, in which its number picks a place."""
    # The original takes the first two numbers of a price tag, whatever else is in it.
    prices = [float(re.sub(r"[^\d.]", "", part)) for part in str(pricing or "").split("$")[1:]]
    if not prices:
        return _NO_PRICE, f"${_NO_PRICE}"
    if len(prices) == 1:
        return prices[0], f"${prices[0]}"
    low, high = prices[:2]
    return Chance(f"price {asin}").between(low, high), f"${low} to ${high}"


def _options(found: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(found, dict):
        return {}
    return {
        name.lower(): tuple(" ".join(value["value"].replace("/", " | ").lower().split()) for value in values)
        for name, values in found.items()
        if values is not None
    }


def _texts(found: Any) -> tuple[str, ...]:
    return tuple(str(each) for each in found or ())


def _human(items: tuple[Item, ...], instructions: Mapping[str, Any]) -> Iterator[Goal]:
    for item in items:
        for number, row in enumerate(instructions.get(item.asin) or ()):
            if not isinstance(row, dict) or not isinstance(row.get("instruction"), str):
                raise DataError(f"instruction {number} of item {item.asin} has no text")
            attributes = _texts(row.get("instruction_attributes"))
            if attributes:  # the original leaves goals without attributes out, too
                options = row.get("instruction_options") or ()
                named = (
                    options if isinstance(options, dict) else {f"option {n}": one for n, one in enumerate(options, 1)}
                )
                chance = Chance(f"limit {item.asin} {number}")
                yield _goal(item, row["instruction"].strip("."), attributes, named, chance)


def _synthetic(items: tuple[Item, ...], notes: Mapping[str, Any]) -> Iterator[Goal]:
    for item in items:
        note = notes.get(item.asin)
        if not isinstance(note, dict) or not isinstance(note.get("instruction"), str):
            continue
        # Sorted, as the original does: the order of the goals, and so of the tasks, depends on it.
        names = sorted(item.options)
        for values in product(*(item.options[name] for name in names)):
            options = dict(zip(names, values, strict=True))
            wanted = ", and ".join(f"{name}: {value}" for name, value in options.items())
            text = note["instruction"] + (f" with {wanted}" if wanted else "")
            attributes = _texts(note.get("instruction_attributes"))
            yield _goal(item, text, attributes, options, Chance(f"limit {item.asin}"))


def _goal(item: Item, text: str, attributes: tuple[str, ...], options: Mapping[str, Any], chance: Chance) -> Goal:
    texts = {str(name): str(value) for name, value in options.items()}
    return goal_for(item, text, attributes, texts, price_limit(item.price, chance))
