"""Routes of the public log and of the published keys, as in C2SP tlog-tiles.

They are public, limited by the rate of the client's address. Immutable answers are marked as such,
so that proxies may cache them.
"""

from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Any, Final, TypeAlias

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from towerhall_protocol.level import LEVEL, OLDEST_LEVEL
from towerhall_protocol.tile_paths import read_tile_path
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http.routes import address_of
from towerhall_server.gateway.responses import RefusedError, answer, read_body
from towerhall_server.store.errors import StoreFullError
from towerhall_server.transparency.reading import NotCosignedError, UnknownWitnessError
from towerhall_server.transparency.service import Transparency
from towerhall_server.transparency.store import DamagedLogError

LOG: Final = "/v1/log"
WELL_KNOWN: Final = "/.well-known/towerhall"
FOR_EVER: Final = "public, max-age=31536000, immutable"
KEEP_SECONDS: Final = 0.5
"""Seconds for which counts are cached."""

Serve: TypeAlias = Callable[[Request], Awaitable[Response]]


class NewCosignature(msgspec.Struct, forbid_unknown_fields=True):
    size: int
    cosignature: str


class LogRoutes:
    """The public side of keys and log. Without a key most routes are missing."""

    def __init__(self, hall: Hall, public: Transparency | None) -> None:
        self._hall = hall
        self._public = public
        self._counted: tuple[float, dict[str, Any]] = (float("-inf"), {})

    def table(self, reading: Callable[[str, Serve], Route]) -> Sequence[BaseRoute]:
        """`reading` makes a GET route under the rate of the client's address."""
        return (
            reading(WELL_KNOWN, self.well_known),
            reading(LOG, self.about),
            reading(f"{LOG}/checkpoint", self.checkpoint),
            reading(f"{LOG}/tile/{{path:path}}", self.tile),
            Route(f"{LOG}/cosignatures", self.cosign, methods=["POST"]),
        )

    async def well_known(self, request: Request) -> Response:
        """Publish the signing keys and the address of the public log."""
        levels = {"oldest": OLDEST_LEVEL, "newest": LEVEL}
        if self._public is None:
            return answer({"levels": levels, "keys": []})
        log = self._public.log
        return answer(
            {
                "origin": log.origin,
                "levels": levels,
                "keys": self._public.history.published,
                "log": {
                    "path": LOG,
                    "key": str(log.verifier),
                    "witnesses": [str(key) for key in log.witnesses],
                },
            }
        )

    async def about(self, request: Request) -> Response:
        """Return the counts of the log."""
        public, (counted_at, about) = self._log, self._counted
        if monotonic() - counted_at > KEEP_SECONDS:
            about = await _asked(public.log.about())
            self._counted = (monotonic(), about)
        return answer(about)

    async def checkpoint(self, request: Request) -> Response:
        text = await _asked(self._log.log.checkpoint())
        if text is None:
            raise RefusedError("not_found")
        return _sent(text.encode(), "text/plain; charset=utf-8", "no-cache")

    async def tile(self, request: Request) -> Response:
        """Return hashes, or the leaves themselves."""
        path, log = read_tile_path(request.path_params["path"]), self._log.log
        if path is None:
            raise RefusedError("not_found")
        level, number, width = path
        found = log.entries(number, width) if level is None else log.tile(level, number, width)
        data = await _asked(found)
        if data is None:
            raise RefusedError("not_found")
        return _sent(data, "application/octet-stream", FOR_EVER)

    async def cosign(self, request: Request) -> Response:
        """Accept the cosignature of a witness."""
        public = self._log
        wait_ms = self._hall.gets.take(address_of(request), monotonic())
        if wait_ms:
            raise RefusedError("too_many", retry_ms=wait_ms)
        wanted = await read_body(request, NewCosignature)
        try:
            await _asked(public.log.cosign(wanted.size, wanted.cosignature))
        except UnknownWitnessError:
            raise RefusedError("forbidden", detail="no witness of this log") from None
        except NotCosignedError as problem:
            raise RefusedError("bad_request", detail=str(problem)[:120]) from None
        return answer({"size": wanted.size}, 201)

    @property
    def _log(self) -> Transparency:
        if self._public is None:
            raise RefusedError("not_found")
        return self._public


async def _asked(asking: Awaitable[Any]) -> Any:
    try:
        return await asking
    except StoreFullError:
        raise RefusedError("store_full") from None
    except DamagedLogError:
        raise RefusedError("server_fault") from None


def _sent(data: bytes, kind: str, keep: str) -> Response:
    headers = {"cache-control": keep, "x-content-type-options": "nosniff"}
    return Response(data, 200, headers, media_type=kind)
