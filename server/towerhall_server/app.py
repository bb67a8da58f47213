"""The composition root: the only file that knows every part of the server.

`serve` runs until it is told to stop. Stopping is an order of events, because uvicorn would cut
connections before the application hears of it: not ready any more, then no new rooms, clients told
to go elsewhere, rooms ended, connections closed, appends under way awaited, store and engine left.
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
from redis.exceptions import RedisError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from towerhall_protocol.codec import FROM_CLIENT
from towerhall_server.draining import DrainingServer, for_url
from towerhall_server.eventlog.embedded import EmbeddedEngine, embedded_engine
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.store import UnfitStoreError, check_store, connect
from towerhall_server.eventlog.wakes import listen
from towerhall_server.game import discover
from towerhall_server.gateway.cors import Cors
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http import error_handlers
from towerhall_server.gateway.limits import Counts
from towerhall_server.gateway.lobby_routes import LobbyRoutes
from towerhall_server.gateway.operator_routes import OperatorRoutes
from towerhall_server.gateway.origins import Origins
from towerhall_server.gateway.page import page_routes
from towerhall_server.gateway.quotas import Quotas
from towerhall_server.gateway.socket import RoomSocket
from towerhall_server.gateway.tokens import Tokens
from towerhall_server.lasting import lasting
from towerhall_server.lobby.board import Board
from towerhall_server.lobby.quickplay import Quickplay
from towerhall_server.lobby.store import LobbyStore
from towerhall_server.operators.deliveries import Deliveries, Pace
from towerhall_server.operators.keys import Operators
from towerhall_server.operators.options import frame_ancestors
from towerhall_server.operators.sender import Sender
from towerhall_server.operators.store import OperatorStore
from towerhall_server.room.clock import ServiceClock
from towerhall_server.room.directory import GO_WITHIN_MS, Directory
from towerhall_server.room.node import Node
from towerhall_server.setting_texts import safe_url
from towerhall_server.settings import Settings
from towerhall_server.sweeping import sweep
from towerhall_server.telemetry.answers import CountedAnswers
from towerhall_server.telemetry.families import registry
from towerhall_server.telemetry.lag import watch_lag
from towerhall_server.telemetry.meters import Levels, Meters
from towerhall_server.telemetry.port import metrics_app, metrics_port
from towerhall_server.workers import Crew, reserved_port

logger = logging.getLogger(__name__)

NOTICE_SECONDS: Final = 1.5
"""So long a server that is about to stop serves on, until proxies have seen that it is not ready.
Where a server has a store of its own there is nobody else to send people to."""
PACE: Final = Pace()
ENGINE_RETRY_SECONDS: Final = 1.0


class Service(msgspec.Struct, frozen=True):
    """A running service without a network."""

    app: ASGIApp
    routes: LobbyRoutes
    directory: Directory
    board: Board
    hall: Hall


@asynccontextmanager
async def service(settings: Settings, store_url: str) -> AsyncIterator[Service]:
    """Everything between the store and the network."""
    checker = connect(store_url)
    try:
        logger.info("the store is %s", await check_store(checker))
    except RedisError as error:
        raise UnfitStoreError(f"{safe_url(store_url)} cannot be used as a store: {error}") from None
    finally:
        await checker.aclose()
    name = secrets.token_hex(4)
    async with EventLog(store_url, name) as log:
        operator_store = OperatorStore(log)
        deliveries = Deliveries(
            operator_store, settings.hooks, Sender(settings.webhook_networks), PACE
        )
        meters = Meters()
        quotas = Quotas(log, settings.limits, meters)
        node = Node(
            name,
            log,
            ServiceClock(),
            discover(),
            settings.keep_days,
            meters=meters,
            heard=deliveries.heard,
            wait_ms=lambda person: quotas.take(rooms_per_identity=person),
        )
        directory = Directory(node)
        await directory.beat_once()
        hall = Hall(
            directory,
            Tokens(settings.token_keys, settings.token_days),
            settings.limits,
            msgspec.structs.replace(FROM_CLIENT, message_bytes=settings.limits.message_bytes),
            Counts(settings.limits.sockets_per_identity),
            Counts(settings.limits.sockets_per_ip),
            LobbyStore(log),
            quotas,
        )
        await hall.bans.read(operator_store)
        board = Board(log)
        quickplay = Quickplay(directory, hall.store)
        routes = LobbyRoutes(hall, Origins(settings.origins), board, quickplay)
        for_operators = OperatorRoutes(
            hall,
            Operators(settings.operator_keys),
            operator_store,
            await operator_store.secret(secrets.token_bytes(32)),
            60 * settings.join_minutes,
            deliveries.add,
            lambda: routes.draining,
        )
        table = [
            *for_operators.table(),
            *routes.table(),
            *page_routes(frame_ancestors(settings.embedders)),
        ]
        app = Starlette(
            routes=table,
            middleware=[Middleware(Cors, settings.origins)],
            exception_handlers=error_handlers(),
        )
        # An address with a slash too many is an unknown one, and is told so with its code.
        app.router.redirect_slashes = False
        tasks = (
            lasting("beat", directory.beat),
            lasting(
                "listen", lambda: directory.listen(lambda: board.tapped(listen(store_url, name)))
            ),
            lasting("board", board.run),
            lasting("coming", quickplay.coming.run),
            lasting("lag", lambda: watch_lag(node.meters.lag_seconds)),
            lasting("bans", lambda: hall.bans.follow(operator_store)),
            lasting("webhooks", lambda: deliveries.run(node)),
        )
        try:
            # Around everything, or answers to faults would not be counted.
            yield Service(CountedAnswers(app, node.meters, table), routes, directory, board, hall)
        finally:
            board.close("restart")
            await directory.close("restart")
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def serve_together(settings: Settings, announce: Callable[[str], None] = print) -> None:
    """The same in several processes that share a port and a store. This one only watches them."""
    async with _store(settings) as store_url:
        with reserved_port(settings.host, settings.port) as port:
            shared = msgspec.structs.replace(settings, redis_url=store_url, port=port)
            url = f"http://{for_url(settings.host)}:{port}/"
            await Crew(settings.workers, serve, shared).run(lambda: announce(url))


async def serve(
    settings: Settings,
    announce: Callable[[str], None] = print,
    listening: socket.socket | None = None,
) -> None:
    """Run until SIGINT or SIGTERM. `announce` gets the address once it can be opened."""
    async with (
        _store(settings) as store_url,
        service(settings, store_url) as running,
        _metrics(settings, running),
    ):
        config = uvicorn.Config(
            running.app,
            host=settings.host,
            port=settings.port,
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
        meters = running.hall.meters
        sweeping = asyncio.create_task(sweep(lambda: meters.left_behind), name="sweep")
        try:
            await server.serve([listening] if listening else None)
        finally:
            sweeping.cancel()


@asynccontextmanager
async def _metrics(settings: Settings, running: Service) -> AsyncIterator[None]:
    """The private port, if the operator wants one. It is there until the last room has ended."""
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
    """Leave in good order: proxies first, then clients."""
    running.routes.leaving = True
    await asyncio.sleep(notice_seconds)
    running.routes.draining = True
    await asyncio.gather(running.directory.drain(GO_WITHIN_MS), running.board.drain(GO_WITHIN_MS))


@asynccontextmanager
async def _store(settings: Settings) -> AsyncIterator[str]:
    """The URL of the operator's store, or of an engine that runs as long as the server."""
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
    """An engine that dies is started again; meanwhile rooms are paused, and nothing is lost."""
    while True:
        logger.error("the store's engine ended:\n%s", await engine.wait())
        while True:
            try:
                await engine.restart()
                break
            except Exception:
                logger.exception("the store's engine does not start")
                await asyncio.sleep(ENGINE_RETRY_SECONDS)
