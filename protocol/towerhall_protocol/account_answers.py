"""The answers about accounts (P-211 to P-215), as types.

As in `answers`: a key with a default may be left out, and later levels add keys.
"""

import msgspec

from towerhall_protocol.answers import TokenAnswer
from towerhall_protocol.document import Document


class SignedInAnswer(TokenAnswer, frozen=True, omit_defaults=True):
    """A device is signed in (P-211)."""

    passkey: str = ""
    recovery_code: str = ""


class PasskeyOptionsAnswer(msgspec.Struct, frozen=True):
    """What a browser needs to make or to use a passkey (P-212, P-213)."""

    options: Document


class RecoveryCodeAnswer(msgspec.Struct, frozen=True):
    recovery_code: str


class ShownPasskey(msgspec.Struct, frozen=True, omit_defaults=True):
    """A passkey of the own account."""

    passkey: str
    name: str
    site: str
    since: int
    used: int = 0
    synced: bool = False


class ShownDevice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A device that is signed in."""

    device: str
    name: str
    since: int
    seen: int
    own: bool = False


class AccountAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The own account (P-215)."""

    passkeys: tuple[ShownPasskey, ...]
    devices: tuple[ShownDevice, ...]
    since: int = 0
    recovery: int = 0
    fresh: bool = False
