"""The sample system: an orchestrator and its agents for research, clarification and synthesis.

Where a model would decide, rules do, so that every run is the same; what is decided is really done, and what is done is
recorded. `FAULTS` are the mistakes of its faulty variant, each a rule of its own. At the end are the functions that an
evaluation calls.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from adjudge.model import Case, Trajectory
from adjudge.scenarios.sample._documents import Passage, ambiguous, best_sentence, search, subjects, words
from adjudge.scenarios.sample._record import Recorder
from adjudge.traces import load

Fault = Literal[
    "guesses",  # takes the first meaning of an ambiguous word, and does not ask
    "asks-too-much",  # asks back whenever a question is long
    "chatty",  # looks up what needs no looking up
    "web-too",  # searches the web for what the reports say
    "web-first",  # searches the web before the reports
    "no-years",  # leaves the numbers out of what it looks for
    "no-synthesis",  # never hands over to synthesis
    "repeats",  # asks the reports again where they had nothing
    "all-talk",  # in a later turn, says what it will look up, and does not
]
FAULTS: tuple[Fault, ...] = (
    *("guesses", "asks-too-much", "chatty", "web-too", "web-first", "no-years", "no-synthesis", "repeats", "all-talk"),
)
NOW = frozenset({"now", "today", "current", "currently", "latest", "news", "week", "open", "opens", "opening"})
SMALL_TALK = frozenset({"hello", "hi", "hey", "thanks", "thank", "good", "morning", "evening", "bye", "you"})
HELLO = "Hello! Ask me about the bridges, the ferry, the library or the water works of Lindholm."
NOTHING = "I found nothing about that."
_LONG = 12  # words
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class SampleReply:
    """What the system answers, and the documents that it rests on."""

    text: str
    sources: tuple[str, ...] = ()


@dataclass(slots=True)
class System:
    """Makes one answer: with what was asked before, where it is recorded, and the faults it makes."""

    recorder: Recorder
    faults: frozenset[str] = frozenset()
    earlier: Sequence[str] = ()
    found: list[Passage] = field(default_factory=list)

    def answer(self, question: str) -> SampleReply:
        """Route a question to the agents that it needs, and return what they answer."""
        with self.recorder.agent("orchestrator") as said:
            route = self._route(question)
            self.recorder.decision(question, HELLO if route == "greet" else f"Route: {route}")
            if route == "greet":
                reply = SampleReply(HELLO)
            elif route == "clarify":
                reply = self._clarify(question)
            else:
                reply = self._research(question)
                if self._is_mixed() and "no-synthesis" not in self.faults:
                    reply = self._synthesise(question)
            said["answer"] = reply.text
        return reply

    def _route(self, question: str) -> str:
        is_small = all(word in SMALL_TALK for word in words(question))
        if is_small and "chatty" not in self.faults:
            return "greet"
        if "asks-too-much" in self.faults and len(question.split()) >= _LONG:
            return "clarify"
        if ambiguous(self._whole(question)) and "guesses" not in self.faults:
            return "clarify"
        return "research"

    def _clarify(self, question: str) -> SampleReply:
        with self.recorder.agent("clarification") as said:
            meant = ambiguous(self._whole(question)) or ["the latest report", "the whole town"]
            said["answer"] = f"Which one do you mean: the {' or the '.join(meant)}?".replace("the the", "the")
            self.recorder.decision(question, said["answer"])
        return SampleReply(said["answer"])

    def _research(self, question: str) -> SampleReply:
        with self.recorder.agent("research") as said:
            query = self._query(question)
            tools = self._tools(question)
            for name in tools:
                self._use(name, query, question)
            if not self.found and "web_search" not in tools:
                self._use("web_search", query, question)
            best = best_sentence(query, self.found)
            reply = SampleReply(NOTHING)
            if best is not None:
                reply = SampleReply(f"{best.text} [{best.source}]", (best.source,))
            said["answer"] = reply.text
            self.recorder.decision(question, reply.text)
        return reply

    def _synthesise(self, question: str) -> SampleReply:
        with self.recorder.agent("synthesis") as said:
            query = self._query(question)
            sentences = [
                best_sentence(query, [one for one in self.found if one.kind == kind]) for kind in ("report", "page")
            ]
            parts = [one for one in sentences if one is not None]
            parts = [one for one in parts if one.score] or parts  # what is about something else is left out
            said["answer"] = " ".join(f"{one.text} [{one.source}]" for one in parts)
            self.recorder.decision(question, said["answer"])
        return SampleReply(said["answer"], tuple(one.source for one in parts))

    def _tools(self, question: str) -> list[str]:
        """Return the tools that a question needs: the reports, and the web for what is so today."""
        if NOW & set(words(question)) or "web-too" in self.faults:
            both = ["pdf_retrieval", "web_search"]
            return both[::-1] if "web-first" in self.faults else both
        return ["pdf_retrieval"]

    def _use(self, name: str, query: str, question: str) -> None:
        """Ask for a tool, as a model would, and run it."""
        arguments: dict[str, Any] = {"query": query, "k": 2}
        for _ in range(2 if "repeats" in self.faults else 1):
            (call,) = self.recorder.decision(question, None, [(name, arguments)])
            if "all-talk" in self.faults and self.earlier:
                return
            with self.recorder.tool(name, call, arguments) as done:
                documents = (pdf_retrieval if name == "pdf_retrieval" else web_search)(**arguments)
                done["result"] = [{"source": one.id, "text": one.text} for one in documents]
            self.found += documents
            if documents:
                return

    def _query(self, question: str) -> str:
        query = self._whole(question)
        if "no-years" in self.faults:
            query = " ".join(word for word in query.split() if not any(letter.isdigit() for letter in word))
        return query

    def _whole(self, question: str) -> str:
        """Return a question with the subject of an earlier one, where it names none itself."""
        if subjects(question) or ambiguous(question):
            return question
        before = next((found for text in reversed(self.earlier) if (found := subjects(text))), [])
        return f"{' '.join(before)} {question}".strip()

    def _is_mixed(self) -> bool:
        return len({one.kind for one in self.found}) > 1


def pdf_retrieval(query: str, k: int = 2) -> list[Passage]:
    """Look up pages of the reports."""
    return search(query, "report", k)


def web_search(query: str, k: int = 2) -> list[Passage]:
    """Look up pages of the web."""
    return search(query, "page", k)


@dataclass(frozen=True, slots=True)
class Variant:
    """How the system behaves: its faults, and whether its recorder loses spans."""

    faults: frozenset[str] = frozenset()
    is_lossy: bool = False


SOUND = Variant()
FAULTY = Variant(frozenset(FAULTS))
LOSSY = Variant(is_lossy=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer with its record, an OTLP export request."""

    reply: SampleReply
    trace_id: str
    document: Mapping[str, Any]

    def trajectory(self, parent: str | None = None) -> Trajectory:
        """Return what the record says that the system did."""
        done = load(self.document, "otlp", parent=parent)
        return replace(done, final_response=self.reply.text, sources=self.reply.sources, trace_id=self.trace_id)


