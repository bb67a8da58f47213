"""The promises for acknowledged moves that follow from a store's settings, as sentences.

Pure: a mapping of settings goes in, sentences come out. `check` reads the settings and acts on
them. The sentences describe the settings at startup: later changes of a setting are not noticed.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

ASKED: Final = (
    "appendonly",
    "appendfsync",
    "maxmemory",
    "maxmemory-policy",
    "min-replicas-to-write",
)
NEEDED: Final = {"appendonly": "yes", "appendfsync": "always"}
"""With these values an acknowledged move is on the disk."""
GRANT: Final = "let this server's user run CONFIG GET (ACL rule: +config|get)"

FSYNC: Final = {
    "always": (
        "appendfsync is always: an acknowledged move is on the disk. It survives the end of any"
        " process, and a power cut as far as the disk keeps what it confirms"
    ),
    "everysec": (
        "appendfsync is everysec: an acknowledged move survives the end of any process, but a"
        " power cut loses the moves of about the last two seconds"
    ),
    "no": (
        "appendfsync is no: an acknowledged move survives the end of any process, but a power cut"
        " loses all moves that the operating system has not written, often those of half a minute"
    ),
}


class Promise(msgspec.Struct, frozen=True):
    """One setting and its consequence."""

    text: str
    warns: bool = False
    """Whether a power cut, a crash of the store or a full memory may lose acknowledged moves or
    whole rooms, or no move can be acknowledged. Failovers are not covered: not every store has
    replicas."""


def promises(found: Mapping[str, str], *, waits: bool = False) -> tuple[Promise, ...]:
    """Return one promise for each setting. A missing setting is one that the store does not
    tell. `waits` tells whether replicas confirm moves: then `after_failover` says all of them."""
    if not found:
        return (
            Promise(
                "the store hides its settings: whether acknowledged moves survive a power"
                f" cut, a full memory or a failover is unknown. To find out, {GRANT}",
                warns=True,
            ),
        )
    return (
        _appendonly(found.get("appendonly")),
        _appendfsync(found.get("appendfsync"), found.get("appendonly")),
        _maxmemory(found.get("maxmemory")),
        _policy(found.get("maxmemory-policy")),
        *(() if waits else (_replicas(found.get("min-replicas-to-write")),)),
    )


def after_failover(wait: int, replicas: int) -> Promise:
    """Return what a failover may lose. `wait` is that of the URL; so many replicas are
    connected."""
    if not wait:
        return Promise(
            "wait is missing in the url: a failover may lose the last acknowledged moves, and a"
            " primary that stood still and wakes may acknowledge lost ones. Players are told how"
            " many. With ?wait=1 a move is acknowledged once a replica has it"
        )
    if replicas < wait:
        return Promise(
            f"wait is {wait} in the url, and {replicas} replicas are connected: no move is"
            " acknowledged until there are enough",
            warns=True,
        )
    return Promise(
        f"wait is {wait} in the url: a move is acknowledged once so many replicas have it. A"
        " failover to one of these loses none. Without so many replicas, rooms pause"
    )


def shortcoming(found: Mapping[str, str]) -> str | None:
    """Return what to change so that acknowledged moves are on the disk; None if they are."""
    wrong = {name: found.get(name) for name, value in NEEDED.items() if found.get(name) != value}
    if not wrong:
        return None
    if untold := [name for name, value in wrong.items() if value is None]:
        return f"the store hides {' and '.join(untold)}: {GRANT}"
    told = " and ".join(f"{name} {value}" for name, value in wrong.items())
    change = " and ".join(f"{name} {NEEDED[name]}" for name in wrong)
    return f"the store has {told}: set {change}"


def _unknown(name: str, what: str) -> Promise:
    return Promise(f"{name} is hidden by the store: {what} is unknown", warns=True)


def _appendonly(value: str | None) -> Promise:
    if value is None:
        return _unknown("appendonly", "whether moves outlive the store's process")
    if value == "yes":
        text = "the store writes every move to a file, and reads it when it starts"
        return Promise(f"appendonly is yes: {text}")
    return Promise(
        f"appendonly is {value}: moves are in memory alone. When the store ends, all moves since"
        " its last snapshot are lost, or all rooms if it makes no snapshots",
        warns=True,
    )


def _appendfsync(value: str | None, appendonly: str | None) -> Promise:
    if value is None:
        return _unknown("appendfsync", "what a power cut loses")
    if appendonly == "no":
        return Promise(f"appendfsync is {value}: without appendonly it means nothing", warns=True)
    text = FSYNC.get(value, f"appendfsync is {value}: what a power cut loses is unknown")
    return Promise(text, warns=value != NEEDED["appendfsync"])


def _maxmemory(value: str | None) -> Promise:
    if value is None:
        return _unknown("maxmemory", "what happens when memory is full")
    if value == "0":
        return Promise(
            "maxmemory is 0: the store takes memory until the machine has none, and may then be"
            " killed. Set it below the memory of the machine"
        )
    text = "beyond that the store refuses moves, and rooms pause until there is memory again"
    return Promise(f"maxmemory is {value} bytes: {text}")


def _policy(value: str | None) -> Promise:
    if value is None:
        return _unknown("maxmemory-policy", "whether rooms are evicted when memory is full")
    if value == "noeviction":
        return Promise("maxmemory-policy is noeviction: no room is evicted")
    return Promise(
        f"maxmemory-policy is {value}: the store evicts rooms when memory is full",
        warns=True,
    )


def _replicas(value: str | None) -> Promise:
    name = "min-replicas-to-write"
    if value is None:
        return _unknown(name, "what a failover to a replica loses")
    if value == "0":
        return Promise(
            f"{name} is 0: moves are acknowledged before any replica has them. A failover to a"
            " replica may lose the last ones; players are then told how many. Without replicas"
            " this means nothing"
        )
    return Promise(
        f"{name} is {value}: without that many connected replicas the store refuses moves. A move"
        " is still acknowledged before replicas have it, so a failover may lose the last ones;"
        " players are then told how many"
    )
