"""No integration is imported unless somebody asks for it, and none imports its trainer."""

import subprocess
import sys
from pathlib import Path

import pytest

import adjudge.integrations

ADAPTERS = sorted(
    path.stem for path in Path(str(adjudge.integrations.__file__)).parent.glob("*.py") if not path.stem.startswith("_")
)
TRAINERS = (
    "torch", "transformers", "trl", "verl", "ray", "verifiers", "inspect_ai", "openenv", "agentlightning", "skyrl_gym",
    "openrlhf", "nemo_gym", "gymnasium", "mcp",
)  # fmt: skip


def loaded(code: str) -> set[str]:
    """Return the modules that are there after some code, in a process of its own."""
    script = f"import sys\n{code}\nprint(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


@pytest.mark.parametrize("code", ["import adjudge; adjudge.get_scorer('qa_f1_reward')", "import adjudge.cli"])
def test_nothing_asks_for_an_integration(code: str) -> None:
    """Neither the root nor the commands load one, the server or the monitor."""
    parts = ("adjudge.integrations", "adjudge.serve", "adjudge.monitoring")
    assert not [module for module in loaded(code) if module.startswith(parts)]


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_does_not_import_its_trainer(adapter: str) -> None:
    """A trainer takes seconds to import: that is left to whoever makes a reward for it."""
    assert not loaded(f"import adjudge.integrations.{adapter}").intersection(TRAINERS)
