"""What holds for every test: asyncio in debug mode, and no property fails for slowness alone.

Fixtures of one area live in that area's own folder.
"""

import os

from hypothesis import settings

# For loops that tests and their child processes make themselves; pytest's own have `asyncio_debug`.
os.environ["PYTHONASYNCIODEBUG"] = "1"

# Time per example depends on what else the machine does. The timeout per test still holds.
settings.register_profile("towerhall", deadline=None, print_blob=True)
settings.load_profile("towerhall")
