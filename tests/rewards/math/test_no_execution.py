"""Nothing that a model wrote is ever executed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import adjudge.rewards.math as package
from adjudge import text

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


def test_sympy_gets_no_text() -> None:
    """The only texts that reach sympy are names of symbols and functions."""
    source = Path(str(package.__file__)).parent / "_symbolic.py"
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id == "sympy" and node.func.attr not in {"Symbol", "Function"}:
                assert not any(isinstance(arg, ast.Constant) and isinstance(arg.value, str) for arg in node.args)


def test_import_is_light() -> None:
    """Importing the comparator loads no sympy, antlr, numpy or asyncio."""
    code = "import sys, adjudge.rewards.math; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"sympy", "antlr4", "numpy", "asyncio", "mpmath"}.intersection(loaded)


INJECTION = """
import sys
from adjudge.rewards.math._symbolic import job
seen = []
sys.addaudithook(lambda event, args: seen.append(event) if event in {"os.system", "subprocess.Popen"} else None)
for text in sys.argv[1:]:
    job({"response": text, "gold": "1", "policy": {}})
assert not seen, seen
"""


def test_injections_run_nothing(tmp_path: Path) -> None:
    """Code in an answer starts no process and touches no file."""
    attacks = [
        r"\boxed{__import__('os').system('touch pwned')}",
        "The answer is __import__('os').system('touch pwned')",
        r"\boxed{exec(\"open('pwned','w')\")}",
        r"\boxed{[__import__('os').system('touch pwned'),2\pi][0]}",
    ]
    subprocess.run([sys.executable, "-c", INJECTION, *attacks], check=True, cwd=tmp_path)
    assert not list(tmp_path.iterdir())
