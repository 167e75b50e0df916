"""The CRAG-MM evaluator: an agent answers the turns of conversations, and its answers are labelled and added up.

evaluator = CRAGEvaluator(dataset=dataset, agent=agent, eval_model_name="gpt-4o", eval_api_key="your-api-key")
turn_results, scores = evaluator.evaluate_agent()
evaluator.save_results(turn_results, scores, output_dir="./results")
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.conversations import RULE_SCOPES, RuleScope
from adjudge.crag import config as constants
from adjudge.crag._phases import Phases, ProgressCallback
from adjudge.errors import UsageError, closest

if TYPE_CHECKING:
    from adjudge.crag._generate import Generation
    from adjudge.crag._results import TurnResults
    from adjudge.model import Judge
    from adjudge.runs import RunConfig

__all__ = ["CRAGEvaluator"]

ABOUT = "about"
"""The key of the scores for how they were made: judge, rule, tokenizer, version."""


class CRAGEvaluator:
    """Evaluates an agent on conversations about images, in two phases, each a run that can be resumed.

    `dataset` is anything that `adjudge.datasets.read_conversations` reads, or what it returns; `agent` an object with
    `get_batch_size()` and `batch_generate_response(...)`, or a function `(query, image, history) -> str`.
    `eval_model_name` is a model behind an OpenAI-compatible endpoint (`eval_base_url`, else `OPENAI_BASE_URL`), `local`
    for the judge in the package, or None for no semantic evaluation. `num_conversations` whole conversations are
    evaluated, all if it is None, with `num_workers` calls of the judge in flight.

    `tokenizer` cuts the responses; `scorers` are registered scorers that are aggregated beside the metrics;
    `rag_context(query, image)` returns what agents with a `rag_context_list` get. The run files are in `run_dir`: with
    the same folder, the same calls resume where they were interrupted, and with `retry_failed` turns that ended in an
    error are repeated. Without `run_dir`, they are removed with the evaluator. `config` has the limits of both runs,
    and the budgets of the judge.
    """

    def __init__(  # noqa: PLR0913 (the benchmark's own arguments, in its own order, then ours by name)
        self,
        dataset: Any = None,
        agent: Any = None,
        eval_model_name: str | Judge | None = constants.DEFAULT_EVAL_MODEL,
        eval_api_key: str | None = None,
        num_conversations: int | None = None,
        show_progress: bool = True,
        num_workers: int = constants.DEFAULT_NUM_WORKERS,
        *,
        eval_base_url: str | None = None,
        tokenizer: Any = None,
        scorers: Sequence[Any] = (),
        rule_scope: RuleScope = "conversation",
        rag_context: Callable[[str, Any], Any] | None = None,
        run_dir: str | Path | None = None,
        retry_failed: bool = False,
        config: RunConfig | None = None,
    ) -> None:
        if rule_scope not in RULE_SCOPES:
            message = f"rule_scope is one of {', '.join(RULE_SCOPES)}, not {rule_scope!r}"
            raise UsageError(f"{message}{closest(str(rule_scope), RULE_SCOPES)}")
        if type(num_workers) is not int or num_workers < 1:
            raise UsageError(f"num_workers must be a whole number, at least 1, got {num_workers!r}")
        if num_conversations is not None and (type(num_conversations) is not int or num_conversations < 0):
            raise UsageError(f"num_conversations must be a whole number or None, got {num_conversations!r}")
        self.dataset = dataset
        self.agent = agent
        self.eval_model_name = eval_model_name
        self.num_conversations = num_conversations
        self.show_progress = show_progress
        self.num_workers = num_workers
        self.eval_base_url = eval_base_url
        self.tokenizer = tokenizer
        self.scorers = scorers
        self.rule_scope = rule_scope
        self.rag_context = rag_context
        self.retry_failed = retry_failed
        self.conversations_count = 0
        self.all_turn_data: list[dict[str, Any]] | None = None
        self._key = eval_api_key
        self._config = config
        self.phases = Phases(None if run_dir is None else Path(run_dir))
        self._generation: Generation | None = None
        self._judge: tuple[Judge | None, str | None] | None = None

    def evaluate_agent(self) -> tuple[TurnResults, dict[str, Any]]:
        """Run both phases, and return the results of all turns and the scores."""
        self.initialize_evaluation()
        self.generate_agent_responses()
        return self.evaluate_agent_responses()

    def initialize_evaluation(self) -> None:
        """Prepare both phases: find the judge, or warn that there is none, then read through the data set."""
        from adjudge.crag._judging import scorers_of
        from adjudge.crag._turns import TURN_FIELDS

        scorers_of(
            self._find_judge(), self.scorers, TURN_FIELDS
        )  # a scorer that cannot work fails here, before the agent is asked
        self.initialize_for_generation()

    def initialize_for_generation(self) -> None:
        """Prepare phase 1: read through the data set, where a row that cannot be used raises `RowError`."""
        from adjudge.crag._agent import agent_of
        from adjudge.crag._generate import Generation, Survey, WordTokenizer, check_tokenizer

        for name in ("dataset", "agent"):
            if getattr(self, name) is None:
                raise UsageError(f"generating responses needs a {name}: CRAGEvaluator({name}=...)", code=f"no-{name}")
        tokenizer = WordTokenizer() if self.tokenizer is None else self.tokenizer
        check_tokenizer(tokenizer)
        conversations = self._conversations()
        survey = Survey.of(conversations)
        agent = agent_of(self.agent)
        self._generation = Generation(conversations, survey, agent, tokenizer, self.rag_context)
        self.conversations_count = len(survey.turns)
        self.all_turn_data = None

    def generate_agent_responses(self, progress_callback: ProgressCallback | None = None) -> None:
        """Run phase 1: the agent answers every turn, in `all_turn_data`.

        A turn on which the agent fails has an empty response and a `fault`, and the conversation continues.
        `progress_callback` is called with how many turns are done, and of how many.
        """
        from adjudge.crag._generate import FILE, read_answers

        if self._generation is None:
            self.initialize_for_generation()
        generation = self._generation
        assert generation is not None  # noqa: S101 (initialised above)
        self.phases.show, self.phases.callback = self.show_progress, progress_callback
        path = self.phases.file(FILE, anew=True)
        task = generation.task(path, self._limits(), self.num_workers, retry=self.retry_failed)
        self.phases.run("generating", task)
        self.all_turn_data = list(read_answers(path, generation.tokenizer))

    def evaluate_agent_responses(
        self, turn_data: Iterable[Mapping[str, Any]] | None = None, progress_callback: ProgressCallback | None = None
    ) -> tuple[TurnResults, dict[str, Any]]:
        """Run phase 2: label every turn, and return the results and the scores.

        Without `turn_data`, what this evaluator generated is evaluated. Turns may come in any order.
        """
        from adjudge.crag._judging import evaluate, in_order, results, scorers_of
        from adjudge.crag._results import TurnResults
        from adjudge.crag._scores import score_results
        from adjudge.crag._turns import TURN_FIELDS

        given = self.all_turn_data if turn_data is None else turn_data
        if given is None:
            raise UsageError("there is nothing to evaluate: generate responses, or give turn_data", code="no-turns")
        turns = in_order(given)
        judge = self._find_judge()
        scorers = scorers_of(judge, self.scorers, {name for turn in turns for name in turn} or TURN_FIELDS)
        limits = replace(self._limits(), workers=self.num_workers)
        self.phases.show, self.phases.callback = self.show_progress, progress_callback
        path = evaluate(self.phases, turns, scorers, limits, retry=self.retry_failed)
        rows = TurnResults.of(results(path, [scorer.name for scorer in scorers]), rule_scope=self.rule_scope)
        ranges = {scorer.name: scorer.range for scorer in scorers if scorer.range is not None}
        scores = score_results(rows, rule_scope=self.rule_scope, ranges=ranges)
        return rows, {**scores, ABOUT: self._about(turns, judge)}

    def save_results(
        self,
        turn_results: Sequence[Mapping[str, Any]],
        scores: Mapping[str, Any],
        output_dir: str | Path,
        *,
        raw_csv: bool = False,
        parquet: bool = False,
    ) -> dict[str, Path]:
        """Write both CSVs and the scores into `output_dir`, and return their paths by name.

        A cell that a spreadsheet would run as a formula gets an apostrophe, unless `raw_csv` is true; `parquet` asks
        for the results as Parquet too.
        """
        from adjudge.crag._results import save_results

        return save_results(turn_results, scores, output_dir, raw_csv=raw_csv, parquet=parquet)

    def save_turn_data(self, output_file: str | Path) -> int:
        """Write what was generated as JSON lines at `output_file`, and return how many turns there are."""
        from adjudge.crag._phases import make_folder
        from adjudge.crag._turns import write_turns

        if self.all_turn_data is None:
            raise UsageError("there is nothing to save: generate responses first", code="no-turns")
        make_folder(Path(output_file).parent)
        return write_turns(output_file, self.all_turn_data)

    def load_turn_data(self, input_file: str | Path) -> list[dict[str, Any]]:
        """Read turn data; a line that cannot be used raises `RowError`, with its number and the field."""
        from adjudge.crag._turns import read_turns

        return list(read_turns(input_file))

    def _conversations(self) -> Any:
        from adjudge.datasets import Conversations, read_conversations

        data = self.dataset
        if isinstance(data, Conversations):
            # Both the data set and the evaluator may limit the number: the smaller one counts.
            known = [count for count in (data.num_conversations, self.num_conversations) if count is not None]
            return replace(data, num_conversations=min(known, default=None))
        # The data are read for the questions, and again for the images: an iterator is kept as a list.
        data = list(data) if isinstance(data, Iterator) else data
        try:
            return read_conversations(data, num_conversations=self.num_conversations)
        except UsageError as error:
            if error.code != "unknown-split":
                raise
            raise UsageError(f"{error.message}: give one of them, dataset[...]", code=error.code) from None

    def why_no_judge(self) -> str | None:
        """Return why there is no judge though one was wanted; None where there is one, or none was wanted."""
        from adjudge.crag._judging import judge_of

        return judge_of(self.eval_model_name, api_key=self._key, base_url=self.eval_base_url)[1]

    def _find_judge(self) -> Judge | None:
        """Return the judge, found once; a warning says when there is none though one was wanted."""
        if self._judge is None:
            from adjudge.crag._judging import judge_of

            # Found when it is needed, so that generating alone asks for no key.
            self._judge = judge_of(self.eval_model_name, api_key=self._key, base_url=self.eval_base_url)
            if self._judge[1] is not None:
                warnings.warn(self._judge[1], stacklevel=3)
        return self._judge[0]

    def _limits(self) -> RunConfig:
        from adjudge.runs import RunConfig

        return self._config or RunConfig()

    def _about(self, turns: Sequence[Mapping[str, Any]], judge: Judge | None) -> dict[str, Any]:
        from adjudge import __version__
        from adjudge.crag._turns import TOKENIZER

        # Turn data of others may not say how their responses were cut.
        cuts = sorted({str(turn.get(TOKENIZER, "not known")) for turn in turns})
        return {
            "semantic_evaluation": "off" if judge is None else "on",
            "judge": None if judge is None else f"{judge.name} {judge.version}",
            "judge_agreement": getattr(judge, "agreement", None),
            "rule_scope": self.rule_scope,
            "responses_cut": cuts[0] if len(cuts) == 1 else cuts or None,
            "adjudge": __version__,
        }
