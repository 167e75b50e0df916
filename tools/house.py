"""The rules of the house that no linter has: `make check` runs this.

1. No module imports a private module of another package: what others need is public there.
2. A class name without an underscore means one thing: it is defined in one module, but for the list below.
3. No file has more than 400 lines.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "adjudge"
LONGEST = 400
TWICE = {
    "LLMJudge": "crag.llm_judge has the general judge under the name that the benchmark uses",
    "Context": "model has the protocol, environments what implements it",
}


def private_imports(path: Path, tree: ast.Module) -> Iterator[str]:
    """Find imports of another package's private modules."""
    package = path.relative_to(ROOT).parts[0]
    for node in ast.walk(tree):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):  # from adjudge.runs import _store
            names += [f"{node.module}.{alias.name}" for alias in node.names if alias.name.startswith("_")]
        for name in names:
            parts = name.split(".")
            is_others = parts[0] == "adjudge" and len(parts) > 2 and parts[1] != package
            if is_others and any(part.startswith("_") for part in parts[2:]):
                yield f"{path}: imports {name}, which is private to adjudge.{parts[1]}"


def main() -> int:
    """Look at every module, and print what breaks a rule."""
    broken: list[str] = []
    classes: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        broken += private_imports(path, tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(path)
        if text.count("\n") > LONGEST:
            broken.append(f"{path}: {text.count(chr(10))} lines, more than {LONGEST}: look for the second idea in it")
    for name, places in sorted(classes.items()):
        if len(places) > 1 and name not in TWICE:
            broken.append(f"{name} is the name of {len(places)} classes: {', '.join(map(str, places))}")
        if name in TWICE and len(places) < 2:
            broken.append(f"{name} is the name of one class: take it off the list in {Path(__file__).name}")
    for line in broken:
        print(line.replace(f"{ROOT.parent.parent}/", ""))
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
