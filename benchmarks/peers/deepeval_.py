"""DeepEval: `GEval` for correctness, through `evaluate`."""

import os

os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="1", DEEPEVAL_DISABLE_PROGRESS_BAR="1", ERROR_REPORTING="0")

from _peer import BASE, IN_FLIGHT, ROWS, measure
from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import GEval
from deepeval.models import GPTModel
from deepeval.test_case import LLMTestCase, LLMTestCaseParams


def judge_all():
    params = [LLMTestCaseParams.INPUT, LLMTestCaseParams.ACTUAL_OUTPUT, LLMTestCaseParams.EXPECTED_OUTPUT]
    model = GPTModel(model="gpt-4o", base_url=BASE, api_key="none", cost_per_input_token=0, cost_per_output_token=0)
    judge = GEval(
        name="correct",
        evaluation_params=params,
        model=model,
        evaluation_steps=["Compare the output with the expected one."],
    )
    cases = [
        LLMTestCase(
            input=row["question"], actual_output=row["response"], expected_output=row["reference"], name=str(at)
        )
        for at, row in enumerate(ROWS)
    ]
    done = evaluate(
        cases,
        [judge],
        async_config=AsyncConfig(max_concurrent=IN_FLIGHT),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        cache_config=CacheConfig(write_cache=False),
        error_config=ErrorConfig(ignore_errors=True),
    )
    found = {one.name: one.metrics_data[0].score if one.metrics_data else None for one in done.test_results}
    return [found.get(str(at)) for at in range(len(ROWS))]


measure(judge_all)
