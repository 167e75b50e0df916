"""Test doubles for your set-up and for ours: real servers on real sockets, scripted.

with ChatServer("Paris") as server:                             a model that always says Paris
    client = ChatClient("any", base_url=server.base_url)

ChatServer(correct)                                             a judge that finds everything correct
ChatServer(["Paris", Fault("reset"), "Rome"])                   one after another, the last for ever
ChatServer(lambda call: call.prompt.upper())                    a function of the request
ChatServer(by_prompt({"You are X": [call_tool("f", a=1), "Hi"]}))   agents that call tools
ChatServer(faults={"429": 0.1, "reset": 0.05}, seed=7)          faults by chance, the same ones every time
ChatServer(limit=Limit(in_flight=8, per_s=50))                  a server that refuses what is too much
ScoreServer([Fault("500"), Fault("reset")])                     a dashboard that takes scores, after two faults
"""

from adjudge.testing._calls import ChatCall
from adjudge.testing._faults import FAULTS, Fault
from adjudge.testing._play import Limit, ServerCounts
from adjudge.testing._replies import Reply, call_tool, correct, scores, verdict, wrong
from adjudge.testing._scores import ScoreServer
from adjudge.testing._scripts import by_prompt
from adjudge.testing._server import ChatServer

__all__ = [
    "FAULTS",
    "ChatCall",
    "ChatServer",
    "Fault",
    "Limit",
    "Reply",
    "ScoreServer",
    "ServerCounts",
    "by_prompt",
    "call_tool",
    "correct",
    "scores",
    "verdict",
    "wrong",
]
