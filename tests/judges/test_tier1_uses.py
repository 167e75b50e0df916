"""Tier 1 in other people's programs: the same verdict from every thread and process, quietly, loaded when used."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.errors import MissingExtra
from adjudge.judges.local import LocalJudge
from judges.scenes import ROWS, SCENES, said

HERE = Path(__file__).parent
SUPPRESSED = ("CI", "TF_BUILD", "GITHUB_ACTIONS", "ORT_DISABLE_TELEMETRY")  # where onnxruntime is quiet by itself
FORKS = "ignore:This process:DeprecationWarning"  # of Python 3.12 and up, whoever forks beside threads of a library


@pytest.mark.parametrize("scene", [scene.__name__ for scene in SCENES])
def test_the_same_everywhere(scene: str) -> None:
    """Threads, event loops, forked and new processes get the same probabilities, and nothing on standard error."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-W", FORKS, "scenes.py", scene],
        cwd=HERE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # numpy's: on many cores they fill a worker's addresses
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, b"")
    found = json.loads(result.stdout)
    assert found
    assert found == [said(LocalJudge(tier=1))] * len(found)


@pytest.mark.parametrize("tier", [0, 1])
def test_a_judge_can_be_sent(tier: int) -> None:
    """A judge pickles, as its tier and no more, and judges as before where it arrives."""
    judge = LocalJudge(tier=tier)
    said(judge)
    sent = pickle.dumps(judge)
    assert len(sent) < 100
    there = pickle.loads(sent)  # noqa: S301 (our own)
    assert (there.name, said(there)) == (judge.name, said(judge))


def test_a_judge_does_not_arrive_as_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the extra is missing, a judge of tier 1 that arrives says so."""
    sent = pickle.dumps(LocalJudge(tier=1))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"adjudge\[local\]"):
        pickle.loads(sent)  # noqa: S301 (our own)


def test_nothing_is_loaded_before_it_is_needed() -> None:
    """The libraries of tier 1 come with the first row that no rule decides; a judge that is only made has none."""
    code = """
import sys
from adjudge.judges.local import LocalJudge
def there(): return [name for name in ("numpy", "onnxruntime", "tokenizers", "huggingface_hub") if name in sys.modules]
judge = LocalJudge()
assert judge.tier == 1
assert judge.judge("Capital of France?", "Paris", "It is not Paris.").reasons == ("negated",)
print(there())
judge.judge("Capital of France?", "Paris", "The city of light.")
print(there())
"""
    output = subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True)
    before, after = output.stdout.splitlines()
    assert (before, output.stderr) == ("[]", "")
    assert after == "['numpy', 'onnxruntime', 'tokenizers']"


def test_nothing_is_written_and_nobody_told(tmp_path: Path) -> None:
    """Judging leaves nothing in the user's folders, such as a number by which a library reports to its maker."""
    code = f"from adjudge.judges.local import LocalJudge; LocalJudge(tier=1).judge_many({ROWS})"
    kept = {name: value for name, value in os.environ.items() if name not in SUPPRESSED}
    homes = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR"), str(tmp_path))
    subprocess.run([sys.executable, "-c", code], check=True, env={**kept, **homes})
    assert list(tmp_path.rglob("*")) == []


def test_the_rows_are_such_that_the_encoder_is_asked() -> None:
    """What is compared above is tier 1's own: no rule decides, and tier 0 says something else."""
    assert said(LocalJudge(tier=0)) != said(LocalJudge(tier=1))
    assert len(ROWS) == len(set(said(LocalJudge(tier=1))))
