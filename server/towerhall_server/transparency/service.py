"""The public log of a service: its name, its keys, its parts."""

import secrets
from collections.abc import AsyncIterator, Sequence

import msgspec

from towerhall_protocol.notes import is_name, read_verifier_key
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import Wake
from towerhall_server.signing.history import KeyHistory
from towerhall_server.signing.signer import Signer
from towerhall_server.telemetry.meters import Meters
from towerhall_server.transparency.publishing import Publishing
from towerhall_server.transparency.reading import PublicLog
from towerhall_server.transparency.store import LogStore


class Transparency(msgspec.Struct, frozen=True):
    """The signing parts of a server with a key."""

    signer: Signer
    history: KeyHistory
    publishing: Publishing
    log: PublicLog


class OtherOriginError(Exception):
    """The log in the store has another name; the message says what to change."""


async def open_public_log(
    log: EventLog,
    seeds: Sequence[bytes],
    origin: str = "",
    hosts: Sequence[str] = (),
    witnesses: Sequence[str] = (),
    meters: Meters | None = None,
) -> Transparency:
    """Publish the keys, and find or choose the name of the log."""
    signer, store = Signer(seeds), LogStore(log)
    history = KeyHistory(log, signer.public)
    await history.open()
    found = await store.origin(origin or _new_origin(hosts))
    if origin and found != origin:
        raise OtherOriginError(
            f"the public log in this store is named {found}, and others know it by that: set"
            f" TOWERHALL_LOG_ORIGIN to {found}, or leave it out"
        )
    known = tuple(map(read_verifier_key, witnesses))
    return Transparency(
        signer,
        history,
        Publishing(store, signer, found, meters=meters),
        PublicLog(store, signer, found, known),
    )


def _new_origin(hosts: Sequence[str]) -> str:
    """Return the log's address if the operator has named a host, else a random name."""
    named = [f"{host}/v1/log" for host in hosts if host.isascii() and "*" not in host]
    return next(filter(is_name, named), f"towerhall/{secrets.token_hex(8)}")


def tapped(public: Transparency | None, wakes: AsyncIterator[Wake]) -> AsyncIterator[Wake]:
    """Pass news through. The public log, if there is one, takes its own."""
    return public.publishing.tapped(wakes) if public else wakes
