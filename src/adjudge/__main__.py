"""`python -m adjudge` is the command `adjudge`."""

import os
import sys

# Python puts the working folder first: what is called `yaml.py` there must not be taken for the library. Code that
# somebody names is found in that folder all the same, see `calling`.
if __name__ == "__main__":
    if sys.path[:1] in ([""], [os.getcwd()]):  # noqa: PTH109 (sys.path holds texts)
        del sys.path[0]
    from adjudge.cli import main

    main()
