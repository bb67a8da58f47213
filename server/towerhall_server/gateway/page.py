"""The small page at the root: which rooms are open, how to connect, whether all is well."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

FILES: Final = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


def page_routes() -> Sequence[BaseRoute]:
    folder = files("towerhall_server.gateway") / "page_files"
    return [
        _route(path, (folder / name).read_bytes(), kind) for path, (name, kind) in FILES.items()
    ]


def _route(path: str, content: bytes, kind: str) -> Route:
    async def give(request: Request) -> Response:
        return Response(content, 200, HEADERS, media_type=f"{kind}; charset=utf-8")

    return Route(path, give, methods=["GET"])
