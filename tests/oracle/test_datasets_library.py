"""The real `datasets` library: whatever it makes of the two layouts, the conversations are the same."""

from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from adjudge.crag.dataset_utils import convert_domain_indices_to_names, prepare_feature_vocabularies
from adjudge.datasets import ConversationRead, read_conversations
from adjudge.errors import RowError
from crag.pictures import png

library: Any = import_module("datasets")  # by name: the tests have a folder of that name
NAMES = ["animal", "other", "shopping", "book"]
TURNS = [
    {"interaction_id": "i1", "query": "What is it?", "domain": 3, "query_category": 1, "dynamism": 0},
    {"interaction_id": "i2", "query": "And now?", "domain": 0, "query_category": 2, "dynamism": 1},
]
ANSWERS = [{"interaction_id": "i1", "ans_full": "A lute."}, {"interaction_id": "i2", "ans_full": "A fox."}]


def columns(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return records a list a column."""
    return {name: [one[name] for one in records] for name in records[0]}


def data(layout: str, image: Any) -> Any:
    """Return a data set of one conversation in a layout."""
    text, label = library.Value("string"), library.ClassLabel(names=NAMES)
    turn = {"interaction_id": text, "query": text, "domain": label, "query_category": label, "dynamism": label}
    answer = {"interaction_id": text, "ans_full": text}
    wrap = (lambda fields: [fields]) if layout == "a mapping a turn" else library.Sequence
    features = {"turns": wrap(turn), "answers": wrap(answer), "image": library.Image()}
    features |= {"session_id": text, "image_url": text}
    row: dict[str, Any] = {"session_id": "s", "image": image, "image_url": None, "turns": TURNS, "answers": ANSWERS}
    if layout == "a list a column":
        row |= {"turns": columns(TURNS), "answers": columns(ANSWERS)}
    return library.Dataset.from_list([row], features=library.Features(features))


@pytest.mark.parametrize("layout", ["a mapping a turn", "a list a column"])
@pytest.mark.parametrize("form", ["object", "splits", "stream", "parquet", "saved", "saved splits"])
def test_every_form_of_a_data_set(layout: str, form: str, tmp_path: Path) -> None:
    """An object, its splits, a stream, its Parquet and what it saved give one conversation, image and vocabulary."""
    made = data(layout, Image.open(BytesIO(png())))
    splits = library.DatasetDict(validation=made)
    source: Any = {"object": made, "splits": splits, "stream": made.to_iterable_dataset()}.get(form, tmp_path / "data")
    if form == "parquet":
        (tmp_path / "data").mkdir()
        made.to_parquet(str(tmp_path / "data" / "validation-00000-of-00001.parquet"))
    elif form.startswith("saved"):
        (splits if form == "saved splits" else made).save_to_disk(str(tmp_path / "data"))
    found = read_conversations(source)
    (read,) = found
    _check(read)
    vocabularies = prepare_feature_vocabularies(found)
    assert vocabularies["domain"].names == tuple(NAMES)
    assert convert_domain_indices_to_names([3, [0], None], vocabularies) == ["book", "animal", "other"]
    assert prepare_feature_vocabularies(made) == vocabularies


def _check(read: ConversationRead) -> None:
    assert [turn.id for turn in read.conversation.turns] == ["i1", "i2"]
    assert [turn.references for turn in read.conversation.turns] == [("A lute.",), ("A fox.",)]
    assert [turn.metadata["domain"] for turn in read.conversation.turns] == [3, 0]
    assert read.image is not None
    assert read.image.load().size == (3, 2)


def test_a_broken_image_does_not_end_the_reading() -> None:
    """The library itself would raise while the row is read; here it is a fault of that row's image."""
    (read,) = read_conversations(data("a list a column", {"bytes": b"broken", "path": None}))
    assert read.image is not None
    with pytest.raises(RowError, match=r"^row 1: image: "):
        read.image.load()


def test_upstream_features_are_understood() -> None:
    """Names are found in a feature as the library hands it out, not only in our own vocabularies."""
    feature = data("a list a column", None).features["turns"]["domain"]
    assert convert_domain_indices_to_names([1, 9], {"domain": feature}) == ["other", "other"]
    assert convert_domain_indices_to_names([2], {"domain": feature}) == ["shopping"]
