"""A small multi-agent system to try scenarios on, offline: as a function, or behind an address.

adjudge.scenarios.sample:answer                     the sound variant
adjudge.scenarios.sample:faulty_answer              with one mistake of every kind
adjudge.scenarios.sample:lossy_answer               sound, but part of what it does is not recorded
with SampleServer() as server: server.url           POST {"message", "session_id"}
SCENARIOS                                           the folder with its scenarios

An orchestrator hands over to research (`pdf_retrieval`, `web_search`), clarification or synthesis. `adjudge check` and
the tests run on it.
"""

from pathlib import Path

from adjudge.scenarios.sample._server import SampleServer
from adjudge.scenarios.sample._system import answer, faulty_answer, lossy_answer

SCENARIOS = Path(__file__).with_name("scenarios")

__all__ = ["SCENARIOS", "SampleServer", "answer", "faulty_answer", "lossy_answer"]
