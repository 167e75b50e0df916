"""Work in other processes: chunks in order."""

from adjudge.processes._chunks import map_chunks

__all__ = ["map_chunks"]
