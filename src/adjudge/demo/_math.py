r"""Chapter 2: mathematical equality, decided in microseconds and impossible to hang."""

from adjudge.demo._scene import Scene
from adjudge.rewards.math import compare

PAIRS = (
    (r"Hence $x = \boxed{\frac{1}{\sqrt{2}}}$.", r"\frac{\sqrt{2}}{2}"),
    (r"\boxed{(-\infty, 3]}", r"x \le 3"),
    ("The answer is 41 or 42.", "42"),
    (r"<think>\boxed{42}</think> I am not sure.", "42"),
    (r"\boxed{9^{9^{9^{9}}}}", "1"),
)


def chapter(scene: Scene) -> None:
    """Compare a few answers and show how each was decided."""
    lines = ["2. Mathematics: is the answer equal to the gold one? Nothing that a model wrote is ever executed"]
    for response, gold in PAIRS:
        verdict = compare(response, gold)
        word = "equal" if verdict.equal else "not equal"
        lines.append(f"    {response}   against   {gold}\n        {word}, {verdict.reason} (tier {verdict.tier})")
    scene.say("\n".join(lines))
