"""What holds for every test of receivers: a service is asked again after a moment, not after half a second."""

import pytest

from adjudge.receivers import _service


@pytest.fixture(autouse=True)
def quick_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait a tenth as long between two questions of the same trace."""
    monkeypatch.setattr(_service, "_BETWEEN_S", _service._BETWEEN_S / 10)
