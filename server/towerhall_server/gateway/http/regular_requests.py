"""Request bodies and queries about people who come back, and their validation."""

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from starlette.requests import Request

from towerhall_server.gateway.http.operator_requests import ID
from towerhall_server.gateway.responses import RefusedError
from towerhall_server.regulars.profiles import MOST_PAGE, PAGE, Wish
from towerhall_server.regulars.reports import MOST_LINES

MOST_RANK: Final = 10**9
MOST_REPORT: Final = 500
Reason = Literal["chat", "name", "cheating", "leaving", "other"]
NUMBER: Final = re.compile(r"[0-9]{1,15}-[0-9]{1,10}")
"""The form of ids that streams of the store give: lines of chat, reports."""
LineId = Annotated[str, msgspec.Meta(pattern=rf"\A{NUMBER.pattern}\Z")]


class NewChoices(msgspec.Struct, forbid_unknown_fields=True):
    """What a person chooses to show and to do; what is left out stays."""

    hidden: bool | None = None
    chat: bool | None = None


class Whom(msgspec.Struct, forbid_unknown_fields=True):
    """Another person: by handle, or by a seat in a room where the caller may be."""

    handle: str = ""
    room: str = ""
    seat: int | None = None
    remove: bool = False
    """Whether to take the friend or the block off the list."""


class NewReport(msgspec.Struct, forbid_unknown_fields=True):
    reason: Reason
    room: str = ""
    handle: str = ""
    """The person outside of rooms; such a report holds no lines of chat."""
    seat: int | None = None
    id: str = ""
    """The person as the room names them (P-19), if they have no seat."""
    text: Annotated[str, msgspec.Meta(max_length=MOST_REPORT)] = ""
    lines: Annotated[list[LineId], msgspec.Meta(max_length=MOST_LINES)] = []


class NewErasure(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    """The caller's own id, which the body must repeat: an empty request erases no one."""


class _Games(msgspec.Struct, forbid_unknown_fields=True):
    game: Annotated[str, msgspec.Meta(max_length=40)] = ""
    seats: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    before: Annotated[int, msgspec.Meta(ge=0, le=2**53)] = 0
    most: Annotated[int, msgspec.Meta(ge=1, le=MOST_PAGE)] = PAGE


class _Ranks(msgspec.Struct, forbid_unknown_fields=True):
    first: Annotated[int, msgspec.Meta(ge=1, le=MOST_RANK)] = 1
    most: Annotated[int, msgspec.Meta(ge=1, le=MOST_PAGE)] = PAGE


class _SeatInRoom(msgspec.Struct, forbid_unknown_fields=True):
    room: str
    seat: Annotated[int, msgspec.Meta(ge=0, le=100)]


class _InRoom(msgspec.Struct, forbid_unknown_fields=True):
    room: str


class _After(msgspec.Struct, forbid_unknown_fields=True):
    after: LineId | Literal[""] = ""


Query = TypeVar("Query", bound=msgspec.Struct)


def games_wish(request: Request, *, without: str = "") -> Wish:
    """The page of a history that a request asks for."""
    wanted = _query(request, _Games, without)
    return Wish(wanted.game, wanted.seats, wanted.before, wanted.most)


def ranks_wish(request: Request) -> tuple[int, int]:
    """The first place and the number of places that a request asks for."""
    wanted = _query(request, _Ranks)
    return wanted.first, wanted.most


def seat_wish(request: Request) -> tuple[str, int]:
    """The room and the seat whose person is asked for."""
    wanted = _query(request, _SeatInRoom)
    return wanted.room, wanted.seat


def room_wish(request: Request) -> str:
    """The room in which the caller's blocks are asked for."""
    return _query(request, _InRoom).room


def after_wish(request: Request) -> str:
    """The number of the last report that the caller has."""
    return _query(request, _After).after


def handle_of(text: str) -> str:
    """A handle from untrusted input. None in another form belongs to a person."""
    if not ID.fullmatch(text):
        raise RefusedError("not_found")
    return text


def _query(request: Request, kind: type[Query], without: str = "") -> Query:
    given: Mapping[str, str] = {
        name: text for name, text in request.query_params.items() if name != without
    }
    try:
        return msgspec.convert(given, kind, strict=False)
    except (msgspec.ValidationError, UnicodeError) as error:
        raise RefusedError("bad_request", detail=str(error)[:200]) from None
