"""Phase 1: the agent answers every turn, turn n + 1 after turn n, and what it said is in a run file before it counts.

A run with an agent and one scorer that says how long the answers are. Rows hold no images: those are looked up, one by
one, when the agent is asked. Answers are cut at so many tokens, by the tokenizer that is given, or by one that needs no
download.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from inspect import signature
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from adjudge.crag import config
from adjudge.crag._agent import BatchTurns, SingleTurns, TurnExtras, batch_size_of, batches
from adjudge.crag._turns import FAULT, TOKENIZER, TURN_FIELDS
from adjudge.datasets import json_line
from adjudge.errors import AdjudgeError, DataError, RowError, UsageError
from adjudge.model import Conversation
from adjudge.rewards import get_reward, reward
from adjudge.runs import Job, Plan, RunConfig, RunFile, RunTask

if TYPE_CHECKING:
    from adjudge.datasets import Conversations, RowImage
    from adjudge.model import Case
    from adjudge.rewards import Scorer

FILE = "generate"
NEVER = 1e9  # seconds: an agent of batches keeps its own time
# Content alone: no start or end marks, and no text is taken for a mark.
_PLAIN: dict[str, dict[str, Any]] = {
    "encode": {"add_special_tokens": False, "disallowed_special": ()},
    "decode": {"skip_special_tokens": True},
}


class Tokenizer(Protocol):
    """Turns text into tokens and back, as those of `tokenizers`, `transformers` and `tiktoken` do."""

    def encode(self, text: str, /) -> Any:
        """Return the tokens, or an object that has them as `ids`."""
        ...

    def decode(self, tokens: Any, /) -> str:
        """Return the text of tokens."""
        ...


class WordTokenizer:
    """Words and punctuation by a fixed rule, version 1.

    A token is a character of Chinese, Japanese or Korean writing; or up to 16 other letters or digits that stand
    together; or any other character except white space. White space belongs to the token after it.

    >>> WordTokenizer().encode("It's a red  car.")
    ['It', "'", 's', ' a', ' red', '  car', '.']
    >>> WordTokenizer().decode(['It', "'", 's', ' a'])
    "It's a"
    """

    name = "words-1"
    _token = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\W_]{1,16}|[^\s]")

    def encode(self, text: str, most: int | None = None) -> list[str]:
        """Return the tokens, at most so many; only white space follows the last one."""
        tokens: list[str] = []
        at = 0
        for found in islice(self._token.finditer(text), most):
            tokens.append(text[at : found.end()])
            at = found.end()
        return tokens

    def decode(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens."""
        return "".join(tokens)


