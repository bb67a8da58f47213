"""What commands to the room may say besides their names (P-50). What is not listed is refused: it
would be kept in the log for ever, and whoever sent it meant something by it."""

from collections.abc import Mapping
from typing import Any, Final

from towerhall_server.game import Rejected
from towerhall_server.room.seats import SETTINGS

NEEDED: Final[Mapping[str, frozenset[str]]] = {
    "open": frozenset({"nonce"}),
    "remove_bot": frozenset({"seat"}),
    "kick": frozenset({"seat"}),
    "call_bot": frozenset({"seat"}),
}
"""What cannot be left out."""
POSSIBLE: Final[Mapping[str, frozenset[str]]] = {
    "sit": frozenset({"seat", "nonce"}),
    "ready": frozenset({"ready", "nonce"}),
    "add_bot": frozenset({"level", "seat"}),
    "set_options": frozenset({"options", *SETTINGS}),
    "leave": frozenset({"level"}),
    "want_end": frozenset({"wanted"}),
}
NONE: Final[frozenset[str]] = frozenset()
NAME_LENGTH: Final = 40


def wrong_parameters(body: Mapping[str, Any]) -> Rejected | None:
    """What is missing, null, or not a parameter of this command; nothing if all is well."""
    command = body["command"]
    given = body.keys() - {"command"}
    needed = NEEDED.get(command, NONE)
    for name in sorted(needed - given):
        return _wrong(f"{name} is missing")
    for name in sorted(given - needed - POSSIBLE.get(command, NONE)):
        return _wrong(f"{command} has no {name[:NAME_LENGTH]}")
    for name in sorted(given):
        if body[name] is None:
            return _wrong(f"{name} is null: leave it out instead")
    return None


def _wrong(detail: str) -> Rejected:
    return Rejected("bad_command", "P-50", {"detail": detail})
