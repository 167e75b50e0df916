"""The sample system as functions that an evaluation calls."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adjudge.model import Case, Trajectory
from adjudge.scenarios.sample._record import Recorder
from adjudge.scenarios.sample._system import FAULTS, Reply, System
from adjudge.traces import load

_HEX = frozenset("0123456789abcdef")


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

    reply: Reply
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
