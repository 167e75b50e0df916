"""`adjudge crag`: the CRAG-MM evaluation, and its scores as a table with intervals."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from adjudge.cli._options import (
    ACCEPT_CHANGES,
    AGENT_OPTIONS,
    BUDGETS,
    LIMITS,
    NO_CODE,
    exit_on_sigterm,
    new_command,
    new_group,
    with_options,
)
from adjudge.errors import UsageError, printable

if TYPE_CHECKING:
    from rich.table import Table

    from adjudge.cli._show import Terminal
    from adjudge.crag import CRAGEvaluator
    from adjudge.datasets import Vocabulary
    from adjudge.runs import RunConfig

TURN_DATA = "turn_data.jsonl"
UNDECIDED = 3
ROUGH = "~"  # before an interval that rests on few conversations
RATES = {
    "exact_match": "exact match",
    "accuracy": "accuracy",
    "missing": "missing",
    "hallucination_rate": "hallucination rate",
    "truthfulness_score": "truthfulness",
    "mean_multi_turn_conversation_score": "conversation score",
}
CODES = """\b
Exit codes: 0 done; 2 the call is wrong; 3 undecided (stopped, no turns, or more than
--max-unscored have no label); 130 and 143 interrupted. To resume, run the same command."""

BREAKDOWNS = ("domain", "query_category", "dynamism", "image_quality", "turn_idx")

WORKERS = click.option(
    "--workers", default=1, show_default=True, type=click.IntRange(min=1), help="Calls of the judge in flight."
)
AGENT = (
    click.option("--agent", required=True, help="module:Agent, module:function, or another agent by name."),
    *AGENT_OPTIONS,
    click.option("--dataset", required=True, help="A file or folder of conversations, or hub:OWNER/NAME."),
    click.option("--split", help="Which split of the data set."),
    click.option("--allow-host", multiple=True, help="A host that images may be fetched from; repeatable."),
    click.option("--num-conversations", type=click.IntRange(min=0), help="How many whole conversations; default all."),
)
JUDGE = (
    click.option("--judge", help="local, a MODEL, or none for no semantic evaluation.  [default: gpt-4o]"),
    click.option("--base-url", help="Address of an OpenAI-compatible endpoint."),
    click.option("--scorer", multiple=True, help="A scorer that is aggregated beside the metrics; repeatable."),
    click.option(
        "--rule-scope",
        type=click.Choice(["conversation", "all"]),
        default="conversation",
        show_default=True,
        help="Where the two-wrong rule counts.",
    ),
    click.option("--raw-csv", is_flag=True, help="Write cells that a spreadsheet would run as they are."),
    click.option("--parquet", is_flag=True, help="Write the results as Parquet too."),
    click.option("--by", multiple=True, type=click.Choice(BREAKDOWNS), help="Show a breakdown; repeatable."),
)
OUT = (
    click.option(
        "--out",
        default="crag-results",
        show_default=True,
        help="The folder of the run files and of everything that is written.",
    ),
    click.option("--retry-failed", is_flag=True, help="Repeat turns that ended in an error."),
    ACCEPT_CHANGES,
    NO_CODE,
)


command = new_group(
    "crag",
    short_help="Evaluate an agent on CRAG-MM conversations.",
    epilog="\b\nExample:\n  adjudge crag evaluate turns.jsonl --judge local --out results",
    help="Evaluate an agent on CRAG-MM conversations.",
)


@new_command(
    "run",
    command,
    short_help="Let an agent answer, and evaluate its answers.",
    epilog=f"""\b
Examples:
  adjudge crag run --agent my_agent:Agent --dataset conversations.jsonl --judge local
  adjudge crag run --agent my_agent:Agent --dataset hub:crag-mm-2025/crag-mm-multi-turn-public \\
      --split validation --num-conversations 100 --workers 8 --out results

{CODES}""",
)
@with_options(*AGENT, *JUDGE, WORKERS, *LIMITS[1:], *BUDGETS, *OUT)
def run(**options: Any) -> int:
    """Ask the agent every turn of the conversations, label its answers, and write turn data, results and scores."""
    return _run_crag("run", **options)


@new_command(
    "generate",
    command,
    short_help="Let an agent answer, without evaluation.",
    epilog=f"""\b
Example:
  adjudge crag generate --agent my_agent:Agent --dataset conversations.jsonl --out results

{CODES}""",
)
@with_options(*AGENT, WORKERS, *LIMITS[1:], *OUT)
def generate(**options: Any) -> int:
    """Ask the agent every turn of the conversations, and write turn data."""
    return _run_crag("generate", **options)


@new_command(
    "evaluate",
    command,
    short_help="Evaluate answers that were saved.",
    epilog=f"""\b
