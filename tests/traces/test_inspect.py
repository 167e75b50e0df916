"""Real logs of Inspect 0.3.285: a react agent with scripted replies, `truth.json` is what was counted in its tools."""

import io
import json
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import MissingExtra, TrajectoryError
from adjudge.traces import iter_traces, load
from support import GOLDEN

FOLDER = GOLDEN / "inspect"
LOGS = ("small", "react50x3")


@pytest.fixture
def zstd() -> Any:
    """Return the module that unpacks Zstandard; what reads archives is skipped without it."""
    return pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def truth(log: str) -> dict[str, Any]:
    """Return what happened in each run of a log."""
    found: dict[str, Any] = json.loads((FOLDER / f"{log}.truth.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.usefixtures("zstd")
def test_every_sample_of_every_epoch(log: str) -> None:
    """Agents, tools with arguments and the submitted answer are those that happened, under `sample/epoch`."""
    runs = {trace.id: trace.trajectory for trace in iter_traces(FOLDER / f"{log}.eval")}
    assert len(runs) == {"small": 2, "react50x3": 150}[log]
    found = {
        name: {
            "agents": list(run.agents_called),
            "tools": [{"name": call.name, "arguments": call.arguments} for call in run.tool_calls or ()],
            "answer": run.final_response,
        }
        for name, run in runs.items()
    }
    assert found == {
        name: {key: what[key] for key in ("agents", "tools", "answer")} for name, what in truth(log).items()
    }
    assert all(run.complete and not run.unknown for run in runs.values())


@pytest.mark.usefixtures("zstd")
def test_a_run_is_found_by_its_names() -> None:
    """A run is asked for by sample and epoch or by its uuid; a sample's id alone does where it is one run."""
    path = FOLDER / "react50x3.eval"
    wanted = load(path, trace="s-1/3")
    assert load(path, trace=truth("react50x3")["s-1/3"]["uuid"]) == wanted
    assert wanted.tools_used != load(path, trace="s-5/3").tools_used
    with pytest.raises(TrajectoryError, match=r"3 runs \('s-1/1', 's-1/2', 's-1/3'"):
        load(path, trace="s-1")
    assert load(FOLDER / "small.eval", trace="s-1") == load(FOLDER / "small.eval", trace="s-1/1")


def test_without_the_extra_an_archive_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing unpacks Zstandard, the error names the extra."""
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    with pytest.raises(MissingExtra, match=r"pip install 'adjudge\[inspect\]'"):
        load(FOLDER / "small.eval", trace="s-1")


def archive(path: Path, packed: bytes, content: bytes, size: int | None = None) -> Path:
    """Write an archive of one sample that says of itself that it is Zstandard, with a size that may be wrong."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        entry = zipfile.ZipInfo("samples/a_epoch_1.json")
        file.writestr(entry, packed)
    written = bytearray(buffer.getvalue())
    facts = zlib.crc32(content).to_bytes(4, "little"), (size or len(content)).to_bytes(4, "little")
    start = written.index(b"PK\x01\x02")
    written[start + 10 : start + 12] = (93).to_bytes(2, "little")
    written[start + 16 : start + 20], written[start + 24 : start + 28] = facts
    path.write_bytes(written)
    return path


def test_a_bomb_is_not_unpacked(zstd: Any, tmp_path: Path) -> None:
    """An entry is unpacked to the size that it gives itself, and is refused where it holds more, or is damaged."""
    sample = json.dumps(
        {"id": "a", "epoch": 1, "events": [], "messages": [{"role": "user", "content": "x" * 99}]}
    ).encode()
    good = archive(tmp_path / "good.eval", zstd.compress(sample), sample)
    assert load(good).messages[0].text == "x" * 99
    bomb = zstd.compress(b" " * (1 << 26))
    assert len(bomb) < 10_000
    with pytest.raises(TrajectoryError, match="is damaged"):
        load(archive(tmp_path / "bomb.eval", bomb, sample))
    for packed in (zstd.compress(sample)[:-9], b"nothing", b""):
        with pytest.raises(TrajectoryError, match="cannot be read"):
            load(archive(tmp_path / "damaged.eval", packed, sample))


def test_other_methods_are_refused(tmp_path: Path) -> None:
    """What Inspect never writes is not unpacked: LZMA has no bound on what a few bytes may become."""
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_LZMA) as file:
        file.writestr("samples/a_epoch_1.json", "{}")
    with pytest.raises(TrajectoryError, match="compressed by method 14"):
        load(tmp_path / "log.eval")
