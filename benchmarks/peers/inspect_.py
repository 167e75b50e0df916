"""Inspect: a task of saved answers, scored by `model_graded_qa`."""

import sys

from _peer import IN_FLIGHT, ROWS, measure
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import solver


@solver
def saved():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("saved", state.metadata["response"])
        return state

    return solve


def judge_all():
    samples = [
        Sample(input=row["question"], target=row["reference"], id=at, metadata={"response": row["response"]})
        for at, row in enumerate(ROWS, 1)
    ]
    [log] = eval(
        Task(samples, solver=saved(), scorer=model_graded_qa(model=get_model("openai/m", responses_api=False))),
        model="mockllm/model",
        log_dir=sys.argv[3],
        display="none",
        max_connections=IN_FLIGHT,
        max_samples=IN_FLIGHT,
        fail_on_error=False,
        max_retries=2,
    )
    letters = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
    found = {}
    for sample in log.samples or []:
        score = next(iter((sample.scores or {}).values()), None)
        value = None if score is None else score.value
        found[sample.id] = letters.get(value, value) if isinstance(value, str) else value
    return [None if found.get(at) != found.get(at) else found.get(at) for at in range(1, len(ROWS) + 1)]


measure(judge_all)
