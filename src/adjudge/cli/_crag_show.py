"""The scores of a CRAG-MM evaluation on the terminal: a table with intervals, and what must be said beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from adjudge.cli._options import printable
from adjudge.datasets import Vocabulary
from adjudge.statistics import FEW_CLUSTERS as FEW

ROUGH = "~"  # before an interval that rests on few conversations
RATES = {
    "exact_match": "exact match",
    "accuracy": "accuracy",
    "missing": "missing",
    "hallucination_rate": "hallucination rate",
    "truthfulness_score": "truthfulness",
    "mean_multi_turn_conversation_score": "conversation score",
}


def show_scores(
    scores: Mapping[str, Any],
    console: Console,
    breakdowns: Sequence[str] = (),
    vocabularies: Mapping[str, Vocabulary] | None = None,
) -> None:
    """Print the metrics of all turns and of the ego-centric ones, then the breakdowns that are asked for.

    `vocabularies` have, by column, the names that stand in a breakdown instead of numbers.
    """
    table = _table("metric", "all", "95 % interval", "ego", "95 % interval")
    blocks = [scores["all"], scores["ego"]]
    for words, count in (("turns", "total"), ("conversations", "conversations")):
        numbers = (f"{block[count]:,.0f}" for block in blocks)
        table.add_row(Text(words), *(Text(cell) for number in numbers for cell in (number, "")))
    for rate, words in RATES.items():
        table.add_row(Text(words), *(cell for block in blocks for cell in _cells(block, rate)))
    for name in sorted({name for block in blocks for name in block.get("scorers", {})}):
        table.add_row(Text(printable(name)), *(cell for block in blocks for cell in _scorer_cells(block, name)))
    console.print(table)
    for name in breakdowns:
        console.print(Text(f"\nby {name}"))
        names = (vocabularies or {}).get(name, Vocabulary())
        console.print(_breakdown(scores["all"]["breakdowns"][name], name, names))
    for line in _remarks(scores, breakdowns):
        console.print(Text(line), soft_wrap=True)


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _cells(block: Mapping[str, Any], rate: str) -> list[Text]:
    return [Text(_number(block[rate], block["total"]), style="bold"), Text(_interval(block["intervals"][rate]))]


def _scorer_cells(block: Mapping[str, Any], name: str) -> list[Text]:
    found = block.get("scorers", {}).get(name)
    if found is None:
        return [Text("–"), Text("–")]
    mean = "–" if found["mean"] is None else f"{found['mean']:.4f}"
    return [Text(mean, style="bold"), Text(_interval(found["interval"]))]


def _breakdown(parts: Sequence[Mapping[str, Any]], name: str, names: Vocabulary) -> Table:
    table = _table(name, "turns", "accuracy", "95 % interval", "truthful", "95 % interval")
    table.collapse_padding = True  # names are long, and a terminal may have 80 columns
    for part in parts:
        value = "not known" if part["value"] is None else printable(names.name_of(part["value"], str(part["value"])))
        cells = [f"{part['total']:,.0f}"]
        for rate in ("accuracy", "truthfulness_score"):
            cells += [_number(part[rate], part["total"]), _interval(part["intervals"][rate])]
        table.add_row(Text(value), *map(Text, cells))
    return table


def _number(value: float, n: float) -> str:
    return f"{value:.4f}" if n else "–"


def _interval(interval: Mapping[str, Any]) -> str:
    if interval["low"] is None:
        return "–"
    mark = ROUGH if 0 < interval["clusters"] < FEW else ""
    return f"{mark}{interval['low']:.4f} .. {interval['high']:.4f}"


def _remarks(scores: Mapping[str, Any], breakdowns: Sequence[str]) -> list[str]:
    """Return what must be said beside the numbers: what is missing from them, and what they rest on."""
    whole, about = scores["all"], scores["about"]
    lines = []
    shown = [whole, scores["ego"], *(part for name in breakdowns for part in whole["breakdowns"][name])]
    if any(0 < block["conversations"] < FEW for block in shown):
        lines.append(f"{ROUGH} fewer than {FEW} conversations: the interval is rough")
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
