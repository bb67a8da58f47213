"""How a law is written down: registered by name, and told with game and step when it is broken."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import msgpack
import msgspec

from tests.games.plays import Play
from towerhall_protocol.codec import encode
from towerhall_protocol.offers import Offer

Law = Callable[[Play], None]
LAWS: dict[str, Law] = {}
"""Every law about plays, by name. `laws.py` has them all loaded."""


def law(check: Law) -> Law:
    """Register a law; whatever goes wrong under it is told with law, game and step."""

    @wraps(check)
    def checked(play: Play) -> None:
        play.at = "the start"
        try:
            check(play)
        except Exception as error:
            where = f"law {check.__name__}, game {play.game.name}, {play.at}"
            what = error if isinstance(error, AssertionError) else f"{error!r} was raised"
            raise AssertionError(f"{where}: {what}") from error

    LAWS[check.__name__] = checked
    return checked


def copied(document: object) -> Any:
    """The document as another process gets it, with arrays as lists; no limits are checked."""
    return msgpack.unpackb(encode(document))


def wire_form(offers: tuple[Offer, ...]) -> Any:
    """Offers as a plain document."""
    return msgspec.to_builtins(offers)
