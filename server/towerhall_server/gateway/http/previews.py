"""Pages whose address the server sees: a room with its preview, and an address that is unknown.

The page of a room is the page of the root, with `og:` tags in its head for readers of links. A
private room, a room that is gone and a room that never was get the same tags, after the same time.
Names are hostile: everything that enters the document is escaped. No design of the page lives here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from towerhall_server.gateway.entering import refused
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http.page import (
    ASK_EACH_TIME,
    INDEX,
    PageFile,
    answer_file,
    file_of,
    find_page,
    page_headers,
    read_page,
)
from towerhall_server.gateway.http.preview_words import WORDS, Words, language_of
from towerhall_server.live.directory import PoisonedRoomError
from towerhall_server.live.record_store import KeptRecord
from towerhall_server.room.codes import is_code
from towerhall_server.room.table import Table
from towerhall_server.room.view import host_name
from towerhall_server.store.errors import StoreError

Reading = Callable[[str, Callable[[Request], Awaitable[Response]]], Route]
OF_PROGRAMS: Final = ("/v1/", "/assets/", "/.well-known/")
"""Addresses below which an unknown name is answered as JSON."""
PICTURE: Final = "preview.png"
PICTURE_SIZE: Final = (1200, 630)
TITLE: Final = "Towerhall"
MOST_NAMES: Final = 5


class Preview(msgspec.Struct, frozen=True):
    """The tags of one document. The texts are not escaped yet."""

    title: str
    about: str


class _About(msgspec.Struct, frozen=True):
    """The part of a record that its preview shows."""

    class Seat(msgspec.Struct, frozen=True):
        name: str
        bot: str = ""

    class Result(msgspec.Struct, frozen=True):
        places: tuple[int, ...]

    game: str
    seats: tuple[Seat | None, ...]
    result: Result | None = None


class Previews:
    """The pages of rooms, and the page of an unknown address."""

    def __init__(self, hall: Hall, ancestors: str, folder: Path | None = None) -> None:
        self._hall = hall
        self._headers = page_headers(ancestors)
        files = dict(read_page(folder or find_page()))
        self._index = _rooted(files[INDEX]) if INDEX in files else None

    def table(self, reading: Reading) -> Sequence[BaseRoute]:
        return (reading("/r/{code}", self.room),)

    async def room(self, request: Request) -> Response:
        """Return the page, with the preview of a public room or of its record."""
        words = WORDS[language_of(request.headers.get("accept-language", ""))]
        preview = await self._preview(request.path_params["code"].upper(), words)
        if self._index is None:
            return Response(preview.title, headers=self._headers, media_type="text/plain")
        content = with_tags(self._index.content, preview, str(request.base_url))
        file = file_of(content, None, self._index.kind, ASK_EACH_TIME)
        return answer_file(file, request, {**self._headers, "vary": "accept-language"})

    def nowhere(self, request: Request) -> Response | None:
        """Return the page for an unknown address that a browser asks for; None for a program."""
        is_seen = "text/html" in request.headers.get("accept", "").lower()
        of_programs = request.url.path.startswith(OF_PROGRAMS)
        if self._index is None or not is_seen or of_programs or request.method != "GET":
            return None
        headers = {**self._headers, "cache-control": ASK_EACH_TIME, "vary": "accept"}
        kind = f"{self._index.kind}; charset=utf-8"
        return Response(self._index.content, 404, headers, media_type=kind)

    async def _preview(self, code: str, words: Words) -> Preview:
        asked, found = monotonic(), None
        nothing = Preview(TITLE, words.about)
        try:
            if is_code(code):
                found = await self._of_room(code, words) or await self._of_record(code, words)
            if found is None:
                await refused(self._hall.directory.node.log, asked)
        except StoreError:
            return nothing  # the page itself tells
        return found or nothing

    async def _of_room(self, code: str, words: Words) -> Preview | None:
        try:
            actor = await self._hall.directory.open(code)
        except PoisonedRoomError:
            return None
        table = None if actor is None else actor.follower.room.table
        if table is None or table.key_hash:
            return None
        people = [holder.name for holder in table.seats if holder and not holder.is_bot]
        about = [_listed(people)] if people else []
        if table.status == "waiting" and table.free_seats():
            about.append(words.free.format(n=len(table.free_seats())))
        title = _title(table, words)
        return Preview(title, ". ".join([*about, words.about]))

    async def _of_record(self, code: str, words: Words) -> Preview | None:
        kept = await self._hall.records.find(code)
        if kept is None or kept.key_hash:
            return None
        # Long records take some milliseconds to be read.
        record = await asyncio.to_thread(_read, kept)
        seats = range(len(record.seats))
        places = record.result.places if record.result else tuple(seats)
        ranked = [record.seats[seat] for seat in sorted(seats, key=lambda seat: places[seat])]
        people = [seat.name for seat in ranked if seat and not seat.bot]
        about = ". ".join([*([_listed(people)] if people else []), words.about])
        title = words.over.format(game=_name_of(record.game))
        return Preview(title, about)


def _read(kept: KeptRecord) -> _About:
    return msgspec.json.decode(kept.file, type=_About)


def with_tags(index: bytes, preview: Preview, root: str) -> bytes:
    """Put the tags into the head of the document. `root` is its origin, as the client wrote it."""
    width, height = PICTURE_SIZE
    tags: Mapping[str, str] = {
        "og:site_name": TITLE,
        "og:type": "website",
        "og:title": preview.title,
        "og:description": preview.about,
        "og:image": f"{root}{PICTURE}",
        "og:image:type": "image/png",
        "og:image:width": str(width),
        "og:image:height": str(height),
    }
    lines = [f'<meta property="{name}" content="{escape(text)}" />' for name, text in tags.items()]
    lines.append('<meta name="twitter:card" content="summary_large_image" />')
    head, end, rest = index.partition(b"</head>")
    return head + "\n".join(lines).encode() + b"\n" + end + rest


def _rooted(index: PageFile) -> PageFile:
    """The document with addresses from the root: it is shown at other addresses too."""
    content = index.content.replace(b'="./', b'="/')
    return file_of(content, None, index.kind, index.cache)


def _title(table: Table, words: Words) -> str:
    game = _name_of(table.game)
    if table.status == "over":
        return words.over.format(game=game)
    if table.status != "waiting":
        return words.runs.format(game=game)
    host = host_name(table)
    return words.invited.format(host=host, game=game) if host else words.waits.format(game=game)


def _name_of(game: str) -> str:
    return game.replace("_", " ").title()


def _listed(people: Sequence[str]) -> str:
    return ", ".join(people[:MOST_NAMES])
