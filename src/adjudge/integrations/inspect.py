"""Inspect: a scorer as Inspect's `@scorer`, and a task from our cases.

    from adjudge.integrations.inspect import scorer, task
    eval(task("cases.jsonl", scorer=scorer("qa_f1_reward")), model="openai/gpt-4o-mini")

A row without a number is Inspect's unscored score, a NaN that its metrics and reducers leave out. It counts them as
`unscored_samples`; each says in its metadata which of the two it is. Written against inspect-ai 0.3.285.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from adjudge.errors import DataError, UsageError
from adjudge.integrations._policy import OnFault, RewardFault, check_on_fault
from adjudge.integrations._rollouts import Row, rollout_row, with_answer
from adjudge.judges.columns import QUESTIONS, references_in, text_in
from adjudge.model import Case, Score
from adjudge.rewards import Scorer, get_scorer
from adjudge.runs import read_cases

__all__ = ["scorer", "task"]


def scorer(spec: str | Callable[..., Any] | Scorer, *, name: str | None = None, on_fault: OnFault = "mask") -> Any:
    """Return a scorer, or what `get_scorer` makes one of, as a scorer of Inspect, with its mean and error."""
    from inspect_ai.scorer import Score as InspectScore
    from inspect_ai.scorer import mean, stderr
    from inspect_ai.scorer import scorer as inspect_scorer

    check_on_fault(on_fault)
    made = get_scorer(spec)
    if made.is_group:
        raise UsageError(
            f"{made.name} looks at all rollouts of one prompt, and Inspect asks for one", code="unknown-groups"
        )

    @inspect_scorer(name=name or made.name, metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]
    def adjudged() -> Any:
        async def score(state: Any, target: Any) -> Any:
            found = await made.ascore(_row(state, target))
            if found.value is None and on_fault == "raise":
                raise RewardFault(f"{made.name}: sample {state.sample_id} is {found.status}: {found.reason}")
            # An unknown part is left out: Inspect would take None for a value.
            parts = {part: value for part, value in found.parts.items() if value is not None}
            more = {"answer": state.output.completion, "explanation": found.reason, "metadata": _metadata(found, parts)}
            if found.value is None and on_fault == "mask":
                return InspectScore.unscored(reason=str(found.reason).partition(":")[0], **more)
            return InspectScore(value=found.value or 0.0, **more)

        return score

    return adjudged()


def task(
    cases: str | Path | Iterable[Case | Mapping[str, Any]], *, scorer: Any, solver: Any = None, **options: Any
) -> Any:
    """Return a task of Inspect from cases or rows, or from a file of them; their columns are the samples' metadata."""
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample

    samples = []
    for read in read_cases(cases):
        if read.row is None:
            raise DataError(f"case {read.id}: {read.fault}", code="bad-row")
        question = text_in(read.row, QUESTIONS)
        if question is None:
            raise DataError(f"case {read.id} has no question to ask", code="missing-column")
        references = list(references_in(read.row) or ())
        samples.append(Sample(input=question, target=references or "", id=str(read.id), metadata=dict(read.row)))
    given = {} if solver is None else {"solver": solver}
    return Task(dataset=MemoryDataset(samples), scorer=scorer, **given, **options)


def _row(state: Any, target: Iterable[str]) -> Row:
    """Return a finished sample as a row."""
    columns = dict(state.metadata or {})
    # A sample without a target has the empty text for one, which is not an accepted answer.
    references = tuple(one for one in target if one)
    known: Sequence[str] | None = None
    with suppress(DataError):
        known = references_in(columns)
    # Where the target is the text of what the metadata have, as in a task from cases, that is more: a number is one.
    if references and known != references:
        columns = with_answer(columns, list(references) if len(references) > 1 else references[0])
    columns.setdefault("question", state.input_text)
    # A tool that ran in the input was not called by this agent.
    asked = set() if isinstance(state.input, str) else {message.id for message in state.input}
    did = [_message(message) for message in state.messages if message.id not in asked]
    return rollout_row(state.input_text, did, columns, response=state.output.completion)


def _message(message: Any) -> dict[str, Any]:
    """Return a message of Inspect in the usual chat shape."""
    plain: dict[str, Any] = {"role": message.role, "content": message.text}
    calls = getattr(message, "tool_calls", None)
    if calls:
        plain["tool_calls"] = [{"id": one.id, "name": one.function, "arguments": one.arguments} for one in calls]
    if message.role == "tool":
        plain["tool_call_id"] = message.tool_call_id
        plain["name"] = message.function
    return plain


def _metadata(score: Score, parts: Mapping[str, float]) -> dict[str, Any]:
    provenance = score.provenance
    version = {} if provenance is None else {"scorer": provenance.scorer, "version": provenance.version}
    return {"status": score.status, **parts, **version}