Examples:
  adjudge crag evaluate turns.jsonl --judge local --out results
  adjudge crag evaluate turns.jsonl --judge llama --base-url http://localhost:8000/v1
  adjudge crag evaluate turns.jsonl --judge gpt-4o --workers 16 --by domain --out results

{CODES}""",
)
@click.argument("turns")
@with_options(*JUDGE, WORKERS, *LIMITS[1:], *BUDGETS, *OUT)
def evaluate(**options: Any) -> int:
    """Label the turns in TURNS (turn data as JSON lines), and write results and scores."""
    return _run_crag("evaluate", **options)


def _run_crag(what: Literal["run", "generate", "evaluate"], **options: Any) -> int:
    """Do the phases that a command asks for, and return its exit code."""
    from dataclasses import fields

    from adjudge.crag import CRAGEvaluator, watch_phase
    from adjudge.crag.config import DEFAULT_EVAL_MODEL
    from adjudge.datasets import read_conversations
    from adjudge.errors import RunStopped
    from adjudge.runs import RunConfig

    with exit_on_sigterm(), _print_warnings():
        # Three commands share this: each has some of the limits, and the others keep their defaults.
        config = RunConfig(**{one.name: options[one.name] for one in fields(RunConfig) if one.name in options})
        dataset = None
        if "dataset" in options:
            chosen = {"split": options["split"], "num_conversations": options["num_conversations"]}
            dataset = read_conversations(options["dataset"], allow_hosts=options["allow_host"], **chosen)
        judge = options.get("judge") or DEFAULT_EVAL_MODEL
        evaluator = CRAGEvaluator(
            dataset=dataset,
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
        # In Python a bar is optional; on the command line a long run always shows that it lives.
        evaluator.phases.watching = watch_phase
        evaluator.phases.signals = True
        try:
            return _do_phases(what, evaluator, config, options)
        except RunStopped as stopped:
            if evaluator.phases.signal is not None:
                click.echo("adjudge: interrupted; to resume, run the same command", err=True)
                return 128 + evaluator.phases.signal
            click.echo(f"adjudge: undecided: stopped: {printable(stopped.reason, most=500)}", err=True)
            return UNDECIDED


def _refuse_no_key(evaluator: "CRAGEvaluator") -> None:
    """Refuse to evaluate without a judge where one was wanted, before an agent is asked.

    In Python that is a warning, as in the original. Here every answer that is not word for word the reference would be
    a hallucination, with exit code 0.
    """
    why = evaluator.why_no_judge()
    if why is not None:
        raise UsageError(f"{why}; --judge none evaluates without one", code="no-key")


def _do_phases(what: str, evaluator: "CRAGEvaluator", config: "RunConfig", options: dict[str, Any]) -> int:
    from adjudge.cli._show import Terminal

    out = Path(options["out"])
    if what == "evaluate":
        turns = evaluator.load_turn_data(options["turns"])
        _refuse_no_key(evaluator)
    else:
        if what == "run":
            evaluator.initialize_evaluation()
            _refuse_no_key(evaluator)
        if options["wait"] is not None:
            from adjudge.agents import wait_for_agent
            from adjudge.cli._show import show_waiting

            wait_for_agent(options["agent"], options["wait"], watch=show_waiting())
        evaluator.generate_agent_responses()
        # Saved before anything is judged, so that a judge that fails loses no answers.
        evaluator.save_turn_data(out / TURN_DATA)
        turns = evaluator.all_turn_data or []
    if what == "generate":
        failed = [turn for turn in turns if "fault" in turn]
        sessions = len({turn["session_id"] for turn in turns})
        click.echo(f"{len(turns):,} turns of {sessions:,} conversations, {len(failed):,} of them not answered")
        for turn in failed[:3]:
            click.echo(f"    {printable(turn['interaction_id'])}: {printable(turn['fault'])}")
        total, missing = len(turns), len(failed)
    else:
        results, scores = evaluator.evaluate_agent_responses(turns)
        evaluator.save_results(results, scores, out, raw_csv=options["raw_csv"], parquet=options["parquet"])
        show_scores(scores, Terminal(), options["by"], getattr(evaluator.dataset, "vocabularies", None))
        total, missing = len(results), scores["all"]["unscored"] + scores["all"]["errors"]
    undecided = None if total else "no turns"
    if total and missing / total > config.max_unscored:
        undecided = f"more than {config.max_unscored:.3g} of the turns have no label; --retry-failed repeats them"
    line = f"everything is in {out}" if undecided is None else f"undecided: {undecided}"
    click.echo(f"adjudge: {line}", err=True)
    return 0 if undecided is None else UNDECIDED


@contextmanager
def _print_warnings() -> Iterator[None]:
    """Print warnings as other lines of the command, each once."""
    # Both phases may have the same warning.
    printed: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in printed:
            printed.add(str(message))
            click.echo(f"adjudge: warning: {printable(str(message), most=500)}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def show_scores(
    scores: Mapping[str, Any],
    console: "Terminal",
    breakdowns: Sequence[str] = (),
    vocabularies: "Mapping[str, Vocabulary] | None" = None,
) -> None:
    """Print the metrics of all turns and of the ego-centric ones, then the breakdowns that are asked for.

    `vocabularies` have, by column, the names to print in a breakdown instead of numbers.
    """
    from rich.text import Text

    from adjudge.cli._show import new_table

    blocks = [scores["all"], scores["ego"]]
    table = new_table("metric", "all", "95 % interval", "ego", "95 % interval")
    for words, count in (("turns", "total"), ("conversations", "conversations")):
        table.add_row(words, *(cell for block in blocks for cell in (f"{block[count]:,.0f}", "")))
    for rate, words in RATES.items():
        cells: list[str | Text] = []
        for block in blocks:
            number = _number(block[rate], block["total"])
            cells += [Text(number, style="bold"), _interval(block["intervals"][rate])]
        table.add_row(words, *cells)
    for name in sorted({name for block in blocks for name in block.get("scorers", {})}):
        cells = []
        for block in blocks:
            # A scorer may have scored no ego-centric turn at all.
            found = block.get("scorers", {}).get(name, {"mean": None, "interval": {"low": None}})
            mean = "–" if found["mean"] is None else f"{found['mean']:.4f}"
            cells += [Text(mean, style="bold"), _interval(found["interval"])]
        table.add_row(Text(printable(name)), *cells)
    console.print(table)
    for name in breakdowns:
        console.print(Text(f"\nby {name}"))
        console.print(_breakdown(scores["all"]["breakdowns"][name], name, (vocabularies or {}).get(name)))
    for line in _remarks(scores, breakdowns):
        console.say(line)


def _breakdown(parts: Sequence[Mapping[str, Any]], name: str, names: "Vocabulary | None") -> "Table":
    from rich.text import Text

    from adjudge.cli._show import new_table

    table = new_table(name, "turns", "accuracy", "95 % interval", "truthful", "95 % interval")
    # Names are long, and a terminal may have 80 columns.
    table.collapse_padding = True
    for part in parts:
        value = "not known" if part["value"] is None else str(part["value"])
        if part["value"] is not None and names is not None:
            value = names.name_of(part["value"], value)
        cells = [f"{part['total']:,.0f}"]
        for rate in ("accuracy", "truthfulness_score"):
            cells += [_number(part[rate], part["total"]), _interval(part["intervals"][rate])]
        table.add_row(Text(printable(value)), *cells)
    return table


def _number(value: float, n: float) -> str:
    return f"{value:.4f}" if n else "–"


def _interval(interval: Mapping[str, Any]) -> str:
    from adjudge.statistics import FEW_CLUSTERS

    if interval["low"] is None:
        return "–"
    mark = ROUGH if 0 < interval["clusters"] < FEW_CLUSTERS else ""
    return f"{mark}{interval['low']:.4f} .. {interval['high']:.4f}"


def _remarks(scores: Mapping[str, Any], breakdowns: Sequence[str]) -> list[str]:
    """Return what belongs beside the numbers: what is missing from them, and what they rest on."""
    from adjudge.statistics import FEW_CLUSTERS

    whole, about = scores["all"], scores["about"]
    lines = []
    shown = [whole, scores["ego"], *(part for name in breakdowns for part in whole["breakdowns"][name])]
    if any(0 < block["conversations"] < FEW_CLUSTERS for block in shown):
        lines.append(f"{ROUGH} fewer than {FEW_CLUSTERS} conversations: the interval is rough")
    # Turns without a label are in none of the rates: say how many there are.
    missing = whole["unscored"] + whole["errors"]
    if missing:
        low, high = whole["bounds"]["accuracy"]
        share = f"{missing:,} of {whole['total'] + missing:,.0f} turns have no label"
        kinds = f"{whole['unscored']:,} unscored by the judge, {whole['errors']:,} not answered by the agent"
        lines.append(f"* {share} ({kinds}): with them the accuracy lies in {low:.4f} .. {high:.4f}")
    if about["semantic_evaluation"] == "off":
        lines.append(
            "* semantic evaluation was off: every turn that is neither a miss nor an exact match counts as wrong"
        )
    cut = about["responses_cut"]
    by = "" if cut is None else f"; responses cut by {printable(str(cut))}"
    lines.append(f"judge: {printable(str(about['judge'] or 'none'))}{by}")
    if about["judge_agreement"] is not None:
        lines.append(printable(about["judge_agreement"], most=300))
    return lines
