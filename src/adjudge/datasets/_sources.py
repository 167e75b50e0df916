"""Where rows of conversations come from: files, folders, splits, objects of the `datasets` library, any iterable.

Each source says how its rows are called in messages (`rows.jsonl, line 3`; `row 3`), where the files that its rows name
may lie, and what its labels mean.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.datasets._labels import Vocabulary, vocabularies_of
from adjudge.datasets._parquet import open_parquet, parquet_rows
from adjudge.datasets._read import format_of, read_rows
from adjudge.errors import DataError, MissingExtra, RowError, UsageError, closest
from adjudge.model import decode_json

HUB = "hub:"
_ENDINGS = (".jsonl", ".ndjson", ".csv", ".parquet", ".pq")
_PART = re.compile(r"-\d+-of-\d+$")
_INFO = "dataset_info.json"
_FILE_BITS = 40  # a row's key: the number of its file above these bits, its own number below


class PlacedRow(NamedTuple):
    """A row with its number, what messages call it, and where a late image comes from."""

    number: int
    place: str
    columns: Mapping[str, Any] | None
    fault: str | None = None
    late_image: Callable[[], Any] | None = None


@dataclass(frozen=True, slots=True)
class RowSource:
    """Rows that can be gone through, and what is known of them beforehand; `folder` None trusts every path."""

    rows: Callable[[], Iterator[PlacedRow]]
    folder: Path | None
    place_of: Callable[[int], str] = "row {}".format
    vocabularies: Mapping[str, Vocabulary] = field(default_factory=lambda: vocabularies_of(None))
    count: int | None = None


def open_source(source: Any, split: str | None) -> RowSource:
    """Find out what a source is."""
    if isinstance(source, str) and source.startswith(HUB):
        return open_source(_from_hub(source.removeprefix(HUB), split), None)
    if isinstance(source, str | Path):
        if Path(source).is_dir():
            return _of_folder(Path(source), split)
        if split is None:
            return _of_files([Path(source)])
    elif isinstance(source, Mapping):
        return open_source(_one_split(source, split), None)
    if split is not None:
        raise UsageError(f"there is no split {split!r}: this is a data set without splits")
    if hasattr(source, "features"):
        return _of_hub_object(source)
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return RowSource(partial(_number_rows, source), Path(), count=_length(source))
    raise UsageError(f"a data set is a file, a folder or rows, not {type(source).__name__}")


def _one_split(splits: Mapping[Any, Any], split: str | None) -> Any:
    if "turns" in splits or "question" in splits:
        raise UsageError("this is a single row, not a data set: put it into a list")
    names = [str(name) for name in splits]
    if split is None and len(names) == 1:
        return next(iter(splits.values()))
    if split is None or split not in splits:
        said = "say which split" if split is None else f"there is no split {split!r}{closest(split, names)}"
        raise UsageError(f"{said} (there are {', '.join(names) or 'none'})", code="unknown-split")
    return splits[split]


def _number_rows(rows: Iterable[Any]) -> Iterator[PlacedRow]:
    for number, row in enumerate(rows, 1):
        place = f"row {number}"
        if isinstance(row, Mapping):
            yield PlacedRow(number, place, row)
        else:
            yield PlacedRow(number, place, None, f"{place}: must be a mapping, got {type(row).__name__}")


def _length(source: Any) -> int | None:
    return len(source) if hasattr(source, "__len__") else None


def _of_hub_object(data: Any) -> RowSource:
    """Take an object of the `datasets` library; its images are left undecoded, and for later where that is possible."""
    features = data.features
    vocabularies = vocabularies_of(features)
    image: Any = features.get("image") if isinstance(features, Mapping) else None
    if getattr(image, "decode", False) and hasattr(data, "cast_column"):
        # Decoded while rows are read, one broken image would end the reading.
        data = data.cast_column("image", type(image)(decode=False))
    # The `datasets` library knows where its own images are.
    folder = None if hasattr(image, "decode") else Path()
    # A stream can be read only once and in order: its images cannot wait.
    can_wait = image is not None and hasattr(data, "__len__") and hasattr(data, "select_columns")
    rows = partial(_index_rows if can_wait else _number_rows, data)
    return RowSource(rows, folder, vocabularies=vocabularies, count=_length(data))


def _index_rows(data: Any) -> Iterator[PlacedRow]:
    texts = data.select_columns([name for name in data.features if name != "image"])
    images = data.select_columns(["image"])
    for index, row in enumerate(texts):
        yield PlacedRow(index + 1, f"row {index + 1}", row, late_image=partial(_image_at, images, index))


def _image_at(images: Any, index: int) -> Any:
    return images[index]["image"]


def _datasets_library(purpose: str) -> Any:
    try:
        import datasets
    except ImportError:
        raise MissingExtra.of("datasets", purpose) from None
    return datasets


def _from_hub(name: str, split: str | None) -> Any:
    library = _datasets_library("loading a data set from the hub")
    name, _, revision = name.partition("@")
    return _one_split(library.load_dataset(name, revision=revision or None), split)


def _of_folder(folder: Path, split: str | None) -> RowSource:
    # The `datasets` library writes these files beside its data.
    if (folder / "state.json").is_file() or (folder / "dataset_dict.json").is_file():
        return open_source(_datasets_library("reading a saved data set").load_from_disk(str(folder)), split)
    there = [path for part in (folder, folder / "data") if part.is_dir() for path in part.iterdir()]
    files = sorted(path for path in there if path.suffix.lower() in _ENDINGS)
    if not files:
        raise UsageError(f"{folder} has no data file ({', '.join(_ENDINGS)})", code="cannot-read")
    splits: dict[str, list[Path]] = {}
    for path in files:
        # `test-00000-of-00002` and its sister are one split.
        splits.setdefault(_PART.sub("", path.stem), []).append(path)
    return _of_files(_one_split(splits, split), folder)


def _of_files(paths: list[Path], folder: Path | None = None) -> RowSource:
    for path in paths:
        format_of(str(path))
        if not path.is_file():
            raise UsageError(f"{path}: there is no such file", code="cannot-read")
    folder = folder or paths[0].parent
    features = next(filter(None, map(_features_in, paths)), None)
    info = folder / _INFO
    if not features and info.is_file():
        features = _features_of_json(info.read_bytes(), str(info))
    return RowSource(partial(_of_each, paths), folder, partial(_place, paths), vocabularies_of(features))


def _of_each(paths: list[Path]) -> Iterator[PlacedRow]:
    for index, path in enumerate(paths):
        # Row numbers begin again in every file; the key must not.
        base = index << _FILE_BITS
        if format_of(str(path)) == "parquet":
            for number, columns, image in parquet_rows(path):
                place = _place(paths, base + number)
                if isinstance(columns, str):
                    yield PlacedRow(base + number, place, None, f"{path.name}, {columns.removeprefix('bad-row: ')}")
                else:
                    yield PlacedRow(base + number, place, columns, late_image=image)
            continue
        for number, found, fault in read_rows(str(path)):
            reason = None if fault is None else f"{path.name}, {fault.removeprefix('bad-row: ')}"
            yield PlacedRow(base + number, _place(paths, base + number), found, reason)


def _place(paths: list[Path], key: int) -> str:
    path, number = paths[key >> _FILE_BITS], key & ((1 << _FILE_BITS) - 1)
    return f"{path.name}, {'line' if format_of(str(path)) == 'jsonl' else 'row'} {number}"


def _features_in(path: Path) -> Any:
    """Return the features that the `datasets` library wrote into a Parquet file, if it did."""
    if format_of(str(path)) != "parquet":
        return None
    with open_parquet(path, path) as file:
        content = (file.schema_arrow.metadata or {}).get(b"huggingface")
    return None if content is None else _features_of_json(content, str(path))


def _features_of_json(content: bytes, where: str) -> Any:
    try:
        info = decode_json(content)
    except RowError as error:
        raise DataError(f"{where}: the description of the data set is {error.message}") from None
    inner = info.get("info", info) if isinstance(info, dict) else {}
    return inner.get("features") if isinstance(inner, dict) else None
