"""Nothing that a model wrote is ever executed."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sympy

import adjudge.rewards.math as package
from adjudge import text
from adjudge.rewards.math._parser import parse
from adjudge.rewards.math._symbolic import oracle

FILES = sorted(path for module in (package, text) for path in Path(str(module.__file__)).parent.glob("*.py"))
FORBIDDEN = {"eval", "exec", "compile", "sympify", "parse_expr", "parse_latex", "S", "__import__", "literal_eval"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_call_runs_text(path: Path) -> None:
    """No file calls anything that turns text into code; `re.compile` compiles patterns of ours only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
        if name == "compile" and isinstance(called, ast.Attribute):
            assert isinstance(called.value, ast.Name)
            assert called.value.id == "re"
            continue
        assert name not in FORBIDDEN, f"{path.name}:{node.lineno} calls {name}"


def test_sympy_gets_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables and functions are numbered before sympy sees them: no text of an answer reaches it."""
    given: list[str] = []
    for kind in ("Symbol", "Function"):
        real = getattr(sympy, kind)

        def made(name: str, real: Any = real, **assumptions: bool) -> Any:
            given.append(name)
            return real(name, **assumptions)

        monkeypatch.setattr(sympy, kind, made)
    answer = parse(r"x_{__import__('os').system('true')} + f'_{exec('1')}(y) + f(x)")
    oracle(parse("z_{evil}"), answer)
    assert {"v0", "v1", "f2", "v3", "f4"} <= set(given)
    assert not [name for name in given if re.search(r"import|exec|evil|\?|f'", name)]


def test_import_is_light() -> None:
    """Importing the comparator loads no sympy, antlr, numpy or asyncio."""
    code = "import sys, adjudge.rewards.math; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"sympy", "antlr4", "numpy", "asyncio", "mpmath"}.intersection(loaded)
