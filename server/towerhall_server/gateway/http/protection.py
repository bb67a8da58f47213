"""Wraps all routes: refuses requests for other hosts, and adds security headers to every answer.

`origins` and `cors` decide who may open a socket or read an answer. `page` decides which resources
the page may load.
"""

from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from towerhall_server.access.hosts import Hosts
from towerhall_server.gateway.responses import refusal

ALWAYS: Final = frozenset({"/healthz", "/readyz"})
"""Paths that proxies and orchestrators request by any host name. Their answers hold nothing
private."""
UNUSED: Final = (
    *("accelerometer", "browsing-topics", "camera", "display-capture", "geolocation"),
    *("gyroscope", "hid", "idle-detection", "local-fonts", "magnetometer", "microphone", "midi"),
    *("payment", "serial", "usb", "xr-spatial-tracking"),
)
"""Browser features that the page never uses: denying them limits injected code."""
HEADERS: Final = {
    "permissions-policy": ", ".join(f"{feature}=()" for feature in UNUSED),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
STARTS: Final = frozenset({"http.response.start", "websocket.http.response.start"})
DAY_SECONDS: Final = 86_400


class Protection:
    """Admits requests for known hosts, and adds headers to every answer."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...], hsts_days: int) -> None:
        self._app = app
        self._hosts = Hosts(hosts)
        # No `includeSubDomains`: an operator may serve other things under names below this one.
        self._hsts = f"max-age={hsts_days * DAY_SECONDS}" if hsts_days else ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A trusted proxy may have set it (X-Forwarded-Proto): uvicorn knows which proxies are
        # trusted.
        by_tls = scope["scheme"] in ("https", "wss")

        async def protecting(message: Message) -> None:
            if message["type"] in STARTS:
                answer = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answer.setdefault(name, value)
                if by_tls and self._hsts:
                    answer["strict-transport-security"] = self._hsts
            await send(message)

        host = Headers(scope=scope).get("host")
        if scope["path"] in ALWAYS or self._hosts.answers_for(host):
            return await self._app(scope, receive, protecting)
        answer = refusal("foreign_host", {})
        if scope["type"] == "websocket":
            return await WebSocket(scope, receive, protecting).send_denial_response(answer)
        return await answer(scope, receive, protecting)
