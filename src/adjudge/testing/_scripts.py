"""Scripts for agents: who asks, and what the model has not said yet."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

from adjudge.testing._calls import ChatCall
from adjudge.testing._replies import Reply

__all__ = ["by_prompt"]


def by_prompt(script: Mapping[str, Sequence[str | Reply]]) -> Callable[[ChatCall], str | Reply]:
    """Return a script that plays several agents, for any number of runs at once.

    `script` has for each agent a text of its system prompt and its replies in order. A call of a tool is over when an
    assistant's message names the tool, so that nothing is counted: a reply depends on its call and on nothing else.

    >>> from adjudge.testing import call_tool
    >>> weather = by_prompt({"You report the weather": [call_tool("get_weather", city="Oslo"), "Sunny."]})
    >>> asked = {"messages": [{"role": "system", "content": "You report the weather."}]}
    >>> weather(ChatCall(0, 0, "/v1/chat/completions", {}, json.dumps(asked).encode())).tools
    (('get_weather', {'city': 'Oslo'}),)
    """

    def play(call: ChatCall) -> str | Reply:
        said = json.dumps([message for message in call.messages if message.get("role") == "assistant"])
        said = _LINE_END.sub(" ", said)
        replies = next((replies for text, replies in script.items() if text in call.prompt), ())
        for reply in replies:
            if isinstance(reply, str) or not all(_names(said, name) for name, _ in reply.tools):
                return reply
        return "the script has no reply to this"

    return play


_LINE_END = re.compile(r"\\[nrt]")  # as JSON writes it: its letter is not part of a name


def _names(said: str, tool: str) -> bool:
    """Say whether JSON text has the name of a tool, and not only as a part of another name."""
    return re.search(rf"(?<![\w-]){re.escape(json.dumps(tool)[1:-1])}(?![\w-])", said) is not None
