"""pydantic-evals: a data set with its `LLMJudge`."""

from _peer import IN_FLIGHT, ROWS, measure
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import LLMJudge


def judge_all():
    judge = LLMJudge(rubric="The output gives the expected output.", model=OpenAIChatModel("m"), include_input=True)
    cases = [Case(name=str(at), inputs=row, expected_output=row["reference"]) for at, row in enumerate(ROWS)]
    data = Dataset(name="peers", cases=cases, evaluators=[judge])
    report = data.evaluate_sync(lambda row: row["response"], max_concurrency=IN_FLIGHT, progress=False)
    found = {}
    for case in report.cases:
        booked = [*case.assertions.values(), *case.scores.values()]
        found[case.name] = float(booked[0].value) if booked else None
    return [found.get(str(at)) for at in range(len(ROWS))]


measure(judge_all)
