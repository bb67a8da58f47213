"""Request bodies of operators and their validation. Nothing is executed here."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final

import msgspec

from towerhall_server.access.names import clean_name
from towerhall_server.game import AnyGame, Rejected, read_options
from towerhall_server.gateway.responses import RefusedError
from towerhall_server.operators.operator import MOST_EXTERNAL, identity_of
from towerhall_server.room.closing import is_reason
from towerhall_server.room.seats import NO_BOTS, Person, read_settings
from towerhall_server.room.steps import Plan

CLOSED: Final = "closed_by_operator"
"""The default reason of a close by an operator."""
ID: Final = re.compile(r"[A-Za-z0-9_-]{11}")
MOST_REASON: Final = 200

ExternalId = Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_EXTERNAL)]


class NewPerson(msgspec.Struct, forbid_unknown_fields=True):
    external_id: ExternalId
    name: str


class SeatWish(msgspec.Struct, forbid_unknown_fields=True):
    """The owner of a reserved seat: a person or a bot."""

    external_id: ExternalId | None = None
    name: str = ""
    bot: str = ""


class NewOperatorRoom(msgspec.Struct, forbid_unknown_fields=True):
    game: str
    seats: list[SeatWish | None]
    """`None`: the seat is open to any player."""
    options: dict[str, object] = {}
    turn_seconds: int = 0
    bot_delay_ms: int = 600
    beat_ms: int = 0
    private: bool = False
    rated: bool = False


class Closing(msgspec.Struct, forbid_unknown_fields=True):
    reason: str = CLOSED


class NewBan(msgspec.Struct, forbid_unknown_fields=True):
    id: str = ""
    external_id: str = ""
    reason: str = ""


class Guest(msgspec.Struct, frozen=True):
    """A person for whom a seat is reserved."""

    person: Person
    external_id: str


def guest_of(secret: bytes, operator: str, external_id: str, name: str) -> Guest:
    """Return an operator's person, with a name that may be shown."""
    clean = clean_name(name)
    if clean is None:
        raise RefusedError("bad_name")
    try:
        identity = identity_of(secret, operator, external_id)
    except UnicodeError:
        raise _bad("external_id is no text") from None
    return Guest(Person(identity, clean), external_id)


def guests_of(
    secret: bytes, operator: str, wishes: Sequence[SeatWish | None]
) -> list[Guest | None]:
    """Return for each seat the person for whom it is reserved, or None."""
    guests: list[Guest | None] = []
    for wish in wishes:
        if wish is None or wish.external_id is None:
            if wish is not None and (wish.name or not wish.bot):
                raise _bad("a seat has external_id and name, or bot")
            guests.append(None)
            continue
        if wish.bot:
            raise _bad("a seat is for a person or for a bot, not for both")
        guests.append(guest_of(secret, operator, wish.external_id, wish.name))
    people = [guest.person.id for guest in guests if guest is not None]
    if len(set(people)) < len(people):
        raise _bad("an external_id has two seats")
    return guests


def plan_of(
    games: Mapping[str, AnyGame],
    operator: str,
    wanted: NewOperatorRoom,
    guests: Sequence[Guest | None],
    key_hash: bytes,
) -> Plan:
    """The room that an operator wants. It has no host and starts when all players are ready."""
    rules = games.get(wanted.game)
    if rules is None:
        raise RefusedError("unknown_game", name=wanted.game[:40])
    options = read_options(rules, wanted.options)
    if isinstance(options, Rejected):
        raise RefusedError(options.code, **dict(options.params))
    if len(wanted.seats) not in rules.seats:
        span = f"seats has {rules.seats[0]} to {rules.seats[-1]} entries"
        raise RefusedError("bad_options", detail=span)
    # Its rooms are quick, so they have no bot accounts (P-157).
    chosen = ("turn_seconds", "bot_delay_ms", "beat_ms", "rated")
    settings = read_settings({name: getattr(wanted, name) for name in chosen})
    if isinstance(settings, Rejected):
        raise RefusedError(settings.code, **dict(settings.params))
    bots = tuple(wish.bot if wish is not None else "" for wish in wanted.seats)
    if not set(bots) <= {"", *rules.levels}:
        raise _bad(f"a bot of {rules.name} is one of {', '.join(rules.levels)}")
    if all(bots):
        raise RefusedError("bad_options", detail="at least one seat is for a person")
    if settings.rated and any(bots):
        raise RefusedError("bad_options", detail=NO_BOTS)
    return Plan(
        rules=rules,
        options=options,
        seats=len(wanted.seats),
        settings=settings,
        host="",
        key_hash=key_hash,
        reserved=tuple(guest.person.id if guest else "" for guest in guests),
        bots=bots if any(bots) else (),
        quick=True,
        operator=operator,
    )


def check_closing(wanted: Closing) -> str:
    """The reason to close a room."""
    if not is_reason(wanted.reason):
        raise _bad("reason is 1 to 40 of a-z, 0-9 and _, and not a reason of rooms themselves")
    return wanted.reason


def banned_identity(secret: bytes, operator: str, wanted: NewBan) -> str:
    """The people whom an operator bans."""
    if bool(wanted.id) == bool(wanted.external_id) or len(wanted.reason) > MOST_REASON:
        raise _bad(f"give id or external_id, and a reason of at most {MOST_REASON} characters")
    if wanted.id and not ID.fullmatch(wanted.id):
        raise _bad("id is the 11 characters that name a person")
    if len(wanted.external_id) > MOST_EXTERNAL:
        raise _bad(f"external_id has at most {MOST_EXTERNAL} characters")
    return wanted.id or identity_of(secret, operator, wanted.external_id)


def _bad(detail: str) -> RefusedError:
    return RefusedError("bad_request", detail=detail)
