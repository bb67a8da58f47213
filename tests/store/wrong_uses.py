"""Wrong uses of a store, with what a server says to each: the table of `docs/stores.md`.

`test_wrong_uses` tries each on real engines. `python -m tests.store.wrong_uses` prints the table.
"""

from typing import Final, NamedTuple

from towerhall_server.store import remedies


class WrongUse(NamedTuple):
    """What was done, the URL for it, and the answer."""

    done: str
    url: str
    """Its hosts are engines that `test_wrong_uses` runs."""
    told: str


USES: Final = (
    WrongUse("no password", "redis://guarded.example", remedies.OF_REFUSALS["NOAUTH"]),
    WrongUse("wrong password", "redis://:no@guarded.example", remedies.OF_REFUSALS["WRONGPASS"]),
    WrongUse("unknown user", "redis://ada:no@plain.example", remedies.OF_REFUSALS["WRONGPASS"]),
    WrongUse(
        "password without need", "redis://:pw@plain.example", remedies.OF_REFUSALS["ERR AUTH"]
    ),
    WrongUse(
        "user without rights", "redis://poor:pw@plain.example", remedies.OF_REFUSALS["NOPERM"]
    ),
    WrongUse("database too high", "redis://plain.example/99", remedies.OF_REFUSALS["ERR DB index"]),
    WrongUse(
        "TLS port by `redis`",
        "redis://tls.example",
        remedies.SPEAKS_TLS.format(tls="rediss", plain="redis"),
    ),
    WrongUse(
        "plain port by `rediss`",
        "rediss://plain.example",
        remedies.NO_TLS.format(tls="rediss", plain="redis"),
    ),
    WrongUse("certificate of a stranger", "rediss://tls.example", remedies.STRANGER),
    WrongUse(
        "replica",
        "redis://replica.example",
        "it is a replica, and takes no writes: name its primary plain.example, or its sentinels by"
        " redis+sentinel://s1.example:26379/NAME",
    ),
    WrongUse(
        "cluster node by `redis`",
        "redis://member.example",
        "it is a node of a cluster: write redis+cluster://n1.example:6379",
    ),
    WrongUse(
        "database 1 of a cluster node",
        "redis://member.example/1",
        "it is a node of a cluster: write redis+cluster://n1.example:6379",
    ),
    WrongUse(
        "sentinel by `redis`",
        "redis://sentinel.example",
        "it is a sentinel: write redis+sentinel://s1.example:26379/NAME",
    ),
    WrongUse(
        "one engine by `redis+cluster`",
        "redis+cluster://plain.example",
        "it is no node of a cluster: write redis://store.example:6379",
    ),
    WrongUse(
        "cluster without all slots",
        "redis+cluster://slotless.example",
        remedies.OF_REFUSALS["CLUSTERDOWN"],
    ),
    WrongUse(
        "one engine by `redis+sentinel`",
        "redis+sentinel://plain.example/towers",
        remedies.of_sentinels_refusal("ERR unknown command"),
    ),
    WrongUse(
        "name that sentinels do not know",
        "redis+sentinel://sentinel.example/castles",
        "the sentinels do not know the name 'castles'; they know towers",
    ),
    WrongUse(
        "TLS port by `redis+cluster`",
        "redis+cluster://tls.example",
        remedies.SPEAKS_TLS.format(tls="rediss+cluster", plain="redis+cluster"),
    ),
    WrongUse(
        "store that evicts",
        "redis://evicting.example",
        "the store's maxmemory-policy is 'allkeys-lru': it would evict rooms when memory is full."
        " Set it to noeviction",
    ),
)


def table() -> str:
    rows = (f"| {use.done} | `{use.url}` | {use.told} |" for use in USES)
    return "\n".join(("| wrong use | url | the server says |", "|---|---|---|", *rows))


if __name__ == "__main__":
    print(table())
