"""The cases for clients, in order. Each case is one short function over a `Guest`.

No sockets and no bytes may live here, but for what a case does to them by a `Link`.
"""

from importlib import import_module
from typing import Final

from towerhall_conformance.cases.all_cases import ALL, EVERY_BYTE

__all__ = ["ALL", "EVERY_BYTE"]

CHAPTERS: Final = ("playing", "answers", "breaks", "faults", "newer", "nonces", "closes")

for _chapter in CHAPTERS:
    import_module(f"{__name__}.{_chapter}")
