"""The list that every chapter adds its cases to."""

from typing import Final

from towerhall_conformance.case import Cases
from towerhall_conformance.guest import Guest

ALL: Final = Cases[Guest]()
EVERY_BYTE: Final = Cases[Guest](first=1001)
"""Many more of a kind, for those who ask for them."""
