"""One server for all tests of this folder."""

from collections.abc import Iterator

import pytest

from integration.llama import LlamaProcess, llama

collect_ignore = ["shapes.py"]  # agents for the environments of the frameworks: nothing here can import them


@pytest.fixture(scope="session")
def server() -> Iterator[LlamaProcess]:
    """Give the server."""
    with llama() as running:
        yield running
