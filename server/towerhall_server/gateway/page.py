"""The small page at the root: which rooms are open, how to connect, whether all is well."""

from collections.abc import Mapping, Sequence
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
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';"
    " base-uri 'none'; form-action 'none'"
)
HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


def page_routes(ancestors: str = "'self'") -> Sequence[BaseRoute]:
    """The page and its files. `ancestors` says who may show it inside a page of their own."""
    folder = files("towerhall_server.gateway") / "page_files"
    policy = f"{POLICY}; frame-ancestors {ancestors}"
    headers = {**HEADERS, "content-security-policy": policy}
    return [
        _route(path, (folder / name).read_bytes(), kind, headers)
        for path, (name, kind) in FILES.items()
    ]


def _route(path: str, content: bytes, kind: str, headers: Mapping[str, str]) -> Route:
    async def give(request: Request) -> Response:
        return Response(content, 200, headers, media_type=f"{kind}; charset=utf-8")

    return Route(path, give, methods=["GET"])
