"""The searches of one room for the current state of its game.

No question is searched twice in one state. A command that is sent again, decided again after a
conflict, or was searched ahead, finds the running search or its answer. All searches are dropped
when the state changes.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from towerhall_server.game import Seat
from towerhall_server.live.audience import Audience
from towerhall_server.live.searches import OnPlace, Search, Searches, Urgency
from towerhall_server.room import steps
from towerhall_server.room.search import Job
from towerhall_server.room.state import Room

MOST_KEPT: Final = 16
"""Answers kept for one state; the oldest is evicted first."""
_encode = msgspec.msgpack.Encoder(order="deterministic").encode


class CurrentSearches:
    """The searches, done or running, in the current state of one room."""

    __slots__ = ("_ahead", "_all", "_game", "_kept")

    def __init__(self, all_searches: Searches) -> None:
        self._all = all_searches
        self._game: Any = None
        self._kept: dict[bytes, Search] = {}
        self._ahead: Search | None = None

    def follow(self, room: Room, audience: Audience) -> None:
        """The room has changed: drop searches of other states, and search ahead the command that a
        person who is connected here may give."""
        if self._kept:
            self._enter(room)
        if not room.playing:
            return
        wanted = room.rules.ahead(room.game)
        if wanted is None or self._ahead is not None:
            return
        seat, command = wanted
        holder = room.table.seats[seat]
        if holder is not None and not holder.plays_as and audience.has(seat):
            self._ahead = self.decide(room, seat, command, Urgency.AHEAD)

    def decide(
        self,
        room: Room,
        seat: Seat,
        command: Mapping[str, Any],
        urgency: Urgency = Urgency.PERSON,
        on_place: OnPlace | None = None,
    ) -> Search:
        """The search for the outcome of a command, new or found."""
        job = Job(rules=room.rules, state=room.game, seat=seat, command=command)
        return self._find(room, _encode((seat, command)), job, urgency, on_place)

    def choose(self, room: Room, seat: Seat) -> Search:
        """The search for a bot's move, new or found."""
        job = steps.bot_job(room, seat)
        return self._find(room, _encode((seat, job.level)), job, Urgency.BOT, None)

    def forget(self) -> None:
        """Drop all searches."""
        for search in self._kept.values():
            self._all.drop(search)
        self._kept.clear()
        self._game = self._ahead = None

    def _enter(self, room: Room) -> None:
        """Only searches of the room's present state are kept."""
        if room.game is not self._game:
            self.forget()
            self._game = room.game

    def _find(
        self, room: Room, key: bytes, job: Job, urgency: Urgency, on_place: OnPlace | None
    ) -> Search:
        self._enter(room)
        search = self._kept.get(key)
        if search is None or _has_failed(search):
            if len(self._kept) >= MOST_KEPT:
                self._forget_oldest()
            search = self._kept[key] = self._all.begin(job, urgency, on_place)
        else:
            self._all.hurry(search, urgency, on_place)
        return search

    def _forget_oldest(self) -> None:
        """Only a search that has ended: an actor may wait for any other."""
        for key, search in self._kept.items():
            if search.ended.done():
                del self._kept[key]
                return


def _has_failed(search: Search) -> bool:
    return search.ended.done() and search.ended.exception() is not None
