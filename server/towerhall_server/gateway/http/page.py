"""The page at the root: finds the built files and serves them with a strict policy.

The files are read once, at startup. No text and no design of the page lives here.
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

from towerhall_server.gateway.responses import has, takes_gzip

PACKAGED: Final = Path(__file__).with_name("page_files")
"""Folder of the page in a wheel."""
SOURCES: Final = Path(__file__).parents[4]
"""The root of the repository, unless this is an installed wheel."""
BUILT: Final = SOURCES / "clients" / "web" / "dist"
"""Folder of the built page in a source tree: an editable install does not copy it."""
INDEX: Final = "index.html"
PATHS: Final = ("/", "/playground")
"""Paths at which the page is found. All its other addresses are fragments, or those of rooms."""
ASSETS: Final = "assets"
"""Folder whose file names contain a hash of the content, so their content never changes."""
PACKED: Final = ".gz"

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'none';"
    " require-trusted-types-for 'script'; trusted-types svelte-trusted-html towerhall-worker"
)
"""Sockets to the own host belong to 'self'. Only what the page was compiled from becomes markup,
and only the page's own service worker is started. A `blob:` is a picture that the page has drawn
itself, on its way to a file."""
HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
OWN_SITE: Final = "'self'"
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
    """The headers and bytes of one file."""

    content: bytes
    packed: bytes | None
    """The gzipped bytes, if the build found them worthwhile."""
    kind: str
    cache: str
    tag: str


def page_routes(ancestors: str = OWN_SITE, folder: Path | None = None) -> Sequence[BaseRoute]:
    """Routes of the page and its files. `ancestors` are the sites that may embed it."""
    headers = page_headers(ancestors)
    files = dict(read_page(folder or find_page()))
    if INDEX not in files:
        files = {INDEX: file_of(UNBUILT.encode(), None, "text/plain", ASK_EACH_TIME)}
    index = files.pop(INDEX)
    assets = {name: file for name, file in files.items() if "/" in name}
    return [
        *(_route(path, {"": index}, headers) for path in PATHS),
        *(_route(f"/{name}", {"": files[name]}, headers) for name in files.keys() - assets.keys()),
        _route(f"/{ASSETS}/{{name}}", assets, headers),
    ]


def page_headers(ancestors: str) -> Mapping[str, str]:
    """The headers of every file, with the policy. `ancestors` as for `page_routes`."""
    headers = {**HEADERS, "content-security-policy": f"{POLICY}; frame-ancestors {ancestors}"}
    if ancestors != OWN_SITE:
        # An isolated page (COEP) embeds only resources that allow it.
        headers["cross-origin-resource-policy"] = "cross-origin"
    return headers


def find_page() -> Path:
    """Return the folder of the built page. It may not exist."""
    return PACKAGED if (PACKAGED / INDEX).is_file() else BUILT


def read_page(folder: Path) -> Iterator[tuple[str, PageFile]]:
    """Return all files of the page by name. Immutable files have their own folder."""
    for path in sorted([*folder.glob("*.*"), *(folder / ASSETS).glob("*.*")]):
        kept = path.parent.name == ASSETS
        file = read_file(path, KEEP if kept else ASK_EACH_TIME)
        if file is not None:
            yield path.relative_to(folder).as_posix(), file


def read_file(path: Path, cache: str) -> PageFile | None:
    """Return a file with its gzipped twin; None if files of its kind are not served."""
    kind = KINDS.get(path.suffix)
    if kind is None or not path.is_file():
        return None
    packed = path.with_name(path.name + PACKED)
    return file_of(
        path.read_bytes(), packed.read_bytes() if packed.is_file() else None, kind, cache
    )


def file_of(content: bytes, packed: bytes | None, kind: str, cache: str) -> PageFile:
    return PageFile(content, packed, kind, cache, sha256(content).hexdigest()[:20])


def _route(path: str, files: Mapping[str, PageFile], headers: Mapping[str, str]) -> Route:
    async def give(request: Request) -> Response:
        name = request.path_params.get("name", "")
        file = files.get(f"{ASSETS}/{name}" if name else "")
        if file is None:
            raise HTTPException(404)
        return answer_file(file, request, headers)

    return Route(path, give, methods=["GET"])


def answer_file(file: PageFile, request: Request, headers: Mapping[str, str]) -> Response:
    """Return the file, gzipped if the client accepts that, or 304 if the client has it."""
    content, tag, more = file.content, f'"{file.tag}"', dict(headers)
    if file.packed is not None:
        more["vary"] = "accept-encoding"
        if takes_gzip(request):
            content, tag = file.packed, f'"{file.tag}-gz"'
            more["content-encoding"] = "gzip"
    more |= {"cache-control": file.cache, "etag": tag}
    if has(request, tag):
        more.pop("content-encoding", None)
        return Response(status_code=304, headers=more)
    return Response(content, 200, more, media_type=f"{file.kind}; charset=utf-8")
