"""Answers made from a grammar of LaTeX fragments: well formed, nested, and broken as models break them."""

from random import Random

_LEAVES = (
    *("0", "1", "-2", "3.14", "1,234", "10^{9}", "2 1/3", r"0.\overline{3}", "1010_2", "5!", "50\\%", r"30^\circ"),
    *("x", "y", "n", "a_1", "f(x)", r"\pi", "e", "i", r"\infty", r"\emptyset", r"\mathbb{R}", r"\theta", "AB"),
    *("seven", "minus three", r"\text{yes}", r"5\text{ cm}", "3:4", "12:30", r"\angle ABC", r"\$5", "x'", "|x|"),
)
# `@` is any answer.
_RULES = (
    *(r"\frac{@}{@}", r"\frac12", r"\sqrt{@}", r"\sqrt[@]{@}", "@^{@}", "(@)^2", "@_{@}", "(@)", r"\left(@\right)"),
    *(
        "@+@",
        "@-@",
        "@ @",
        r"@\cdot @",
        "@/@",
        "@:@",
        r"\pm @",
        r"@\pm @",
        "-@",
        "@!",
        "@%",
        "|@|",
        r"\lfloor @\rfloor",
    ),
    *("@, @", "@; @", "@ or @", "@ and @", r"@ \text{ or } @", "@ , @, @", r"@ \vee @", r"@\\@"),
    *("(@, @)", "[@, @)", "[@, @]", "]@, @]", r"\{@, @\}", r"\{@\}", r"\{@ : @\}", r"\{@ | @\}", r"\{@ \mid @, @\}"),
    *(
        r"@\cup @",
        r"@\cap @",
        r"@\setminus @",
        "@ = @",
        "@ < @",
        r"@ \le @ < @",
        r"@ \in @",
        r"@ \ne @",
        r"@ \approx @",
    ),
    *(r"\sin @", r"\sin^2(@)", r"\log_{@} @", r"\ln @", r"\binom{@}{@}", r"\max(@, @)", "f(@)", r"@ \pmod{@}"),
    *(r"\sum_{k=1}^{@} @", r"\prod_{n=@}^{5} @", r"\int_0^@ @ dx", r"\int @ dx", r"\lim_{x\to @} @", r"\frac{d}{dx} @"),
    *(
        r"\begin{pmatrix}@&@\\@&@\end{pmatrix}",
        r"\begin{cases}@\\@\end{cases}",
        r"\begin{vmatrix}@&@\\@&@\end{vmatrix}",
    ),
    *(r"\text{@}", r"\boxed{@}", "$@$", r"\(@\)", r"\mathrm{@}", "**@**", r"@ \text{ for all } @", "the value is @"),
    *(
        r"@^\circ",
        r"@^\prime",
        "@'",
        r"\overline{@}",
        "(C) @",
        "B. @",
        "@ cm^2",
        "@ m/s",
        r"\frac{\partial @}{\partial x}",
    ),
    *("[[@, @], [@, @]]", r"\ce{@}", r"\frac{d@}{dx}"),
)
_SCRAPS = (
    *(
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        r"\{",
        r"\}",
        "|",
        ":",
        ";",
        ",",
        ".",
        "!",
        "^",
        "_",
        "\\",
        "&",
        "$",
        "=",
        "<",
        "'",
    ),
    *(r"\frac", r"\sqrt", r"\left(", r"\end{pmatrix}", r"\pm", r"\in", r"\cup"),
)
_FRAMES = (
    r"\boxed{@}",
    r"so the answer is $@$.",
    "@",
    r"**Answer:** @",
    r"\boxed{@} or \boxed{@}",
    "<answer>@</answer>",
)


def make_answer(random: Random) -> str:
    """Return one answer of up to a few hundred characters; one in three is broken."""
    text = "@"
    for _ in range(random.randrange(1, 9)):
        text = text.replace("@", random.choice(_RULES), 1) if random.random() < 0.7 else _fill_one(text, random)
    while "@" in text:
        text = text.replace("@", random.choice(_LEAVES), 1)
    if random.random() < 0.34:
        text = _break(text, random)
    return text


def make_response(random: Random) -> str:
    """Return a response that gives an answer in one of the usual ways."""
    frame = random.choice(_FRAMES)
    while "@" in frame:
        frame = frame.replace("@", make_answer(random), 1)
    return frame


def _fill_one(text: str, random: Random) -> str:
    """Put a rule in the place of any of the open ones."""
    parts = text.split("@")
    if len(parts) == 1:
        return text
    at = random.randrange(1, len(parts))
    return "@".join(parts[:at]) + random.choice(_RULES) + "@".join(parts[at:])


def _break(text: str, random: Random) -> str:
    """Lose, repeat or add a piece."""
    at, until = sorted((random.randrange(len(text) + 1), random.randrange(len(text) + 1)))
    piece = random.choice(("", text[at:until] * 2, random.choice(_SCRAPS), random.choice(_SCRAPS) * 40))
    return text[:at] + piece + text[until:]
