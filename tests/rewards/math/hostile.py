"""Texts that try to hang, to fill the memory or to run: the given rows, and what passes the checks of size."""

import json
from dataclasses import dataclass
from pathlib import Path

LOG = "ADJUDGE_TEST_AUDIT_LOG"
"""The variable that names the file in which audited workers write."""

FOLDER = Path(__file__).parents[2] / "golden" / "math"


@dataclass(frozen=True, slots=True)
class Attack:
    """One row of the adversarial set."""

    id: str
    text: str
    gold: str
    either: bool


def _rows() -> list[Attack]:
    found = []
    for line in (FOLDER / "adversarial.jsonl").read_text(encoding="utf-8").split("\n"):
        if line.strip():
            row = json.loads(line)
            text = "".join(piece * times for piece, times in row["gen"]) if "gen" in row else row["pred"]
            found.append(Attack(row["id"], text, row["gold"], row["equal"] == "either"))
    return found


ADVERSARIAL = _rows()

ENDLESS = [
    r"\boxed{\int \frac{\sin(x^x)}{\ln(1+x^{x}+e^{x^2})} dx}",
    r"\boxed{\int \frac{1}{x^{50}+x^{7}+1} dx}",
    r"\boxed{\int (a+b+c+d+x)^{40} dx}",
]
"""Small enough for every check, and more than sympy can do within the limit."""

NEED_SYMPY = [
    (r"\boxed{\int x^2 dx}", r"\frac{x^3}{3}"),
    (r"\boxed{\int x e^x dx}", "(x-1)e^x"),
    (r"\boxed{\int \cos x dx}", r"\cos x"),
    (r"\boxed{\lim_{x\to 0}\frac{\sin x}{x}}", "1"),
]
"""Answers that only sympy can decide, and decides at once."""

INJECTIONS = [
    r"\boxed{__import__('os').system('touch pwned')}",
    "The answer is __import__('os').system('touch pwned')",
    r"\boxed{exec(\"open('pwned','w')\")}",
    r"\boxed{[__import__('os').system('touch pwned'),2\pi][0]}",
    r"\boxed{\int __import__('os').system('touch pwned') dx}",
    r"""\boxed{\int \text{__import__("os").system("touch pwned")} dx}""",
    r"\boxed{\int x_{__import__('os').system('touch pwned')} dx}",
    r"""\boxed{\int f_{eval("open('pwned','w')")}(x) dx}""",
    r"\boxed{\int \operatorname{eval}(\text{open('pwned','w')}) dx}",
    r"\boxed{\int x'_{[c for c in ().__class__.__base__.__subclasses__()]} dx}",
    r"""\boxed{\lim_{x\to 0} lambda: open("pwned","w")}""",
    r"\boxed{\input{/etc/passwd}}",
    r"\boxed{\immediate\write18{touch pwned}}",
    r"""\boxed{\int S("open('pwned','w')") dx}""",
    "\\boxed{${jndi:ldap://localhost/a}}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }} \\boxed{%s%n{0.__class__}}",
    "<answer>`touch pwned`; $(touch pwned)</answer>",
]
