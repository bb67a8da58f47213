"""Looks at a store before a server starts on it: each wrong use is told with its remedy.

`remedies` has the sentences, `check` the requirements for one engine. Here the engines of the store
are found, and connections that fail are looked at from nearby: a port that speaks TLS cuts a
plain connection without a word.
"""

import asyncio
import logging
import ssl
from typing import Any, Final

from redis.exceptions import RedisError

from towerhall_server.store import durability, remedies
from towerhall_server.store.address import Address, Place, read_address
from towerhall_server.store.check import UnfitStoreError, check_store, configuration, connect
from towerhall_server.store.endpoint import Endpoint, endpoint, without_database
from towerhall_server.store.errors import StoreError, StoreRefusedError
from towerhall_server.store.resp import packed
from towerhall_server.store.sentinels import NoSentinelError, Sentinels, ask_once, at
from towerhall_server.store.slot_map import read_map

logger = logging.getLogger(__name__)

PROBE_SECONDS: Final = 1.0
COVERAGE: Final = "cluster-require-full-coverage"
_SERVER, _REPLICATION = packed("INFO", "server"), packed("INFO", "replication")


async def examine(url: str, *, durable: bool = False, told: bool = True) -> str:
    """Return the engine's name and version. Raises `UnfitStoreError` unless rooms are safe in the
    store. `told` logs what its settings promise."""
    address = read_address(url)
    try:
        places = await _primaries(address)
        names = [await _examined(address, place, durable=durable) for place in places]
    except (RedisError, StoreError) as error:
        raise UnfitStoreError(remedies.of_refusal(str(error))) from None
    except (TypeError, ValueError) as error:
        raise UnfitStoreError(f"its url cannot be read: {error}") from None
    if told:
        await _tell(address, places)
    return ", ".join(dict.fromkeys(names))


async def _primaries(address: Address) -> list[Place | None]:
    """Return the places of all primaries; None is the only engine of a URL."""
    if address.kind == "single":
        return [None]
    if address.kind == "sentinel":
        found = await _behind_sentinels(address)
        return [(found.host, found.port)]
    await _asked(endpoint(address.at(address.nodes[0])), address, others=address.nodes[1:])
    slots = await read_map(endpoint(address.at(address.nodes[0])), address.nodes)
    return [*sorted(slots.primaries)]


async def _behind_sentinels(address: Address) -> Endpoint:
    sentinels = Sentinels(address)
    try:
        return await sentinels.find()
    except NoSentinelError:
        known = await _names(sentinels)
        raise UnfitStoreError(remedies.of_unknown_name(address.name, known)) from None
    except StoreError as error:
        # Sentinels that answer name an engine: then that one is the trouble.
        problem = await sentinels.problem()
        if problem is None:
            raise UnfitStoreError(
                f"the primary that sentinels name cannot be used: {remedies.of_refusal(str(error))}"
            ) from None
        if isinstance(problem, StoreRefusedError):
            raise UnfitStoreError(remedies.of_sentinels_refusal(str(problem))) from None
        raise UnfitStoreError(await _nearby(sentinels.first, address, problem)) from None


async def _names(sentinels: Sentinels) -> list[str]:
    """Return the names that a sentinel knows, if it may be asked."""
    try:
        (found,) = await ask_once(sentinels.first, packed("SENTINEL", "MASTERS"))
    except StoreError:
        return []
    return [dict(zip(each[::2], each[1::2], strict=True))[b"name"].decode() for each in found]


async def _examined(address: Address, place: Place | None, *, durable: bool) -> str:
    url = address.url if place is None else address.at(place)
    await _asked(endpoint(url), address)
    client = connect(url)
    try:
        return await check_store(client, durable=durable)
    finally:
        await client.aclose()


async def _asked(where: Endpoint, address: Address, others: tuple[Place, ...] = ()) -> None:
    """Ask an engine what it is, or the next one if it does not answer."""
    try:
        server, replication = await ask_once(without_database(where), _SERVER, _REPLICATION)
    except StoreRefusedError as error:
        raise UnfitStoreError(remedies.of_refusal(str(error))) from None
    except StoreError as error:
        if others:
            await _asked(at(where, others[0]), address, others[1:])
            return
        raise UnfitStoreError(await _nearby(where, address, error)) from None
    told = remedies.fields_of(server), remedies.fields_of(replication)
    problem = remedies.of_engine(*told, address.kind)
    if problem is not None:
        raise UnfitStoreError(problem)
    await ask_once(where, packed("PING"))


async def _nearby(where: Endpoint, address: Address, error: StoreError) -> str:
    """Return why a connection failed, as far as other ways to connect show it."""
    suffix = "" if address.kind == "single" else f"+{address.kind}"
    forms = {"plain": f"redis{suffix}", "tls": f"rediss{suffix}"}
    if where.path:
        return str(error)
    if where.tls is None:
        if await _speaks_tls(where):
            return remedies.SPEAKS_TLS.format(**forms)
    elif "CERTIFICATE_VERIFY_FAILED" in str(error):
        return remedies.STRANGER
    elif (said := await _says_plainly(where)).startswith((b"+PONG", b"-")):
        return remedies.NO_TLS.format(**forms)
    elif said:
        return remedies.NO_STORE
    return str(error)


async def _speaks_tls(where: Endpoint) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # nothing is sent: only the handshake counts
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            _, writer = await asyncio.open_connection(where.host, where.port, ssl=context)
    except (OSError, ValueError):
        return False
    writer.transport.abort()
    return True


async def _says_plainly(where: Endpoint) -> bytes:
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            reader, writer = await asyncio.open_connection(where.host, where.port)
            try:
                writer.write(packed("PING"))
                return await reader.read(64)
            finally:
                writer.transport.abort()
    except (OSError, ValueError):
        return b""


async def _tell(address: Address, places: list[Place | None]) -> None:
    """Log the promises of all engines; those that all of them give, once."""
    by_text: dict[durability.Promise, list[str]] = {}
    for place in places:
        client = connect(address.url if place is None else address.at(place))
        try:
            found = await configuration(client)
            waits = address.wait > 0
            promises: list[durability.Promise] = list(durability.promises(found, waits=waits))
            if address.kind != "single":
                replicas = int((await client.info("replication"))["connected_slaves"])
                promises.append(durability.after_failover(address.wait, replicas))
            if address.kind == "cluster":
                text, warns = remedies.coverage(await _coverage(client) if found else None)
                promises.append(durability.Promise(text, warns))
        except RedisError as error:
            logger.warning("the store's settings cannot be read: %s", error)
            continue
        finally:
            await client.aclose()
        for promise in promises:
            where = "" if place is None else "{}:{}".format(*place)
            by_text.setdefault(promise, []).append(where)
    for promise, places_of_it in by_text.items():
        level = logging.WARNING if promise.warns else logging.INFO
        only = "" if len(places_of_it) == len(places) else f" at {', '.join(places_of_it)}"
        logger.log(level, "the store%s: %s", only, promise.text)


async def _coverage(client: Any) -> str | None:
    found = await client.config_get(COVERAGE)
    value = found.get(COVERAGE)
    return value.decode() if isinstance(value, bytes) else value
