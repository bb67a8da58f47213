"""Sandbox rooms: what authors of clients may ask of them (P-190, P-191), and its limits.

Pure. A room is a sandbox room by its settings, from its creation on. Only a server that was started
with `--sandbox` creates such rooms or does what their viewers ask.
"""

from hashlib import sha256
from typing import Final

from towerhall_protocol.fairness import UID_BYTES
from towerhall_protocol.messages import ClientSandbox
from towerhall_server.room.parameters import Nonce

Entropy = Nonce
"""The secret of a room, chosen by its maker: as long as a nonce, and spelt like one."""
SPEED: Final = range(1, 1001)
"""How many times as fast the clocks of a sandbox room may run."""
PAUSE_MS: Final = range(1, 60_001)
"""Milliseconds for which a viewer may ask the server to be silent."""
LOST: Final = range(1, 1001)
"""Commits that a viewer may ask the log to lose."""
_NUMBERS: Final = {"drop": range(1), "pause": PAUSE_MS, "lose": LOST}


def uid_of(entropy: bytes) -> bytes:
    """The uid of a room with that entropy. Seeds follow from uid and secret, so the same entropy
    makes the same draws again."""
    return sha256(b"towerhall/1/sandbox\0" + entropy).digest()[:UID_BYTES]


def fault_of(asked: ClientSandbox) -> str:
    """What is wrong with a request; empty: nothing."""
    numbers = _NUMBERS.get(asked.act)
    if numbers is None:
        return f"there is no {asked.act[:40]}; a sandbox knows {', '.join(_NUMBERS)}"
    if asked.number not in numbers:
        return f"{asked.act} takes {numbers[0]} to {numbers[-1]}"
    return ""
