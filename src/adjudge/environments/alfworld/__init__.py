"""ALFWorld, the real engine: household tasks played in text, with 12 small games of our own.

    spec = AlfworldSpec()
    await environment.reset("mug_on_desk")

It needs `pip install 'adjudge[alfworld]'`; this package can be imported without it. Parts of the engine are under the
GPL: it is loaded only where the world is built, which is a worker process.
"""

from adjudge.environments.alfworld._games import AlfworldSpec, Game, games

__all__ = ["AlfworldSpec", "Game", "games"]
