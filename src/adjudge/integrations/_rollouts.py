"""A rollout as a row: what a trainer hands over, under the names that scorers ask for.

    prompt      "Capital of France?", or messages          ->  row["prompt"], the text of it
    completion  "Paris", or messages                       ->  row["final_response"], row["trajectory"]
    columns     {"answer": "Paris", ...}, of the data set  ->  row["answer"], ...

What the agent did is never read from a column: one called `response` or `trajectory` does not stand in for the rollout.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from adjudge.errors import TrajectoryError, UsageError
from adjudge.judges.columns import REFERENCES, RESPONSES
from adjudge.model import Message, Trajectory
from adjudge.rewards import Scorer
from adjudge.text.values import are_messages, is_empty_cell, plain

Row = dict[str, Any]

# What a tokenizer writes for its special tokens: <|im_end|>, </s>, <eos>, <end_of_turn>, <｜end▁of▁sentence｜>.
SPECIAL = r"(?:<[|｜][^<>|｜\s]{1,40}[|｜]>|</?s>|<(?:bos|eos|pad|end_of_turn)>)"
_LAST = re.compile(rf"{SPECIAL}\s*\Z")
_MOST_SPECIAL = 4096  # characters at the end that may be special tokens


def rollout_row(prompt: object, completion: object, columns: Mapping[str, Any], *, response: str | None = None) -> Row:
    """Return a rollout as a row; its response is the last reply, unless the trainer knows better.

    >>> row = rollout_row([{"role": "user", "content": "2+2?"}], [{"role": "assistant", "content": "4"}], {"answer": 4})
    >>> row["prompt"], row["final_response"], row["answer"]
    ('2+2?', '4', 4)
    """
    row = {name: plain(value) for name, value in columns.items()}
    # Messages that cannot be read stay as they are: scoring them is an error of this row, which harms no other.
    row["prompt"], row["final_response"] = prompt, completion
    with suppress(TrajectoryError):
        row["prompt"] = prompt_text(prompt)
    if are_messages(completion):
        with suppress(TrajectoryError):
            row["final_response"] = Trajectory.from_messages(completion).final_response
    # A text cannot show whether a tool was used, and says so as a list of plain texts does.
    row["trajectory"] = [completion] if isinstance(completion, str) else completion
    return with_response(row, row["final_response"] if response is None else response)


def without_end_tokens(response: str) -> str:
    r"""Return a response without the special tokens at its end, for trainers that decode with them.

    >>> without_end_tokens("Paris<|im_end|>\n<|endoftext|>"), without_end_tokens("a </s> in the text")
    ('Paris', 'a </s> in the text')
    """
    kept, end = response[:-_MOST_SPECIAL], response[-_MOST_SPECIAL:]
    # A response without such a token keeps its white space: some rules look at it.
    while (found := _LAST.search(end)) is not None:
        end = end[: found.start()].rstrip()
    return kept + end


def with_response(columns: Mapping[str, Any], response: Any) -> Row:
    """Return columns with the response under every name that one has: judges read them all, and data sets have them.

    >>> with_response({"response": "a column", "answer": "Paris"}, "It is Paris")
    {'response': 'It is Paris', 'answer': 'Paris', 'final_response': 'It is Paris'}
    """
    return {**columns, **{name: response for name in RESPONSES if name in columns}, "final_response": response}


def with_answer(columns: Mapping[str, Any], answer: Any) -> Row:
    """Return columns with the trainer's own ground truth as the accepted answer, under every name that one has.

    Data sets often have the worked solution as a further column `answer`. Without a ground truth, that is all there is.

    >>> with_answer({"answer": "... #### 72", "question": "?"}, "72")
    {'answer': '72', 'question': '?'}
    """
    if answer is None:
        return {"answer": None, **columns}
    return {**columns, **{name: answer for name in REFERENCES if name in columns}, "answer": answer}


def prompt_text(prompt: object) -> object:
    r"""Return what was asked: the one message of the user, or of a longer conversation all but the system's.

    >>> prompt_text([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Capital of France?"}])
    'Capital of France?'
    >>> prompt_text([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"},
    ...              {"role": "user", "content": "2+2?"}])
    'user: Hi\nassistant: Yes?\nuser: 2+2?'
    """
    if not are_messages(prompt):
        return prompt
    messages = Trajectory.from_messages(prompt).messages
    said = [message for message in messages if message.role not in ("system", "developer")]
    return said[0].text if len(said) == 1 else "\n".join(map(_line, said))


def _line(message: Message) -> str:
    return f"{message.role}: {message.text}"


def check_lengths(**columns: Sequence[Any]) -> None:
    """Raise `UsageError` where a trainer's columns do not have one value for each rollout."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise UsageError(f"columns must have one length, got {lengths}")


def with_groups(scorer: Scorer, rows: Sequence[Row], size: int | None) -> None:
    """Give the rows of a scorer that looks at groups their `group_id`; refuse where the groups cannot be known."""
    if not scorer.is_group or not rows:
        return
    if "group_id" in rows[0]:
        # Rows with an empty cell do not belong together.
        if any(is_empty_cell(row["group_id"]) for row in rows):
            raise UsageError(f"{scorer.name}: a rollout has an empty group_id", code="unknown-groups")
        return
    if size is None:
        raise UsageError(
            f"{scorer.name} looks at all rollouts of one prompt: give group_size=, or a column 'group_id'",
            code="unknown-groups",
        )
    if len(rows) % size:
        raise UsageError(
            f"{scorer.name} looks at all {size} rollouts of one prompt, but the batch of this process has {len(rows)}: "
            "make the batch of each process a multiple",
            code="unknown-groups",
        )
    for index, row in enumerate(rows):
        row["group_id"] = index // size
