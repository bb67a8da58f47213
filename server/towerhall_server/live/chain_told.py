"""When viewers get the whole chain hash; each frame has only its short mark (P-99).

A mark is short enough to be forged. The whole chain costs 50 bytes, so only some frames carry it:
every 16th commit, the sealing of a deal and the end of the game.
"""

from typing import Final

from towerhall_protocol.commands import base64url
from towerhall_protocol.messages import ServerChain
from towerhall_protocol.statements import Sign, Statement, unsigned
from towerhall_server.frames import Prepared
from towerhall_server.live.change import Change
from towerhall_server.room.events import Sealed
from towerhall_server.room.table import Table

LEVEL: Final = 4
"""Lowest level of clients that know `chain`."""
EVERY: Final = 16
"""Commits between two chains."""


def chain_with(change: Change, sign: Sign) -> Prepared | None:
    """The chain message of a commit, or `None`. Sealing and end are signed."""
    if _is_kept(change):
        return Prepared.made(chain_of(change.after.table, change.seq, change.chain, sign))
    if change.seq % EVERY == 0:
        return Prepared.made(chain_of(change.after.table, change.seq, change.chain))
    return None


def chain_of(table: Table, seq: int, chain: bytes, sign: Sign = unsigned) -> ServerChain:
    """The chain up to a commit, signed if there is a key. A sandbox room is never signed: a log
    that loses its end on purpose would convict the server (P-190)."""
    sign = unsigned if table.settings.sandbox else sign
    signature = sign(Statement(table.uid, table.commitment, seq, chain))
    return ServerChain(seq, base64url(chain), *(signature or ()))


def _is_kept(change: Change) -> bool:
    """Whether a deal was sealed or the room ended: the log before must not change any more."""
    before, after = change.before, change.after.table
    if before is None or before.table is after:
        return False
    has_ended = after.status == "over" and before.table.status != "over"
    return has_ended or any(isinstance(event, Sealed) for event in change.commit.room)
