"""Keys of regulars in the store. Keys that one script uses share a slot.

The journal, its place and the boards share one slot; each person has a slot of their own, and so
has each operator's queue of reports.
"""

from hashlib import blake2b
from typing import Final

import msgspec

TAG: Final = "towerhall:{ends}"
JOURNAL: Final = f"{TAG}:journal"
"""All slips, by number."""
KNOWN: Final = f"{TAG}:known"
"""Uids of games that are in the journal, by the time at which they were noted."""
GAMES: Final = f"{TAG}:games"
"""Names of games that have slips."""
PLACE: Final = f"{TAG}:place"
"""Hash: `place` (number of the last slip that is applied to all), `generation`, `plan`, `wiping`.
"""
LEASE: Final = f"{TAG}:lease"
NEWS: Final = f"{TAG}:news"
"""Shards in which a game has just ended. It may be lost: all shards are looked at now and then."""


class PersonKeys(msgspec.Struct, frozen=True):
    """Keys of one person."""

    who: str
    """Hash: id, name, since, and the person's choices. The only place of id and name."""
    sums: str
    """Hash: number of the last slip, ratings, statistics."""
    past: str
    """List: numbers of slips with game and seats, newest first."""
    met: str
    """Opponents, by the number of the last common slip."""
    friends: str
    """People whom this person has chosen, by time."""
    asking: str
    """People who have chosen this person, by time."""
    blocks: str
    """People whom this person has blocked, by time."""
    blockers: str
    """People who have blocked this person, by time."""

    @property
    def projected(self) -> tuple[str, str, str, str]:
        return self.who, self.sums, self.past, self.met


def person_keys(handle: str) -> PersonKeys:
    tag = f"towerhall:{{p:{handle}}}"
    names = ("who", "sums", "past", "met", "friends", "asking", "blocks", "blockers")
    return PersonKeys(*(f"{tag}:{name}" for name in names))


def handle_key(identity: str) -> str:
    """The key that leads from an id to a handle. It holds a digest, for a reader of the store."""
    return f"towerhall:handle:{blake2b(identity.encode(), digest_size=16).hexdigest()}"


def board_key(game: str) -> str:
    return f"{TAG}:board:{game}"


def reports_key(operator: str) -> str:
    """The queue of an operator; the empty name is the service itself."""
    return f"towerhall:{{reports:{operator}}}:queue"


REPORT_OPERATORS: Final = "towerhall:{reports}:operators"
