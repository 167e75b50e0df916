"""The guided tour: one chapter a file, offline, on data that comes with the package."""

from adjudge.demo._rewards import sample_path
from adjudge.demo._tour import tour

__all__ = ["sample_path", "tour"]
