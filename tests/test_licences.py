"""What ships under another licence than ours is named, with its text, in the package's metadata."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
LICENCES = sorted((ROOT / "licenses").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_every_licence_is_in_the_metadata() -> None:
    """The licence expression names every licence whose text ships, and the texts are among the licence files."""
    named = {part.removeprefix("LicenseRef-") for part in PROJECT["license"].split(" AND ")}
    shipped = {"Apache-2.0", *(path.stem for path in LICENCES)}
    assert named == shipped
    assert PROJECT["license-files"] == ["LICENSE", "licenses/*.txt"]


def test_every_trained_or_taken_file_is_attributed() -> None:
    """Each file of weights or facts beside the local judge is named where its licence stands."""
    folder, weights = ROOT / "src/adjudge/judges/local", ROOT / "packages/weights"
    own = {"thresholds.json"}  # measured by us
    for files, text in ((folder, folder / "LICENSE.md"), (weights / "adjudge_weights", weights / "README.md")):
        said = text.read_text() + "".join(path.read_text() for path in LICENCES)
        there = [path.name for path in files.iterdir() if path.suffix in (".onnx", ".npz", ".json", ".txt")]
        assert there
        assert [name for name in there if name not in own and f"{name}`" not in said] == []


def test_every_licence_of_the_weights_is_in_their_metadata() -> None:
    """The weights, which are a package of their own, name theirs and bring the texts."""
    folder = ROOT / "packages/weights"
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    named = set(project["license"].split(" AND "))
    assert named == {"Apache-2.0", *(path.stem.split("-gt-")[0] for path in folder.glob("*.txt"))}
    assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
