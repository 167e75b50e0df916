"""`--agents`, `--map-agent` and `--ignore-agent`: names of agents where a record cannot know them."""

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

import click

from adjudge.cli._options import NamePair

if TYPE_CHECKING:
    from adjudge.traces import AgentNames

AGENT_NAMES = (
    click.option("--agents", "agents_file", help="A TOML or YAML file with a table [agents]: NAME = AGENT, or false."),
    click.option(
        "--map-agent",
        multiple=True,
        type=NamePair("name=agent", "call_model=research"),
        help="What the record calls NAME is this agent; * is whoever has no name. Repeatable.",
    ),
    click.option("--ignore-agent", multiple=True, help="A name in the record that is not an agent. Repeatable."),
)


def take_agent_names(options: MutableMapping[str, Any]) -> "AgentNames":
    """Take what these options say out of a command's options; single names come before those of the file."""
    from adjudge.scenarios import load_agent_names
    from adjudge.traces import read_agent_names

    file, pairs, ignored = (options.pop(name) for name in ("agents_file", "map_agent", "ignore_agent"))
    names = {} if file is None else load_agent_names(file)
    single = {**dict(pairs), **dict.fromkeys(ignored)}
    return read_agent_names({**names, **single}, "--map-agent") if names or single else {}
