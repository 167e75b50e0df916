"""What `adjudge crag` does with its options: an evaluator is made, told what to do, and what came of it is shown."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import click

from adjudge.cli._crag_show import show_scores
from adjudge.cli._options import printable
from adjudge.cli._show import Terminal
from adjudge.crag._progress import bar_or_lines
from adjudge.crag.config import DEFAULT_EVAL_MODEL
from adjudge.crag.evaluator import CRAGEvaluator
from adjudge.errors import RunStopped
from adjudge.runs import RunConfig

TURN_DATA = "turn_data.jsonl"
UNDECIDED = 3


def run_crag(what: Literal["run", "generate", "evaluate"], **options: Any) -> int:
    """Do what a command asks for and return its exit code."""
    known = {one.name for one in fields(RunConfig)}
    config = RunConfig(**{name: options[name] for name in known if name in options})
    evaluator = _evaluator(options, config)
    with _said_warnings():
        try:
            return _done(what, evaluator, config, options)
        except RunStopped as stopped:
            if evaluator.phases.signal is not None:
                click.echo("adjudge: interrupted; the same command goes on", err=True)
                return 128 + evaluator.phases.signal
            click.echo(f"adjudge: undecided: stopped: {printable(stopped.reason, most=500)}", err=True)
            return UNDECIDED


def _evaluator(options: dict[str, Any], config: RunConfig) -> CRAGEvaluator:
    if os.getcwd() not in sys.path:  # noqa: PTH109 (sys.path holds texts)
        sys.path.insert(0, os.getcwd())  # noqa: PTH109 (same): so that module:Agent finds what lies here
    judge = options.get("judge") or DEFAULT_EVAL_MODEL
    evaluator = CRAGEvaluator(
        dataset=_dataset(options),
        agent=options.get("agent"),
        eval_model_name=None if judge == "none" else judge,
        num_workers=options["workers"],
        eval_base_url=options.get("base_url"),
        scorers=options.get("scorer", ()),
        rule_scope=options.get("rule_scope", "conversation"),
        run_dir=options["out"],
        retry_failed=options["retry_failed"],
        config=config,
    )
    evaluator.phases.watching = bar_or_lines
    evaluator.phases.signals = True
    return evaluator


def _dataset(options: dict[str, Any]) -> Any:
    if "dataset" not in options:
        return None
    from adjudge.datasets import read_conversations

    chosen = {"split": options["split"], "num_conversations": options["num_conversations"]}
    return read_conversations(options["dataset"], allow_hosts=options["allow_host"], **chosen)


def _done(what: str, evaluator: CRAGEvaluator, config: RunConfig, options: dict[str, Any]) -> int:
    out = Path(options["out"])
    if what == "evaluate":
        turns = evaluator.load_turn_data(options["turns"])
    else:
        if what == "run":
            evaluator.initialize_evaluation()
        evaluator.generate_agent_responses()
        evaluator.save_turn_data(out / TURN_DATA)
        turns = evaluator.all_turn_data or []
    if what == "generate":
        return _show_generated(turns, config, out)
    results, scores = evaluator.evaluate_agent_responses(turns)
    evaluator.save_results(results, scores, out, raw_csv=options["raw_csv"], parquet=options["parquet"])
    show_scores(scores, Terminal(), options["by"], getattr(evaluator.dataset, "vocabularies", None))
    missing = scores["all"]["unscored"] + scores["all"]["errors"]
    return _decided(len(results), missing, config, out)


def _show_generated(turns: list[dict[str, Any]], config: RunConfig, out: Path) -> int:
    failed = [turn for turn in turns if "fault" in turn]
    sessions = len({turn["session_id"] for turn in turns})
    click.echo(f"{len(turns):,} turns of {sessions:,} conversations, {len(failed):,} of them not answered")
    for turn in failed[:3]:
        click.echo(f"    {printable(turn['interaction_id'])}: {printable(turn['fault'])}")
    return _decided(len(turns), len(failed), config, out)


def _decided(turns: int, missing: int, config: RunConfig, out: Path) -> int:
    """Say whether the numbers decide anything, and return the exit code."""
    undecided = "no turns" if not turns else None
    if turns and missing / turns > config.max_unscored:
        undecided = f"more than {config.max_unscored:.3g} of the turns have no label; --retry-failed does them again"
    if undecided is not None:
        click.echo(f"adjudge: undecided: {undecided}", err=True)
        return UNDECIDED
    click.echo(f"adjudge: everything is in {out}", err=True)
    return 0


@contextmanager
def _said_warnings() -> Iterator[None]:
    """Say warnings as the command line does, each once."""
    said: set[str] = set()

    def say(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in said:
            said.add(str(message))
            click.echo(f"adjudge: warning: {printable(str(message), most=500)}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = say
        yield
