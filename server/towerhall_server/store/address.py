"""A store's URL as parts: one engine, engines behind sentinels, or a cluster.

Pure. Nothing here connects; `endpoint` makes TLS contexts and greetings of the parts.
"""

from typing import Final, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

Kind = Literal["single", "sentinel", "cluster"]
Place = tuple[str, int]
"""Host and port."""

ENGINE_PORT: Final = 6379
SENTINEL_PORT: Final = 26379
FORMS: Final = (
    "redis://localhost:6379/0, rediss://... for TLS, unix:///run/redis.sock,"
    " redis+sentinel://s1.example:26379,s2.example:26379/NAME or redis+cluster://n1.example:6379,n2.example:6379"
)
KINDS: Final[dict[str, Kind]] = {
    "redis": "single",
    "rediss": "single",
    "unix": "single",
    "redis+sentinel": "sentinel",
    "rediss+sentinel": "sentinel",
    "redis+cluster": "cluster",
    "rediss+cluster": "cluster",
}
OF_SENTINELS: Final = ("sentinel_user", "sentinel_password", "sentinel_tls")
OF_SEVERAL: Final = ("wait",)
OWN: Final = OF_SENTINELS + OF_SEVERAL
"""Parameters that redis-py does not know."""
MOST_WAIT: Final = 9


class AddressError(ValueError):
    """The URL is none of a store. The message says what is right, and repeats nothing."""


class Address(msgspec.Struct, frozen=True):
    """The parts of a URL. It may hold passwords."""

    kind: Kind
    url: str
    """The URL of an engine alone, if there are no other nodes."""
    nodes: tuple[Place, ...] = ()
    """Sentinels, or some nodes of the cluster."""
    name: str = ""
    """The name that sentinels know the primary by."""
    sentinel_user: str = ""
    sentinel_password: str = ""
    sentinel_tls: bool = False
    wait: int = 0
    """Replicas that must have a move before it is acknowledged."""
    scheme: str = "redis"
    credentials: str = ""
    database: str = ""
    query: str = ""

    def at(self, place: Place) -> str:
        """Return the URL of one engine, in redis-py's form."""
        host, port = place
        host = f"[{host}]" if ":" in host else host
        user = f"{self.credentials}@" if self.credentials else ""
        query = f"?{self.query}" if self.query else ""
        return f"{self.scheme}://{user}{host}:{port}/{self.database}{query}"

    def sentinel_at(self, place: Place) -> str:
        """Return the URL of one sentinel: with its own user and without a database."""
        secured = msgspec.structs.replace(
            self, scheme="rediss" if self.sentinel_tls else "redis", credentials="", database=""
        )
        # Certificates are named in the query: those of the engines hold for sentinels, too.
        return secured.at(place)


def read_address(url: str) -> Address:
    """Read a URL. Raises `AddressError`."""
    try:
        return _read(url)
    except AddressError:
        raise
    except ValueError:
        # The port is no number. Its text may be a part of a password.
        raise AddressError(f"it does not name a store; write it like {FORMS}") from None


def _read(url: str) -> Address:
    whole, _, rest = url.partition("://")
    rest, _, query_text = rest.partition("?")
    kind = KINDS.get(whole)
    if kind is None:
        raise AddressError(f"it does not name a store; write it like {FORMS}")
    if kind == "single":
        parts = urlsplit(url)
        # Reading the port checks it.
        if not (parts.path if parts.scheme == "unix" else (parts.port, parts.hostname)[1]):
            raise AddressError(f"it does not name a store; write it like {FORMS}")
        _refuse_own(parts.query)
        return Address(kind, url)
    scheme, _, _ = whole.partition("+")
    netloc, _, path_text = rest.partition("/")
    credentials, _, hosts = netloc.rpartition("@")
    is_sentinel = kind == "sentinel"
    nodes = tuple(
        _place(host, SENTINEL_PORT if is_sentinel else ENGINE_PORT) for host in hosts.split(",")
    )
    path = path_text.split("/")
    name = path.pop(0) if is_sentinel else ""
    database = path.pop(0) if path else ""
    own, query = _sorted_out(query_text)
    if path:
        raise AddressError("its path has too many parts")
    if is_sentinel:
        if not name:
            raise AddressError(
                "it lacks the name by which sentinels know the primary; write it like"
                " redis+sentinel://s1.example:26379,s2.example:26379/NAME"
            )
        if database and not database.isdecimal():
            raise AddressError("its database is not a number")
    else:
        if database not in ("", "0") or dict(parse_qsl(query_text)).get("db", "0") != "0":
            raise AddressError("a cluster has no database but 0: leave it out")
        if used := set(own) & set(OF_SENTINELS):
            raise AddressError(f"a cluster has no sentinels: leave {', '.join(sorted(used))} out")
        database = ""
    tls = own.get("sentinel_tls", "yes" if scheme == "rediss" else "no")
    if tls not in ("yes", "no"):
        raise AddressError("sentinel_tls is yes or no")
    wait = own.get("wait", "0")
    if not (wait.isdecimal() and int(wait) <= MOST_WAIT):
        raise AddressError(f"wait is a number of replicas, 0 to {MOST_WAIT}")
    return Address(
        kind,
        "",
        nodes,
        name,
        own.get("sentinel_user", ""),
        own.get("sentinel_password", ""),
        tls == "yes",
        int(wait),
        scheme,
        credentials,
        database,
        query,
    )


def _place(text: str, usual_port: int) -> Place:
    parts = urlsplit(f"//{text}")
    if not parts.hostname:
        raise AddressError(f"one of its hosts is empty; write it like {FORMS}")
    return parts.hostname, parts.port or usual_port


def _sorted_out(query: str) -> tuple[dict[str, str], str]:
    """Split a query into this module's own parameters and those for redis-py."""
    pairs = parse_qsl(query, keep_blank_values=True)
    own = {name: value for name, value in pairs if name in OWN}
    return own, urlencode([pair for pair in pairs if pair[0] not in OWN])


def _refuse_own(query: str) -> None:
    own, _ = _sorted_out(query)
    if used := set(own) & set(OF_SENTINELS):
        raise AddressError(
            f"{', '.join(sorted(used))} belongs to redis+sentinel://s1.example:26379/NAME alone"
        )
    if own:
        raise AddressError(
            "wait belongs to redis+sentinel:// and redis+cluster:// alone: nothing takes over from"
            " one engine"
        )
