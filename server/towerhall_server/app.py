"""The composition root: the only file that knows every part of the server.

`serve` runs until it is told to stop. uvicorn would cut connections before the application hears of
the stop, so the order is ours: mark the server not ready, refuse new rooms, tell clients to
reconnect elsewhere, stop the rooms, close connections, await appends under way, close store and
engine.
"""

import asyncio
import logging
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Final

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from towerhall_protocol.codec import FROM_CLIENT
from towerhall_protocol.statements import Sign, unsigned
from towerhall_server.access.admission import Access
from towerhall_server.access.arrivals import Arrivals
from towerhall_server.access.audit import SERVICE, Audit
from towerhall_server.access.chat_rates import ChatRates
from towerhall_server.access.origins import Origins
from towerhall_server.access.quotas import Quotas
from towerhall_server.access.rates import Buckets, Counts
from towerhall_server.access.revocations import RevocationStore
from towerhall_server.access.tokens import Tokens
from towerhall_server.accounts.service import Accounts
from towerhall_server.config.operator_options import frame_ancestors
from towerhall_server.config.settings import ServerSettings
from towerhall_server.config.texts import safe_url
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import Wake
from towerhall_server.eventlog.operators import OperatorStore
from towerhall_server.eventlog.pushes import PushStore
from towerhall_server.game import discover
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http.account_routes import AccountRoutes
from towerhall_server.gateway.http.cors import Cors
from towerhall_server.gateway.http.docs import docs_routes
from towerhall_server.gateway.http.live_routes import LiveRoutes
from towerhall_server.gateway.http.lobby_routes import LobbyRoutes
from towerhall_server.gateway.http.log_routes import LogRoutes
from towerhall_server.gateway.http.operator_routes import OperatorRoutes
from towerhall_server.gateway.http.page import page_routes
from towerhall_server.gateway.http.previews import Previews
from towerhall_server.gateway.http.protection import Protection
from towerhall_server.gateway.http.push_routes import PushRoutes
from towerhall_server.gateway.http.regular_routes import RegularRoutes
from towerhall_server.gateway.responses import error_handlers
from towerhall_server.gateway.ws.request_socket import IDLE_SECONDS, request_sockets
from towerhall_server.gateway.ws.socket import RoomSocket
from towerhall_server.live.archive import archive_of
from towerhall_server.live.directory import GO_WITHIN_MS, Directory
from towerhall_server.live.node import Node, ServiceClock
from towerhall_server.live.records import InPublic, Records
from towerhall_server.live.search_process import start_search_process
from towerhall_server.live.searches import Searches
from towerhall_server.lobby.board import Board
from towerhall_server.lobby.events import Events, Shuns
from towerhall_server.lobby.my_rooms import note_again, note_over
from towerhall_server.lobby.people import People
from towerhall_server.lobby.quickplay import Quickplay, offer_again
from towerhall_server.operators.deliveries import Deliveries, Pace
from towerhall_server.operators.operator import Operators, key_digest
from towerhall_server.operators.sender import Sender
from towerhall_server.process.background import in_background
from towerhall_server.process.descriptors import room_for_connections
from towerhall_server.process.draining import DrainingServer, for_url
from towerhall_server.process.garbage import sweep
from towerhall_server.process.workers import Crew, reserved_port
from towerhall_server.push.service import Pushes, open_pushes
from towerhall_server.push.telling import PushPace
from towerhall_server.regulars.service import regulars_of
from towerhall_server.room.state import Room
from towerhall_server.store.check import UnfitStoreError
from towerhall_server.store.engine import EmbeddedEngine, embedded_engine
from towerhall_server.store.startup import examine
from towerhall_server.telemetry.families import registry
from towerhall_server.telemetry.http_counts import CountedAnswers
from towerhall_server.telemetry.lag import watch_lag
from towerhall_server.telemetry.meters import Levels, Meters
from towerhall_server.telemetry.port import metrics_app, metrics_port
from towerhall_server.transparency.service import (
    OtherOriginError,
    Transparency,
    open_public_log,
    tapped,
)