def ask(
    question: str, earlier: Sequence[str], variant: Variant, *, trace_id: str | None = None, parent: str | None = None
) -> Answer:
    """Ask the system one question; `earlier` are those that its user asked before."""
    recorder = Recorder(trace_id or secrets.token_hex(16), parent, is_lossy=variant.is_lossy)
    reply = System(recorder, variant.faults, earlier).answer(question)
    return Answer(reply, recorder.trace_id, recorder.document())


def answer(question: str, history: Sequence[Mapping[str, Any]] = (), case: Case | None = None) -> Trajectory:
    """Answer a question about the town of Lindholm.

    >>> answer("What was the load limit of the North Bridge in 2023?").tools_used
    ('pdf_retrieval',)
    """
    return _answer(question, history, case, SOUND)


def faulty_answer(question: str, history: Sequence[Mapping[str, Any]] = (), case: Case | None = None) -> Trajectory:
    """Answer with one mistake of every kind.

    >>> faulty_answer("Hello!").agents_called
    ('orchestrator', 'research')
    """
    return _answer(question, history, case, FAULTY)


def lossy_answer(question: str, history: Sequence[Mapping[str, Any]] = (), case: Case | None = None) -> Trajectory:
    """Answer as `answer` does, with a record of which all but the first few spans are lost.

    >>> lossy_answer("What was the load limit of the North Bridge in 2023?").complete
    False
    """
    return _answer(question, history, case, LOSSY)


def _answer(question: str, history: Sequence[Mapping[str, Any]], case: Case | None, variant: Variant) -> Trajectory:
    earlier = [str(message["content"]) for message in history if message.get("role") == "user"]
    session = None if case is None else case.metadata.get("session_id")
    is_trace = isinstance(session, str) and len(session) == 32 and _HEX.issuperset(session)
    return ask(question, earlier, variant, trace_id=session if is_trace else None).trajectory()
