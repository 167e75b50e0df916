"""ScienceWorld, the real one: 30 elementary-science tasks with 7,207 variations, played in text.

    spec = ScienceWorldSpec(step_limit=100)
    task = ScienceWorldTask("boil", variation=0, simplifications="easy")

It needs `pip install 'adjudge[scienceworld]'` and Java 17 or newer; this package can be imported without either.
"""

from adjudge.environments.scienceworld._spec import ScienceWorldSpec, ScienceWorldTask

__all__ = ["ScienceWorldSpec", "ScienceWorldTask"]