logger = logging.getLogger(__name__)

NOTICE_SECONDS: Final = 1.5
"""Seconds that a stopping server still serves, until proxies have seen that it is not ready. A
server with a store of its own skips this: no other server could take its clients."""
PACE: Final = Pace()
PUSH_PACE: Final = PushPace()
ENGINE_RETRY_SECONDS: Final = 1.0


class Service(msgspec.Struct, frozen=True):
    """A running service without a network."""

    app: ASGIApp
    routes: LobbyRoutes
    directory: Directory
    board: Board
    events: Events
    hall: Hall


@asynccontextmanager
async def service(settings: ServerSettings, store_url: str) -> AsyncIterator[Service]:
    """All parts between the store and the network."""
    try:
        durable, told = settings.require_durable, not settings.is_embedded
        logger.info("the store is %s", await examine(store_url, durable=durable, told=told))
    except UnfitStoreError as problem:
        raise UnfitStoreError(
            f"{safe_url(store_url)} cannot be used as a store: {problem}"
        ) from None
    name = secrets.token_hex(4)
    async with EventLog(store_url, name) as log:
        operator_store = OperatorStore(log)
        lobby_store = LobbyStore(log)
        deliveries = Deliveries(
            operator_store, settings.hooks, Sender(settings.webhook_networks), PACE
        )
        meters = Meters()
        rules = discover()
        for game in rules.values():
            game.prepare()
        quotas = Quotas(log, settings.limits, meters)
        public = await _public_log(settings, log, meters)
        sign: Sign = public.signer.sign if public else unsigned
        archive = archive_of(settings.archive, settings.bucket_access)
        records = Records(
            log,
            rules,
            settings.keep_days,
            sign,
            InPublic(public.publishing.owe, public.log.proof) if public else None,
            archive,
        )

        async def shuns(person: str, host: str) -> bool:
            return await regulars.bonds.shuns(person, host)

        events = Events(name, lobby_store, lambda code: directory.open(code), shuns)

        def heard(before: Room | None, after: Room, seq: int) -> None:
            deliveries.heard(before, after)
            events.heard(before, after, seq)
            if before is None or before.table is not after.table:  # only then a game may have ended
                records.heard(before, after)
                note_over(before, after, lobby_store, settings.keep_days)
                consumer.heard(before, after)

        node = Node(
            name,
            log,
            ServiceClock(),
            rules,
            settings.keep_days,
            meters=meters,
            heard=heard,
            restored=lambda room: _put_back(room, deliveries, lobby_store),
            sign=sign,
            owe=public.publishing.owe if public else None,
            archive=archive,
            wait_ms=lambda person: quotas.take(rooms_per_identity=person),
            searches=Searches(start_search_process, settings.most_searches),
        )
        directory = Directory(node)
        await directory.beat_once()
        tokens = Tokens(settings.token_keys, settings.token_days)
        access = Access(tokens, operator_store, RevocationStore(log, tokens.most_seconds))
        accounts = Accounts(log, access, tokens.most_seconds)
        regulars, consumer = regulars_of(
            directory, lobby_store, accounts.store, settings.newcomers_chat
        )
        pushes = await _pushes(settings, log, directory, access, shuns)
        hall = Hall(
            directory,
            tokens,
            settings.limits,
            msgspec.structs.replace(FROM_CLIENT, message_bytes=settings.limits.message_bytes),
            Counts(settings.limits.sockets_per_identity),
            Counts(settings.limits.sockets_per_bot),
            Counts(settings.limits.sockets_per_ip),
            lobby_store,
            quotas,
            ChatRates(settings.limits),
            Buckets(settings.limits.gets_per_ip),
            records,
            access,
            Audit(log, meters),
            regulars,
            accounts,
            pushes,
            settings.sandbox,
        )
        if settings.sandbox:
            logger.warning("this is a sandbox for authors of clients: play no real games here")
        await hall.access.refresh()
        keys = [f"{of} {key_digest(key)}" for of, key in settings.operator_keys]
        hall.audit.note(
            SERVICE,
            "started",
            node=name,
            version=version("towerhall"),
            settings=settings.shown(),
            keys=keys,
        )
        board = Board(log)
        people = People(log, lambda: len(hall.sockets_of_identity), board.tell_online)
        quickplay = Quickplay(directory, hall.store, regulars.bonds.shunned)
        routes = LobbyRoutes(hall, Origins(settings.origins), board, events, quickplay)
        for_operators = OperatorRoutes(
            hall,
            Operators(settings.operator_keys),
            operator_store,
            await operator_store.secret(secrets.token_bytes(32)),
            60 * settings.join_minutes,
            deliveries.add,
            lambda: routes.draining,
        )
        previews = Previews(hall, frame_ancestors(settings.embedders))
        table = [
            *for_operators.table(),
            *LogRoutes(hall, public).table(routes.reading),
            *RegularRoutes(hall, routes.asking).table(routes.reading),
            *AccountRoutes(hall, routes, routes.asking).table(routes.reading),
            *PushRoutes(hall, routes.asking).table(routes.reading),
            *LiveRoutes(hall, board).table(routes.reading),
            *routes.table(),
            *docs_routes(frame_ancestors(settings.embedders)),
            *previews.table(routes.reading),
            *page_routes(frame_ancestors(settings.embedders)),
        ]
        app = Starlette(
            routes=table,
            middleware=[Middleware(Cors, settings.origins)],
            exception_handlers=error_handlers(previews.nowhere),
        )
        # An address with an extra slash is unknown, and is refused with a code.
        app.router.redirect_slashes = False

        def heard_by_all() -> AsyncIterator[Wake]:
            wakes = tapped(public, log.news())
            return log.memory.tapped(people.tapped(events.tapped(board.tapped(wakes))))

        tasks = (
            *([in_background("public log", public.publishing.run)] if public else ()),
            *([in_background("keys", public.history.follow)] if public else ()),
            in_background("beat", directory.beat),
            in_background("listen", lambda: directory.listen(heard_by_all)),
            in_background("board", board.run),
            in_background("people", people.run),
            in_background("events", events.run),
            in_background("expected people", quickplay.expected.run),
            in_background("lag", lambda: watch_lag(node.meters.lag_seconds)),
            in_background("access", hall.access.follow),
            in_background("webhooks", lambda: deliveries.run(node)),
            in_background("records", records.run),
            in_background("archive", records.archive_late),
            in_background("regulars", consumer.run),
            *([in_background("away", pushes.watch.run)] if pushes else ()),
            *([in_background("pushes", pushes.telling.run)] if pushes else ()),
        )
        try:
            # The outermost layer: otherwise answers to faults would not be counted.
            protected = Protection(app, settings.hosts, settings.hsts_days)
            counted = CountedAnswers(protected, node.meters, table)
            yield Service(counted, routes, directory, board, events, hall)
        finally:
            board.close("restart")
            events.close("restart")
            await directory.close("restart")
            await node.searches.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _public_log(
    settings: ServerSettings, log: EventLog, meters: Meters
) -> Transparency | None:
    """Return the public log, if there is a key to sign it."""
    if not settings.signing_keys:
        logger.warning(
            "TOWERHALL_SIGNING_KEYS is missing: nothing is signed, and there is no public log."
            " Players cannot prove to others what this server has told them"
        )
        return None
    chosen = settings.log_origin, settings.hosts, settings.witnesses
    try:
        return await open_public_log(log, settings.signing_keys, *chosen, meters)
    except OtherOriginError as problem:
        raise UnfitStoreError(str(problem)) from None


