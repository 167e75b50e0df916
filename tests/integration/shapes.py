"""LangGraph and LangChain agents in four shapes, recorded by three instrumentations: `SHAPE` and `INSTRUMENTATION`.

Runs in the virtual environment of LangChain, where `adjudge check --agent shapes:answer` and `serve.py` import it.
"""

import os
from typing import Any

from adjudge.testing import ChatServer, Reply, by_prompt, call_tool

SHAPE, INSTRUMENTATION = os.environ.get("SHAPE", "nodes"), os.environ.get("INSTRUMENTATION", "openinference")
FIRST: dict[str, list[str | Reply]] = {
    "nodes": ["weather"],
    "react": [call_tool("transfer_to_weather")],
    "create_agent": [call_tool("ask_weather", question="Oslo?"), "It is sunny in Oslo."],
    "supervisor": [call_tool("transfer_to_weather"), "It is sunny in Oslo."],
}
REPORT: list[str | Reply] = [call_tool("get_weather", city="Oslo"), "It is sunny in Oslo."]


def instrument() -> None:
    """Send spans to the endpoint that the environment names."""
    if INSTRUMENTATION == "langsmith":
        # Nothing goes to LangSmith itself: the address is one where nobody listens.
        os.environ |= {"LANGSMITH_TRACING": "true", "LANGSMITH_OTEL_ENABLED": "true", "LANGSMITH_OTEL_ONLY": "true"}
        os.environ |= {"LANGSMITH_API_KEY": "none", "LANGSMITH_ENDPOINT": "http://127.0.0.1:9"}
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    if INSTRUMENTATION == "openinference":
        from openinference.instrumentation.langchain import LangChainInstrumentor as Instrumentor
    else:
        from opentelemetry.instrumentation.langchain import LangchainInstrumentor as Instrumentor
    Instrumentor().instrument(tracer_provider=provider)


server = ChatServer(by_prompt({"You direct": FIRST[SHAPE], "You report": REPORT}))
server.start()
os.environ |= {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none"}
instrument()

from langchain.agents import create_agent  # noqa: E402 (after the instrumentation)
from langchain_core.messages import SystemMessage  # noqa: E402
from langchain_openai import ChatOpenAI  # noqa: E402
from langgraph.graph import START, MessagesState, StateGraph  # noqa: E402
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition  # noqa: E402
from langgraph.types import Command  # noqa: E402
from langgraph_supervisor import create_supervisor  # noqa: E402

llm = ChatOpenAI(model="gpt-4o-mini")
DIRECT, REPORTER = "You direct questions.", "You report the weather."


def get_weather(city: str) -> str:
    """Return the weather in a city."""
    return f"Sunny in {city}"


def plain_nodes() -> Any:
    """Return a graph whose nodes call the model."""

    def triage(state: dict[str, Any]) -> dict[str, Any]:
        return {"messages": [llm.invoke([SystemMessage(DIRECT), *state["messages"]])]}

    def weather(state: dict[str, Any]) -> dict[str, Any]:
        return {"messages": [llm.bind_tools([get_weather]).invoke([SystemMessage(REPORTER), *state["messages"]])]}

    graph = StateGraph(MessagesState)
    graph.add_node("triage", triage)
    graph.add_node("weather", weather)
    graph.add_node("tools", ToolNode([get_weather]))
    graph.add_edge(START, "triage")
    graph.add_edge("triage", "weather")
    graph.add_conditional_edges("weather", tools_condition)
    graph.add_edge("tools", "weather")
    return graph.compile()


def react_nodes() -> Any:
    """Return a graph whose nodes are ready-made agents, with a handoff by Command."""

    def transfer_to_weather() -> Any:
        """Ask the agent that knows the weather."""
        return Command(goto="weather", graph=Command.PARENT)

    graph = StateGraph(MessagesState)
    graph.add_node("triage", create_react_agent(llm, [transfer_to_weather], prompt=DIRECT, name="triage"))
    graph.add_node("weather", create_react_agent(llm, [get_weather], prompt=REPORTER, name="weather"))
    graph.add_edge(START, "triage")
    return graph.compile()


def sub_agent() -> Any:
    """Return an agent that asks another one as a tool."""
    weather = create_agent(llm, [get_weather], system_prompt=REPORTER, name="weather")

    def ask_weather(question: str) -> str:
        """Ask the agent that knows the weather."""
        return str(weather.invoke({"messages": [("user", question)]})["messages"][-1].content)

    return create_agent(llm, [ask_weather], system_prompt=DIRECT, name="triage")


def supervised() -> Any:
    """Return the ready-made supervisor over one agent."""
    weather = create_agent(llm, [get_weather], system_prompt=REPORTER, name="weather")
    return create_supervisor([weather], model=llm, prompt=DIRECT, supervisor_name="triage").compile(name="team")


SHAPES = {"nodes": plain_nodes, "react": react_nodes, "create_agent": sub_agent, "supervisor": supervised}
graph = SHAPES[SHAPE]()


def answer(question: str) -> str:
    """Answer a question."""
    return str(graph.invoke({"messages": [("user", question)]})["messages"][-1].content)
