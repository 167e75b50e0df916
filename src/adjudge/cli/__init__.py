"""The command `adjudge`: one file a command, no logic.

Exit codes: 0 done, 1 a gate failed, 2 the call is wrong, 3 undecided (too many rows failed, no rows, a fault).
"""

from adjudge.cli._main import main

__all__ = ["main"]
