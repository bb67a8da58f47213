"""The documentation below /docs: finds the built pages and serves them with the page's policy.

The files are read once, at startup. No text of the documentation lives here.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from towerhall_server.gateway.http.page import (
    ASK_EACH_TIME,
    OWN_SITE,
    SOURCES,
    PageFile,
    answer_file,
    page_headers,
    read_file,
)

PACKAGED: Final = Path(__file__).with_name("docs_files")
"""Folder of the documentation in a wheel."""
BUILT: Final = SOURCES / "docs" / "dist"
"""Folder of the built documentation in a source tree."""
INDEX: Final = "index"
HTML: Final = ".html"
UNBUILT: Final = """\
Towerhall serves games here, but its documentation has not been built.

In a checkout of the sources, `make docs` builds it; then start the server again.
"""


def docs_routes(ancestors: str = OWN_SITE, folder: Path | None = None) -> Sequence[BaseRoute]:
    """Routes of the pages, each with and without `.html`. `ancestors` as for the page."""
    headers = page_headers(ancestors)
    files = dict(read_docs(folder or find_docs()))

    async def start(request: Request) -> Response:
        if INDEX not in files:
            return PlainTextResponse(UNBUILT, headers=headers)
        # Links in the pages are relative, so the address must name the first page.
        return RedirectResponse(f"/docs/{INDEX}", 307, headers)

    async def give(request: Request) -> Response:
        file = files.get(request.path_params["name"].removesuffix(HTML))
        if file is None:
            raise HTTPException(404)
        return answer_file(file, request, headers)

    return [
        Route("/docs", start, methods=["GET"]),
        Route("/docs/", start, methods=["GET"]),
        Route("/docs/{name:path}", give, methods=["GET"]),
    ]


def find_docs() -> Path:
    """Return the folder of the built pages. It may not exist."""
    return PACKAGED if (PACKAGED / f"{INDEX}{HTML}").is_file() else BUILT


def read_docs(folder: Path) -> Iterator[tuple[str, PageFile]]:
    """Return all files by their path in the folder. Pages are also found without `.html`."""
    for path in sorted(folder.rglob("*")):
        file = read_file(path, ASK_EACH_TIME)
        if file is not None:
            yield path.relative_to(folder).as_posix().removesuffix(HTML), file
