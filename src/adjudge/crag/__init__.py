"""The CRAG-MM evaluation."""

__all__: list[str] = []
