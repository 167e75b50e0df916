"""Chapter 5: the CRAG-MM evaluator from end to end, on three agents of different skill.

The agents answer the conversations of `adjudge.crag.sample`, each turn with its image and with what was said before;
their answers are judged by the judge in the package.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from adjudge.crag import CRAGEvaluator, sample
from adjudge.demo._scene import Scene
from adjudge.statistics import paired_difference

METRICS = {
    "accuracy": "accuracy",
    "missing": "missing",
    "hallucination_rate": "hallucination",
    "truthfulness_score": "truthfulness",
    "mean_multi_turn_conversation_score": "conversation score",
}
# An agent, and what it answered: right, a miss, a paraphrase that the judge may not know, and a try to talk to it.
SHOWN = (("atlas", "sample-14-3"), ("atlas", "sample-10-1"), ("atlas", "sample-16-2"), ("cinder", "sample-24-3"))


def chapter(scene: Scene) -> None:
    """Evaluate the three agents of the sample; show their scores, and how far two of them differ."""
    results: dict[str, Sequence[Mapping[str, Any]]] = {}
    scores: dict[str, Mapping[str, Any]] = {}
    for name in sample.AGENTS:
        evaluator = CRAGEvaluator(sample.conversations(), sample.agent(name), "local", show_progress=False)
        results[name], scores[name] = evaluator.evaluate_agent()
    whole = scores[sample.AGENTS[0]]["all"]
    scene.say(
        f"5. Benchmarks: {len(sample.AGENTS)} agents in {whole['conversations']} conversations about images, "
        f"{whole['total']:.0f} turns, with the files and scores of CRAG-MM"
    )
    shown = [(name, next(row for row in results[name] if row["interaction_id"] == turn)) for name, turn in SHOWN]
    lines = []
    for name, row in shown:
        label = "a miss" if row["is_miss"] else "correct" if row["is_correct"] else "a hallucination"
        said = [f"wanted {row['ground_truth']!r}", f"{name} said {row['agent_response']!r}", f"counted as {label}"]
        lines += [f"    {row['query']}", *(f"        {line}" for line in said)]
    scene.say("\n".join(lines))
    scene.say("\n".join(_table(scores)))
    scene.say(_compare(results, *sample.AGENTS[:2]))
    such = "" if shown[2][1]["is_correct"] else ", such as the third answer above"
    scene.say(
        "The intervals know that turns of one conversation are not independent. The judge in the package knows no "
        f'facts and misses some paraphrases{such}; eval_model_name="gpt-4o" asks a large model instead.'
    )


def _table(scores: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = [f"{'metric':<20}{'agent':<8}{'n':>5}{'value':>10}   {'95 % interval'}"]
    for metric, words in METRICS.items():
        for name, found in scores.items():
            interval = found["all"]["intervals"][metric]
            value = f"{found['all'][metric]:10.4f}   {interval['low']:7.4f} .. {interval['high']:7.4f}"
            lines.append(f"{words:<20}{name:<8}{interval['n']:>5}{value}")
            words = ""  # noqa: PLW2901 (once for the three)
    return lines


def _compare(results: Mapping[str, Sequence[Mapping[str, Any]]], better: str, worse: str) -> str:
    """Return how much better one agent is than the other, turn by turn."""
    first, second = results[better], results[worse]
    found = paired_difference(
        [float(row["is_correct"]) for row in first],
        [float(row["is_correct"]) for row in second],
        [row["session_id"] for row in first],
    )
    if found is None or found.low is None or found.high is None:
        return f"{better} against {worse}: too few turns to tell"
    return (
        f"{better} against {worse}, turn by turn: accuracy {found.value:+.4f}, 95 % interval "
        f"{found.low:+.4f} .. {found.high:+.4f}, {found.clusters} conversations"
    )
