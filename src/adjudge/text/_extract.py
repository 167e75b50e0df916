r"""The answer inside a model's output: tags, boxes and statements, outside of its thinking.

    "<think>2+2 is 5? no</think> So \boxed{4}."    ->  "4"

Every function reads its text once, from left to right: unbalanced or repeated markers cost no more than others.
"""

import re
from typing import Literal, TypeAlias

ExtractMode: TypeAlias = Literal["answer", "boxed", "final"]
"""Where an answer is looked for: in `<answer>` tags, in `\\boxed{}`, or wherever it was stated last."""

_THINK_TAG = re.compile(r"<(/?)think(?:ing)?\s*>", re.IGNORECASE)
_ANSWER_TAG = re.compile(r"<(/?)answer\s*>", re.IGNORECASE)
_BOX_OR_BRACE = re.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", re.DOTALL)
_STATEMENT = re.compile(r"\banswer[*_]{0,3}\s{0,3}(?:is\b[*_]{0,3}\s{0,3}:?|:)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")


def strip_thinking(text: str) -> str:
    """Return the text without its think blocks.

    A block that never ends runs to the end; an end without a beginning, as some chat templates leave it,
    closes a block that began with the text.

    >>> strip_thinking("<think>hmm</think> 4")
    '4'
    >>> strip_thinking("hmm</think> 4")
    '4'
    """
    kept: list[str] = []
    depth = 0
    position = 0
    for tag in _THINK_TAG.finditer(text):
        if not tag[1]:
            if depth == 0:
                kept.append(text[position : tag.start()])
            depth += 1
            continue
        if depth == 0:
            kept.clear()
        depth = max(depth - 1, 0)
        position = tag.end()
    if depth == 0:
        kept.append(text[position:])
    return "".join(kept).strip()


def extract_answer(text: str, mode: ExtractMode = "final") -> str | None:
    r"""Return the answer that the text states, or None where it states none.

    `final` takes the last complete box, else the last `<answer>`, else what follows the last `####`, else what
    follows the last "the answer is". What is inside a think block never counts.

    >>> extract_answer(r"I get \boxed{\frac{1}{2}}")
    '\\frac{1}{2}'
    >>> extract_answer("The final answer is **Paris**. I am sure.")
    'Paris'
    >>> extract_answer("No idea.") is None
    True
    """
    spoken = strip_thinking(text)
    if mode == "answer":
        return _last_tag(spoken)
    if mode == "boxed":
        return _last_box(spoken)
    if mode != "final":
        raise ValueError(f"mode must be answer, boxed or final, got {mode!r}")
    for finder in (_last_box, _last_tag, _last_hashes, _last_statement):
        answer = finder(spoken)
        if answer is not None:
            return answer
    return None


def _last_tag(text: str) -> str | None:
    span: tuple[int, int] | None = None
    start: int | None = None
    for tag in _ANSWER_TAG.finditer(text):
        if not tag[1]:
            start = tag.end()
        elif start is not None:
            span = (start, tag.start())
            start = None
    return text[slice(*span)].strip() if span else None


def _last_box(text: str) -> str | None:
    span: tuple[int, int] | None = None
    opened: list[int | None] = []  # where the content of each open box begins; None for a plain brace
    for token in _BOX_OR_BRACE.finditer(text):
        mark = token[0]
        if mark == "{":
            opened.append(None)
        elif mark == "}":
            start = opened.pop() if opened else None
            if start is not None:
                span = (start, token.start())
        elif len(mark) > 2:
            opened.append(token.end())
    return text[slice(*span)].strip() if span else None


def _last_hashes(text: str) -> str | None:
    _, found, rest = text.rpartition("####")
    return rest.partition("\n")[0].strip() if found else None


def _last_statement(text: str) -> str | None:
    begin = None
    for statement in _STATEMENT.finditer(text):
        begin = statement.end()
    if begin is None:
        return None
    # On the same line, or where the statement is a heading, on the next that says something.
    line = text[begin:].lstrip(" \t*_:$\r\n").partition("\n")[0]
    end = _SENTENCE_END.search(line)
    return (line[: end.start()] if end else line).strip(" \t\r*$_:") or None