def tokenizer_name(tokenizer: Tokenizer) -> str:
    """Return the name of a tokenizer in outputs.

    >>> tokenizer_name(WordTokenizer())
    'words-1'
    """
    for attribute in ("name", "name_or_path"):
        name = getattr(tokenizer, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(tokenizer).__qualname__


def check_tokenizer(tokenizer: Tokenizer) -> None:
    """Raise `UsageError` if an object cannot be used as a tokenizer."""
    for name in ("encode", "decode"):
        if not callable(getattr(tokenizer, name, None)):
            message = f"a tokenizer must have encode and decode, got {type(tokenizer).__name__} without {name}"
            raise UsageError(message, code="bad-tokenizer")


def cut(text: str, tokenizer: Tokenizer, most: int) -> str:
    """Return the text, or its first tokens where it has more than `most` of them.

    >>> cut("I think that it is red", WordTokenizer(), 3), cut(" red ", WordTokenizer(), 3)
    ('I think that', ' red ')
    """
    tokens = tokens_of(text, tokenizer, most + 1)
    return text if len(tokens) <= most else str(_plainly(tokenizer.decode, "decode", tokens[:most]))


def tokens_of(text: str, tokenizer: Tokenizer, most: int | None = None) -> Sequence[Any]:
    """Return the content tokens of a text; those after `most` may be left out."""
    # Ours can stop early: an answer of a megabyte is not split whole to keep 75 tokens.
    if isinstance(tokenizer, WordTokenizer):
        return tokenizer.encode(text, most)
    found = _plainly(tokenizer.encode, "encode", text)
    tokens: Sequence[Any] = getattr(found, "ids", found)
    return tokens


def _plainly(method: Callable[..., Any], name: str, argument: Any) -> Any:
    """Call a tokenizer's method with those of our settings that it knows."""
    try:
        known = set(signature(method).parameters)
    # Some compiled functions do not say what they take.
    except (TypeError, ValueError):
        known = set()
    return method(argument, **{key: value for key, value in _PLAIN[name].items() if key in known})


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is to ask, found in one pass that also checks every row: turns by conversation, and a digest."""

    turns: tuple[tuple[str, ...], ...]
    digest: str

    @classmethod
    def of(cls, conversations: Conversations) -> Survey:
        """Go through the data set once."""
        digest = blake2b(digest_size=16)
        turns = []
        for read in conversations:
            rows = list(rows_of(read.conversation))
            for row in rows:
                # The digest says on resuming whether these are still the same questions.
                digest.update(json_line(row))
            turns.append(tuple(row["interaction_id"] for row in rows))
        return cls(tuple(turns), digest.hexdigest())


@dataclass(frozen=True, slots=True)
class Generation:
    """Everything that phase 1 needs."""

    conversations: Conversations
    survey: Survey
    agent: Any
    tokenizer: Tokenizer
    rag_context: Any = None

    def task(self, path: Path, settings: RunConfig, workers: int, *, retry: bool = False) -> RunTask:
        """Return the run, as it is to be done from here: turns that have been answered are not asked again."""
        most = config.MAX_RESPONSE_LENGTH_IN_TOKENS
        # Images and batches leave out what is done: a resumed run loads and asks only what is missing.
        done = finished_turns(path, retry=retry)
        images = Images(self.conversations, done)
        names = self.conversations.vocabularies["domain"]
        extras = TurnExtras(
            image=images.of,
            domain=lambda case: names.name_of(case.metadata.get("domain")),
            cut=lambda text: cut(text, self.tokenizer, most),
            rag_context=self.rag_context,
        )
        size = batch_size_of(self.agent)
        # Budgets are for the judge: the agent has none.
        settings = replace(settings, max_calls=None, max_tokens=None, max_cost=None)
        agent: BatchTurns | SingleTurns
        # An agent of batches keeps its own time and order; one that answers turn by turn gets as many as there are
        # workers.
        if size is None:
            agent, limits = SingleTurns(self.agent, extras), replace(settings, workers=workers)
        else:
            asked = batches(self.survey.turns, size, done)
            agent = BatchTurns(self.agent, extras, asked, size=size, deadline=settings.deadline)
            limits = replace(settings, workers=size, deadline=NEVER)
        job = Job((length_scorer(self.tokenizer, most),), agent=agent)
        plan = Plan("evaluate", agent=agent.name, digest=self.survey.digest)
        cases = (row for read in self.conversations for row in rows_of(read.conversation))
        return RunTask(path, job, plan, limits, cases, retry_failed=retry)


def rows_of(conversation: Conversation) -> Iterator[dict[str, Any]]:
    """Give a conversation's turns as rows: the fields of turn data, but for the answer, and what the engine needs."""
    history: list[str] = []
    for case in conversation.cases():
        known = {**case.metadata, "query": case.question, "interaction_id": case.id}
        known["ground_truth"] = case.references[0] if case.references else ""
        known["interaction_id_history"] = list(history)
        row = {name: known.get(name) for name in TURN_FIELDS if name != "agent_response"}
        if len(case.references) > 1:
            row["references"] = list(case.references)
        yield {"id": case.id, "conversation_id": conversation.id, **row}
        history.append(case.id)


def read_answers(path: Path, tokenizer: Tokenizer) -> Iterator[dict[str, Any]]:
    """Give the turns of a finished run with their answers; a turn whose agent failed says why in `fault`."""
    label = cut_label(tokenizer)
    for case, done, _, _ in RunFile(path).rows():
        if case.row is None or done is None:
            raise DataError(f"{path}: turn {case.id} was not answered: {case.fault or 'not-run'}")
        response = "" if done.trajectory is None else done.trajectory.final_response or ""
        row = {**case.row, "agent_response": response}
        turn = {name: row[name] for name in TURN_FIELDS}
        if "references" in row:
            turn["references"] = row["references"]
        turn[TOKENIZER] = label
        if done.trajectory is None:
            turn[FAULT] = done.fault or "agent-failed"
        yield turn


def finished_turns(path: Path, *, retry: bool = False) -> frozenset[str]:
    """Return the turns that will not be asked again, by ids: the answered ones and, if not `retry`, the failed ones."""
    found: set[str] = set()
    try:
        for case, done, scores, _ in RunFile(path).rows():
            # A retry forgets the failures of finished conversations only; in others the failed turn stays.
            is_kept = done is not None and (done.fault is None or not retry or scores is None)
            if is_kept:
                found.add(str(case.id))
    except AdjudgeError as error:
        # No file, or an empty one: nothing was begun yet.
        if error.code not in ("cannot-read", "not-a-run"):
            raise
    return frozenset(found)


def cut_label(tokenizer: Tokenizer) -> str:
    """Return by which tokenizer responses are cut, and where."""
    return f"{tokenizer_name(tokenizer)}, first {config.MAX_RESPONSE_LENGTH_IN_TOKENS}"


def length_scorer(tokenizer: Tokenizer, most: int) -> Scorer:
    """Return a scorer that counts the tokens of a response; its version names the tokenizer and the limit."""

    @reward(name="response_tokens", version=cut_label(tokenizer), range=(0.0, float(most)))
    def response_tokens(final_response: str) -> float:
        """How many tokens the response has."""
        return float(min(most, len(tokens_of(final_response, tokenizer))))

    return get_reward(response_tokens)


class WithheldImage:
    """Replaces an image that may not be fetched: an agent that looks at it gets the error, others do not."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __getattr__(self, name: str) -> Any:
        # Looked for where a copy is made, before there is anything in it: an error there would hide the real one.
        if name in ("why", "__setstate__"):
            raise AttributeError(name)
        raise RowError(self.why, code="bad-image")

    def __bool__(self) -> bool:
        raise RowError(self.why, code="bad-image")


class Images:
    """The images of conversations in progress, read along in the order of the data set."""

    def __init__(self, conversations: Conversations, done: Container[str]) -> None:
        self._left = self._unfinished(conversations, done)
        self._found: dict[str, RowImage | None] = {}
        self._lock = Lock()

    def of(self, case: Case) -> Any:
        """Load the image of a turn's conversation; None where it has none.

        One that may not be fetched is a fault only for an agent that looks at it.
        """
        session = case.conversation_id or ""
        with self._lock:
            # Conversations are asked in the order of the data set, so reading along finds each image soon.
            while session not in self._found:
                name, image = next(self._left, (session, None))
                self._found[name] = image
            image = self._found[session]
            # The last turn of a conversation: nobody will ask for its image again.
            if case.metadata.get("turn_idx") == case.metadata.get("total_turn_count", 0) - 1:
                del self._found[session]
        if image is None:
            return None
        try:
            return image.load()
        except RowError as error:
            if not image.withheld:
                raise
            return WithheldImage(error.message)

    @staticmethod
    def _unfinished(conversations: Iterable[Any], done: Container[str]) -> Iterator[tuple[str, RowImage | None]]:
        for read in conversations:
            if any(turn.id not in done for turn in read.conversation.turns):
                yield read.conversation.id, read.image
