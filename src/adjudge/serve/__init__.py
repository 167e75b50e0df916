"""Scorers behind HTTP, for trainers that ask for rewards over the network: `adjudge serve`.

    async with RewardServer(["qa_f1_reward"], token="secret").serving(port=8766):
        ...                                     POST /score {"rows": [...]} -> {"scores": [...]}

A request names a scorer that the server was started with, and never code. Rows are read and scored in worker processes
that can be killed (`_worker`), gathered into batches (`_batches`); scorers that ask a model share one run file, one
budget and one cache (`adjudge.runs.Desk`).
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.serve._server import TOKEN_VARIABLE, RewardServer, ServeLimits

__all__ = ["TOKEN_VARIABLE", "RewardServer", "ServeLimits"]

__getattr__, __dir__ = lazy_names(__name__, {"_server": ("TOKEN_VARIABLE", "RewardServer", "ServeLimits")})
