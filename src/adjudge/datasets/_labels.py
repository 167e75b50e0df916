"""The names behind the numbers of a column: 3 is "book" only to whoever knows the data set's vocabulary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LABELS = ("domain", "query_category", "dynamism", "image_quality")
_DEEPEST = 8  # levels of lists and sequences that a feature may be wrapped in


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names of one column's labels, by number.

    `vocabulary.feature.names` works too: that is where the features of the `datasets` library have them.

    >>> Vocabulary(("animal", "book")).name_of(1)
    'book'
    """

    names: tuple[str, ...] = ()

    @property
    def feature(self) -> "Vocabulary":
        """The vocabulary itself."""
        return self

    def name_of(self, label: int | str | None, default: str = "other") -> str:
        """Return a label's name; a text is one already, a number that has none gives `default`."""
        if isinstance(label, str):
            return label or default
        if label is None or not 0 <= label < len(self.names):
            return default
        return self.names[label]


def vocabularies_of(features: Any) -> dict[str, Vocabulary]:
    """Return the vocabulary of every label column; one that the features do not describe is empty.

    Features are those of the `datasets` library, or their JSON as it is in Parquet files and `dataset_info.json`.

    >>> features = {"turns": [{"domain": {"names": ["animal", "book"], "_type": "ClassLabel"}}]}
    >>> vocabularies_of(features)["domain"].names
    ('animal', 'book')
    """
    row = features if isinstance(features, Mapping) else {}
    turns = _fields(row.get("turns"))
    return {name: Vocabulary(_names(turns.get(name)) or _names(row.get(name))) for name in LABELS}


def _fields(feature: Any) -> Mapping[str, Any]:
    """Return the fields of a turn, out of whatever lists they are in."""
    for _ in range(_DEEPEST):
        if isinstance(feature, Mapping) and "feature" not in feature:
            return feature
        feature = _inner(feature)
    return {}


def _names(feature: Any) -> tuple[str, ...]:
    """Return the names of a label, out of whatever lists it is in."""
    for _ in range(_DEEPEST):
        names = feature.get("names") if isinstance(feature, Mapping) else getattr(feature, "names", None)
        if isinstance(names, Sequence) and not isinstance(names, str):
            return tuple(str(name) for name in names)
        feature = _inner(feature)
    return ()


def _inner(feature: Any) -> Any:
    if isinstance(feature, Mapping):
        return feature.get("feature")
    if isinstance(feature, list | tuple):
        return feature[0] if len(feature) == 1 else None
    return getattr(feature, "feature", None)
