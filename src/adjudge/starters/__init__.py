"""First files of your own: a scenario with its gate, a scorer, a judge, a decoder of logs, an environment.

Each of the last four is code, a test that passes, and a page. `adjudge init` writes them.
"""

from adjudge.starters._write import KINDS, write_starter

__all__ = ["KINDS", "write_starter"]
