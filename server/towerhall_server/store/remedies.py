"""The changes to make in a URL or a store that cannot be used, as sentences.

Pure: the text of a refusal, or what an engine says about itself, goes in. No password comes out.
"""

from collections.abc import Mapping, Sequence
from typing import Final

RULES: Final = "`python3 server/new_secrets.py` writes a user with the rights that servers need"
OF_REFUSALS: Final = {
    "NOAUTH": (
        "it wants a password: write it into the url, redis://USER:PASSWORD@store.example, or set"
        " TOWERHALL_REDIS_PASSWORD"
    ),
    "WRONGPASS": (
        "it does not know this user with this password: look at the url and at"
        " TOWERHALL_REDIS_PASSWORD"
    ),
    "ERR AUTH": "it has no password: leave the one in the url out",
    "NOPERM": f"its user lacks a right; {RULES}",
    "DENIED": (
        "its protected mode lets only its own machine in: give it a user with a password, and set"
        " protected-mode no"
    ),
    "ERR DB index": "it has no database of that number: use 0, or raise its setting databases",
    "ERR SELECT is not": "it is a node of a cluster: write redis+cluster://n1.example:6379",
    "LOADING": "it still reads its data: start the server again when it is done",
    "MASTERDOWN": "it is a replica that has lost its primary: name the primary",
    "CLUSTERDOWN": (
        "the cluster is down: each slot needs a primary that answers (`CLUSTER INFO`,"
        " `CLUSTER SLOTS`)"
    ),
}
"""By the beginning of the engine's answer."""
SPEAKS_TLS: Final = "this port speaks TLS: write {tls}:// instead of {plain}://"
NO_TLS: Final = "this port speaks no TLS: write {plain}:// instead of {tls}://"
STRANGER: Final = (
    "its certificate is not trusted for this name: name its authority by ?ssl_ca_certs=FILE, or"
    " the host as the certificate does"
)
NO_STORE: Final = "no Redis or Valkey answers at this port"
OPEN_COVERAGE: Final = (
    "cluster-require-full-coverage is no: while a primary is down, the rooms of the others go on"
)
FULL_COVERAGE: Final = (
    "cluster-require-full-coverage is yes: while one primary is down without a replica, all rooms"
    " stand still. Set it to no"
)
HIDDEN_COVERAGE: Final = (
    "cluster-require-full-coverage is hidden by the store: whether one lost primary stops all rooms"
    " is unknown"
)


def of_refusal(text: str) -> str:
    """Return the remedy for an engine's error; the error itself if there is none."""
    for beginning, remedy in OF_REFUSALS.items():
        if text.startswith(beginning):
            return remedy
    return text


def of_sentinels_refusal(text: str) -> str:
    """The same for a sentinel, which has users of its own."""
    if text.startswith("NOAUTH"):
        return "the sentinels want a password: add ?sentinel_password=... (and sentinel_user)"
    if text.startswith("WRONGPASS"):
        return "the sentinels do not know sentinel_user with sentinel_password"
    if text.startswith("ERR AUTH"):
        return "the sentinels have no password: leave sentinel_password out"
    if text.startswith("NOPERM"):
        return "the sentinels' user lacks the right +sentinel|get-master-addr-by-name"
    if "unknown command" in text:
        return (
            "it is no sentinel: name the ports of sentinels, mostly 26379, or write"
            " redis://store.example:6379 for one engine"
        )
    return of_refusal(text)


def of_unknown_name(name: str, known: Sequence[str]) -> str:
    told = f"; they know {', '.join(known)}" if known else ""
    return f"the sentinels do not know the name {name!r}{told}"


def of_engine(server: Mapping[str, str], replication: Mapping[str, str], kind: str) -> str | None:
    """Return what is wrong with an engine that says this about itself; None if it may be used by a
    URL of that kind."""
    mode = server.get("redis_mode") or server.get("server_mode") or "standalone"
    if mode == "sentinel":
        return "it is a sentinel: write redis+sentinel://s1.example:26379/NAME"
    if mode == "cluster" and kind != "cluster":
        return "it is a node of a cluster: write redis+cluster://n1.example:6379"
    if mode != "cluster" and kind == "cluster":
        return "it is no node of a cluster: write redis://store.example:6379"
    if replication.get("role") == "slave" and kind == "single":
        host, port = replication.get("master_host", "?"), replication.get("master_port", "?")
        return (
            f"it is a replica, and takes no writes: name its primary {host}:{port}, or its"
            " sentinels by redis+sentinel://s1.example:26379/NAME"
        )
    return None


def coverage(value: str | None) -> tuple[str, bool]:
    """Return what follows from `cluster-require-full-coverage`, and whether it is a warning."""
    if value is None:
        return HIDDEN_COVERAGE, True
    return (OPEN_COVERAGE, False) if value == "no" else (FULL_COVERAGE, True)


def fields_of(info: bytes) -> dict[str, str]:
    """Read an answer of INFO."""
    lines = (line.partition(":") for line in info.decode(errors="replace").splitlines())
    return {name: value for name, colon, value in lines if colon}
