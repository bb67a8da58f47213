"""What holds for every test: asyncio in debug mode, and no property fails for slowness alone.

Fixtures of one area live in that area's own folder.
"""

import asyncio.constants
import itertools
import os
import traceback

from hypothesis import settings

# For loops that tests and their child processes make themselves; pytest's own have `asyncio_debug`.
os.environ["PYTHONASYNCIODEBUG"] = "1"

# Debug mode notes the whole stack, some fifty frames of pytest among them, for every future and
# callback. That costs four times what the tests do themselves; the nearest frames tell enough.
NEAREST_FRAMES = 3
_walk_stack = traceback.walk_stack
setattr(  # noqa: B010 (typeshed has it as a function that cannot be replaced)
    traceback, "walk_stack", lambda frame: itertools.islice(_walk_stack(frame), NEAREST_FRAMES)
)
asyncio.constants.DEBUG_STACK_DEPTH = NEAREST_FRAMES  # type: ignore[misc]

# Time per example depends on what else the machine does. The timeout per test still holds.
settings.register_profile("towerhall", deadline=None, print_blob=True)
settings.load_profile("towerhall")