async def _pushes(
    settings: ServerSettings, log: EventLog, directory: Directory, access: Access, shuns: Shuns
) -> Pushes | None:
    """Return web push, unless the operator does not want it."""
    if not settings.push:
        return None
    return await open_pushes(
        PushStore(log),
        directory,
        access,
        contact=settings.push_sender,
        networks=settings.push_networks,
        pace=PUSH_PACE,
        shuns=shuns,
    )


def _put_back(room: Room, deliveries: Deliveries, lobby_store: LobbyStore) -> None:
    """A room was put back into the store. The store has lost its people, its operator's deliveries
    and its place among open rooms: note them again."""
    note_again(room, lobby_store)
    deliveries.look(room)
    offer_again(room, lobby_store)


async def serve_together(settings: ServerSettings, announce: Callable[[str], None] = print) -> None:
    """Serve with several processes that share a port and a store. This process only watches
    them."""
    async with _store(settings) as store_url:
        with reserved_port(settings.host, settings.port) as port:
            shared = msgspec.structs.replace(settings, redis_url=store_url, port=port)
            url = f"http://{for_url(settings.host)}:{port}/"
            await Crew(settings.workers, serve, shared).run(lambda: announce(url))


async def serve(
    settings: ServerSettings,
    announce: Callable[[str], None] = print,
    listening: socket.socket | None = None,
) -> None:
    """Run until SIGINT or SIGTERM. `announce` gets the address once it accepts connections."""
    async with (
        _store(settings) as store_url,
        service(settings, store_url) as running,
        _metrics(settings, running),
    ):
        limits, meters = settings.limits, running.hall.meters
        arrivals = Arrivals(
            limits.connections_per_ip, room_for_connections(), settings.trusted_proxies
        )
        config = uvicorn.Config(
            running.app,
            host=settings.host,
            port=settings.port,
            http=request_sockets(arrivals, limits, meters),
            timeout_keep_alive=IDLE_SECONDS,
            ws=RoomSocket,
            ws_max_size=settings.limits.message_bytes,
            ws_ping_interval=20,
            ws_ping_timeout=20,
            ws_per_message_deflate=False,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=list(settings.trusted_proxies),
            timeout_graceful_shutdown=round(settings.drain_seconds),
        )
        notice = 0.0 if settings.is_embedded else NOTICE_SECONDS
        server = DrainingServer(config, lambda: _drain(running, notice), announce)
        collecting = asyncio.create_task(sweep(), name="sweep")
        try:
            await server.serve([listening] if listening else None)
        finally:
            collecting.cancel()


