"""The names behind the numbers."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import conversations
from adjudge.crag.dataset_utils import clean_text, convert_domain_indices_to_names, prepare_feature_vocabularies
from adjudge.datasets import LABELS, Vocabulary, read_conversations

NAMES = ("animal", "other", "shopping", "book")


def label(*names: str) -> SimpleNamespace:
    """Return something like a class label of the `datasets` library."""
    return SimpleNamespace(names=list(names))


def listed(feature: Any) -> SimpleNamespace:
    """Return something like a list of features of the `datasets` library."""
    return SimpleNamespace(feature=feature)


TURN = {name: label(*NAMES) for name in LABELS}


@pytest.mark.parametrize(
    "turns",
    [
        {name: listed(one) for name, one in TURN.items()},
        listed(TURN),
        [TURN],
        {"feature": {name: {"names": list(NAMES), "_type": "ClassLabel"} for name in LABELS}, "_type": "List"},
        {name: {"feature": {"names": list(NAMES)}, "_type": "Sequence"} for name in LABELS},
    ],
    ids=["lists in a mapping", "a mapping in a list", "a bare list", "JSON of a list", "JSON of lists"],
)
def test_vocabularies_of_every_layout(turns: Any) -> None:
    """Whichever way the features of turns are nested, all four vocabularies are found."""
    split = SimpleNamespace(features={"turns": turns})
    for data in (split, {"validation": split}):
        assert prepare_feature_vocabularies(data) == dict.fromkeys(LABELS, Vocabulary(NAMES))


def test_names_stand_where_upstream_code_looks_for_them() -> None:
    """`vocabularies["domain"].feature.names` are the names."""
    split = SimpleNamespace(features={"turns": {"domain": listed(label("animal"))}, "image_quality": label("blurred")})
    found = prepare_feature_vocabularies(split)
    assert found["domain"].feature.names == ("animal",)
    assert found["image_quality"].names == ("blurred",)
    assert found["dynamism"].names == ()


@pytest.mark.parametrize("data", [None, [], [{"question": "Q", "answer": "A"}], {}, SimpleNamespace(features=None)])
def test_no_features_no_names(data: Any) -> None:
    """A data set that does not describe itself has empty vocabularies."""
    assert prepare_feature_vocabularies(data) == dict.fromkeys(LABELS, Vocabulary())


def test_of_conversations() -> None:
    """Conversations bring the vocabularies of their source."""
    assert prepare_feature_vocabularies(read_conversations([])) == dict.fromkeys(LABELS, Vocabulary())


class Number:
    """A number of some other library."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


@pytest.mark.parametrize(
    ("domain", "name"),
    [
        (0, "animal"),
        (3, "book"),
        ([3, 0], "book"),
        ((2,), "shopping"),
        (Number(3), "book"),
        ([Number(3)], "book"),
        ("book", "book"),
        ("made up", "made up"),
        (None, "other"),
        (-1, "other"),
        (4, "other"),
        ([], "other"),
        ((), "other"),
        ([None], "other"),
        ([-1], "other"),
        ([[0]], "other"),
        ("", "other"),
        (1.0, "other"),
        (True, "other"),
        (10**30, "other"),
    ],
)
@pytest.mark.parametrize("vocabulary", [Vocabulary(NAMES), listed(label(*NAMES)), label(*NAMES), list(NAMES)])
def test_domains(domain: Any, name: str, vocabulary: Any) -> None:
    """A list means its first element; None, negative, out of range, empty and no number at all give "other"."""
    assert convert_domain_indices_to_names([domain], {"domain": vocabulary}) == [name]


@given(st.lists(st.integers() | st.none() | st.lists(st.integers() | st.none())))
def test_one_name_each(domains: list[Any]) -> None:
    """There is one name for each domain, and every one of the vocabulary or "other"."""
    found = convert_domain_indices_to_names(domains, {"domain": Vocabulary(NAMES)})
    assert len(found) == len(domains)
    assert set(found) <= {*NAMES, "other"}
    assert convert_domain_indices_to_names(domains, {}) == ["other"] * len(domains)


def test_clean_text_is_the_one_rule() -> None:
    """`clean_text` is that of the conversations."""
    assert clean_text is conversations.clean_text


@pytest.mark.parametrize(
    "vocabularies",
    [{"domain": list(NAMES)}, {"domain": label(*NAMES)}, list(NAMES), label(*NAMES), Vocabulary(NAMES)],
    ids=["names by column", "labels by column", "names", "a label", "a vocabulary"],
)
def test_vocabulary_forms(vocabularies: Any) -> None:
    """The names may come by column, or be those of the domains right away."""
    assert convert_domain_indices_to_names([3, [0], 7], vocabularies) == ["book", "animal", "other"]


def test_numbers_of_other_libraries() -> None:
    """Numbers of numpy count as numbers, in arrays too, and so do whole floats, which is what gaps make of numbers."""
    numpy = pytest.importorskip("numpy")
    given = [*numpy.array([3, 0]), numpy.array([2, 1]), numpy.array([]), 3.0, float("nan"), 0.5]
    names = ["book", "animal", "shopping", "other", "book", "other", "other"]
    assert convert_domain_indices_to_names(given, {"domain": NAMES}) == names
    assert convert_domain_indices_to_names(numpy.array([3, -1]), {"domain": NAMES}) == ["book", "other"]
