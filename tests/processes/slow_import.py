"""A module that takes more CPU time to import than the job that needs it may use."""

import time

_END = time.process_time() + 1.0
while time.process_time() < _END:
    pass
