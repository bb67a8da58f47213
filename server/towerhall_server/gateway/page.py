"""The page at the root: finds the built files, and serves them with a strict policy.

The files are read once, when the server starts. No word and no look of the page lives here.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

PACKAGED: Final = Path(__file__).with_name("page_files")
"""Where a wheel has the page."""
BUILT: Final = Path(__file__).parents[3] / "clients" / "web" / "dist"
"""Where the sources have it once it is built: an editable install does not copy it."""
INDEX: Final = "index.html"
ASSETS: Final = "assets"
"""In this folder every name holds a hash of the content, so content never changes."""
PACKED: Final = ".gz"

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';"
    " manifest-src 'self'; base-uri 'none'; form-action 'none';"
    " require-trusted-types-for 'script'; trusted-types svelte-trusted-html"
)
"""Sockets to the own host belong to 'self'. Only what the page was compiled from becomes markup."""
HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
ASK_EACH_TIME: Final = "no-cache"
KEEP: Final = "public, max-age=31536000, immutable"
KINDS: Final = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".webmanifest": "application/manifest+json",
}
UNBUILT: Final = """\
Towerhall serves games here, but its page has not been built.

In a checkout of the sources, `make web` builds it; then start the server again.
All else works without it: see /v1/games and /v1/rooms, or `towerhall play`.
"""


class PageFile(msgspec.Struct, frozen=True):
    """One file as it is sent."""

    content: bytes
    packed: bytes | None
    """The same as gzip, if the build found that worth it."""
    kind: str
    cache: str
    tag: str


def page_routes(ancestors: str = "'self'", folder: Path | None = None) -> Sequence[BaseRoute]:
    """The page and its files. `ancestors` says who may show it inside a page of their own."""
    headers = {**HEADERS, "content-security-policy": f"{POLICY}; frame-ancestors {ancestors}"}
    files = dict(read_page(folder or find_page()))
    if INDEX not in files:
        files = {INDEX: _file(UNBUILT.encode(), None, "text/plain", ASK_EACH_TIME)}
    index = files.pop(INDEX)
    assets = {name: file for name, file in files.items() if "/" in name}
    return [
        _route("/", {"": index}, headers),
        *(_route(f"/{name}", {"": files[name]}, headers) for name in files.keys() - assets.keys()),
        _route(f"/{ASSETS}/{{name}}", assets, headers),
    ]


def find_page() -> Path:
    """The folder of the built page; it need not exist."""
    return PACKAGED if (PACKAGED / INDEX).is_file() else BUILT


def read_page(folder: Path) -> Iterator[tuple[str, PageFile]]:
    """All files of the page by name; those that never change are in their own folder."""
    for path in sorted([*folder.glob("*.*"), *(folder / ASSETS).glob("*.*")]):
        kind = KINDS.get(path.suffix)
        if kind is None or not path.is_file():
            continue
        kept = path.parent.name == ASSETS
        packed = path.with_name(path.name + PACKED)
        yield (
            path.relative_to(folder).as_posix(),
            _file(
                path.read_bytes(),
                packed.read_bytes() if packed.is_file() else None,
                kind,
                KEEP if kept else ASK_EACH_TIME,
            ),
        )


def _file(content: bytes, packed: bytes | None, kind: str, cache: str) -> PageFile:
    return PageFile(content, packed, kind, cache, sha256(content).hexdigest()[:20])


def _route(path: str, files: Mapping[str, PageFile], headers: Mapping[str, str]) -> Route:
    async def give(request: Request) -> Response:
        name = request.path_params.get("name", "")
        file = files.get(f"{ASSETS}/{name}" if name else "")
        if file is None:
            raise HTTPException(404)
        return _answer(file, request, headers)

    return Route(path, give, methods=["GET"])


def _answer(file: PageFile, request: Request, headers: Mapping[str, str]) -> Response:
    content, tag, more = file.content, f'"{file.tag}"', dict(headers)
    if file.packed is not None:
        more["vary"] = "accept-encoding"
        if _takes_gzip(request.headers.get("accept-encoding", "")):
            content, tag = file.packed, f'"{file.tag}-gz"'
            more["content-encoding"] = "gzip"
    more |= {"cache-control": file.cache, "etag": tag}
    if tag in _listed(request.headers.get("if-none-match", "")):
        more.pop("content-encoding", None)
        return Response(status_code=304, headers=more)
    return Response(content, 200, more, media_type=f"{file.kind}; charset=utf-8")


def _takes_gzip(accepted: str) -> bool:
    """Whether a list such as `br, gzip;q=0.5` holds gzip, and not only to refuse it."""
    for item in accepted.lower().split(","):
        name, _, weight = item.partition(";")
        if name.strip() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _listed(tags: str) -> list[str]:
    """The tags of a header; proxies that compress mark them as weak."""
    return [tag.strip().removeprefix("W/") for tag in tags.split(",")]
