"""Constants that Python and the Lua scripts share. A test compares them with the scripts' texts.

Change a value here and in the scripts together. Clocks read them from here. Constants of
one side only may not live here.
"""

from typing import Final

MOST_DOUBT_MS: Final = 5000
"""Silence of all nodes after which the service clock stops."""
MOST_AHEAD_MS: Final = 250
"""Proposed stamps that are further ahead of the store's clocks are refused."""
MOST_BEHIND_MS: Final = 5000
"""Proposed stamps that are further behind the store's clocks are refused."""
MOST_APART_MS: Final = 250
"""Proposed stamps whose errors differ by more are refused."""
UNCHANGED: Final = "="
"""A summary that leaves the room's entry in the lobby as it is."""