@asynccontextmanager
async def _metrics(settings: ServerSettings, running: Service) -> AsyncIterator[None]:
    """Run the private port, if the operator wants one, until the last room has ended."""
    if not settings.metrics_port:
        yield
        return
    hall, routes = running.hall, running.routes
    about = {
        "version": version("towerhall"),
        "python": ".".join(map(str, sys.version_info[:3])),
        "node": hall.directory.node.name,
    }

    def levels() -> Levels:
        return hall.levels(ready=not (routes.leaving or routes.draining))

    shown = registry(hall.meters, levels, about)
    app = metrics_app(shown, settings.metrics_token)
    async with metrics_port(app, settings.metrics_host, settings.metrics_port):
        yield


async def _drain(running: Service, notice_seconds: float) -> None:
    """Stop in order: proxies first, then clients."""
    running.routes.leaving = True
    await asyncio.sleep(notice_seconds)
    running.routes.draining = True
    parts = (running.directory, running.board, running.events)
    await asyncio.gather(*(part.drain(GO_WITHIN_MS) for part in parts))


@asynccontextmanager
async def _store(settings: ServerSettings) -> AsyncIterator[str]:
    """Yield the URL of the operator's store, or of an embedded engine."""
    if not settings.is_embedded:
        yield settings.redis_url
        return
    async with embedded_engine(settings.data_folder) as engine:
        guard = asyncio.create_task(_keep_alive(engine), name="engine")
        try:
            yield engine.url
        finally:
            guard.cancel()
            with suppress(asyncio.CancelledError):
                await guard


async def _keep_alive(engine: EmbeddedEngine) -> None:
    """Restart the engine whenever it dies. Rooms are paused meanwhile, and nothing is lost."""
    while True:
        logger.error("the store's engine ended:\n%s", await engine.wait())
        while True:
            try:
                await engine.restart()
                break
            except Exception:
                logger.exception("the store's engine did not start")
                await asyncio.sleep(ENGINE_RETRY_SECONDS)
