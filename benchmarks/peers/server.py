"""A model for all peers: it answers in the form that each of them asks for, and fails where a row says so.

    python server.py SECONDS        prints its port; every reply takes SECONDS; /calls says how many there were

What a judge is asked holds the response to judge, and a response names its fate: `right` and `wrong` are judged so,
`outage` is a 500 for ever, `page` a web page in the place of JSON, `mumble` a reply without a verdict, `refusal` one
that declines.
"""

import asyncio
import json
import re
import sys
from typing import Any

from aiohttp import web

FATE = re.compile(r"fate-(right|wrong|outage|page|mumble|refusal)")


def said(body: dict[str, Any]) -> str:
    """Return all text of a request."""
    return json.dumps([body.get("messages"), body.get("input")])


def filled(schema: dict[str, Any], good: bool, root: dict[str, Any] | None = None) -> Any:
    """Return a value of a JSON schema that says right or wrong wherever it can say so."""
    root = root or schema
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        schema = schema["anyOf"][0]
    if "enum" in schema:
        return schema["enum"][0 if good else -1]
    kind = schema.get("type")
    if kind == "object":
        return {name: filled(part, good, root) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema.get("items", {"type": "string"}), good, root)]
    return {"number": int(good), "integer": int(good), "boolean": good}.get(str(kind), "because")


def answered(body: dict[str, Any], good: bool) -> dict[str, Any]:
    """Return the message of a reply: a call of the tool that is asked for, JSON of a schema, or words."""
    if body.get("tools"):
        function = body["tools"][0]["function"]
        arguments = filled(function["parameters"], good)
        if "choice" in arguments:  # autoevals: A to E, where C says that both say the same
            arguments["choice"] = "C" if good else "D"
        call = {"name": function["name"], "arguments": json.dumps(arguments)}
        return {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": call}]}
    wanted = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    text = said(body)
    if wanted:
        content = json.dumps(filled(wanted, good))
    elif "GRADE" in text:  # Inspect
        content = f"The submission was compared.\nGRADE: {'C' if good else 'I'}"
    elif '\\"steps\\"' in text and "score" not in text:  # DeepEval asks for the steps of its judging first
        content = json.dumps({"steps": ["Compare the output with the expected output."]})
    else:
        most = 10 if "between 0 and 10" in text else 1  # DeepEval
        found = {"score": most if good else 0, "value": "pass" if good else "fail"}  # ragas reads the value
        content = json.dumps({**found, "reason": "compared"})
    return {"role": "assistant", "content": content}


async def main(seconds: float) -> None:
    """Serve until killed."""
    calls = 0

    async def count(_: web.Request) -> web.StreamResponse:
        return web.json_response(calls)

    async def reply(request: web.Request) -> web.StreamResponse:
        nonlocal calls
        calls += 1
        body = await request.json()
        await asyncio.sleep(seconds)
        found = FATE.findall(said(body))
        fate = found[-1] if found else "right"
        if fate == "outage":
            return web.json_response({"error": {"message": "the server is down"}}, status=500)
        if fate == "page":
            return web.Response(text="<html>Bad gateway</html>", content_type="text/html")
        message = answered(body, fate != "wrong")
        if fate == "mumble":
            message = {"role": "assistant", "content": "Hard to say."}
        if fate == "refusal":
            message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
        end = "tool_calls" if message.get("tool_calls") else "stop"
        return web.json_response(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": body.get("model", "m"),
                "choices": [{"index": 0, "message": message, "finish_reason": end}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
            }
        )

    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", reply)
    app.router.add_get("/calls", count)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
