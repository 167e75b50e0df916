"""Build both distributions and check them as a stranger would: `make release-check` (with a tag: TAG=v1.2.3).

    build/release/dist/adjudge-*.whl, *.tar.gz     what is published
    build/release/sbom.json                        what an install without extras brings, as CycloneDX

Each check prints a line; the first that fails ends it. It builds twice and compares the bytes, looks at contents, size
and metadata, installs the wheel into an empty environment, and scores a row there.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACE = ROOT / "build" / "release"
DIST = PLACE / "dist"
BIN = Path(sys.executable).parent
PARTS = {"adjudge": ROOT, "adjudge_weights": ROOT / "packages" / "weights"}
LARGEST = {"adjudge": 2.0, "adjudge_weights": 50.0}  # MB of a wheel
MOST_PACKAGES, MOST_MB = 18, 20.0  # that an install without extras brings; of the size, sympy and mpmath are left out
NEEDED = (
    *("adjudge/py.typed", "adjudge/prompts/evaluation/verdict/v1.prompt", "adjudge/judges/local/tier0.json"),
    *("adjudge/view/static/", "adjudge/view/templates/", "adjudge/crag/sample/", "adjudge/demo/rollouts.jsonl"),
)
ROW = '{"id": "a", "answer": "Paris", "final_response": "It is Paris."}\n'


class Broken(Exception):
    """What keeps this from being released."""


def run(*command: object, **environment: str) -> str:
    """Run a program and return what it prints."""
    done = subprocess.run(
        [*map(str, command)], cwd=PLACE, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Broken(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def build(folder: Path) -> dict[str, str]:
    """Build wheel and sdist of both parts; return the hash of each file."""
    for source in PARTS.values():
        run(BIN / "python", "-m", "build", "--no-isolation", "--outdir", folder, source, SOURCE_DATE_EPOCH=moment())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def moment() -> str:
    """Return the time of the last commit: what is built from the same commit has the same bytes."""
    return subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def reproducible() -> str:
    """See that two builds give equal bytes."""
    first, second = build(DIST), build(PLACE / "again")
    if first != second:
        raise Broken(f"two builds differ: {sorted(name for name in first if first[name] != second.get(name))}")
    return ", ".join(first)


def contents() -> str:
    """See that the wheels have what they need and nothing else, and are small."""
    said = []
    for part, most in LARGEST.items():
        wheel = next(DIST.glob(f"{part}-[0-9]*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        strange = [name for name in names if not re.match(rf"{part}(-[\d.]+\.dist-info)?/", name)]
        missing = [one for one in NEEDED if part == "adjudge" and not any(name.startswith(one) for name in names)]
        size = wheel.stat().st_size / 1e6
        if strange or missing or size > most:
            raise Broken(f"{wheel.name}: {size:.2f} MB (most {most}), strange {strange}, missing {missing}")
        if not any(".dist-info/licenses/" in name for name in names):
            raise Broken(f"{wheel.name} has no licences")
        said.append(f"{wheel.name} {size:.2f} MB")
    with tarfile.open(next(DIST.glob("adjudge-[0-9]*.tar.gz"))) as archive:
        odd = [name for name in archive.getnames() if re.search(r"/(tests|\.venv|build|node_modules)/", name)]
    if odd:
        raise Broken(f"the sdist has {odd[:3]}")
    return ", ".join(said)


def versions(tag: str) -> str:
    """See that package, citation and changelog name one version, and a tag, where there is one, that version."""
    version = found(r'__version__ = "(.+)"', "src/adjudge/__init__.py")
    cited = found(r"^version: (.+)$", "CITATION.cff")
    if cited != version:
        raise Broken(f"CITATION.cff is of {cited}, the package of {version}")
    changes = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if tag and (tag != f"v{version}" or not changes[0].startswith(version)):
        raise Broken(f"the tag is {tag}, the package {version}, and the changelog begins with {changes[0]}")
    return f"{version}, the changelog begins with {changes[0]}"


def found(pattern: str, file: str) -> str:
    """Return what a pattern finds in a file of the project."""
    match = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        raise Broken(f"{file} has no {pattern}")
    return match[1]


def metadata() -> str:
    """See that the package index would take them, and show their description."""
    run(BIN / "twine", "check", "--strict", *DIST.iterdir())
    return "twine finds nothing"


def installed() -> str:
    """Install the wheel without extras into an empty environment, score a row there and play a chapter of the tour."""
    venv = PLACE / "venv"
    run(sys.executable, "-m", "venv", venv)
    run(venv / "bin" / "pip", "install", "--quiet", next(DIST.glob("adjudge-[0-9]*.whl")))
    adjudge = venv / "bin" / "adjudge"
    (PLACE / "rows.jsonl").write_text(ROW, encoding="utf-8")
    run(venv / "bin" / "python", "-c", "import adjudge; adjudge.get_scorer('qa_f1_reward')")
    if "qa_f1_reward" not in run(adjudge, "score", "rows.jsonl", "--scorer", "qa_f1_reward"):
        raise Broken("the wheel scores no row")
    run(adjudge, "demo", "rewards")
    site = next(venv.glob("lib/python*/site-packages"))
    listed = run(venv / "bin" / "pip", "list", "--format", "freeze").split()
    packages = [
        line.partition("==")[0] for line in listed if not line.startswith(("adjudge==", "pip==", "setuptools=="))
    ]
    apart = {"adjudge", "pip", "setuptools", "pkg_resources", "_distutils_hack", "sympy", "mpmath"}
    size = sum(
        path.stat().st_size
        for path in site.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.relative_to(site).parts[0].split("-")[0] not in apart
    )
    if len(packages) > MOST_PACKAGES or size / 1e6 > MOST_MB:
        raise Broken(f"{len(packages)} packages, {size / 1e6:.1f} MB beside sympy: {packages}")
    return f"{len(packages)} packages, {size / 1e6:.1f} MB beside sympy"


def bill() -> str:
    """List what an install without extras brings, with its licences."""
    run(
        BIN / "cyclonedx-py",
        "environment",
        PLACE / "venv",
        "--output-file",
        PLACE / "sbom.json",
        "--output-reproducible",
    )
    return str((PLACE / "sbom.json").relative_to(ROOT))


def main() -> int:
    """Run all checks."""
    shutil.rmtree(PLACE, ignore_errors=True)
    DIST.mkdir(parents=True)
    try:
        print("versions:", versions(os.environ.get("TAG", "")))
        for check in (reproducible, contents, metadata, installed, bill):
            print(f"{check.__name__}:", check(), flush=True)
    except Broken as broken:
        print(broken)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
