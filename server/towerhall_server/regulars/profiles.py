"""What people may read of people: profiles, histories, leaderboards.

This module decides which people may be seen. A hidden person and a person who has blocked the
reader are answered as unknown. Names are read at the moment of the answer, so an erased name is in
no answer.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from towerhall_server.regulars.journal import MOST_PAST, RATING, Journal, read_rating
from towerhall_server.regulars.keys import board_key, person_keys
from towerhall_server.regulars.people import PeopleStore, Who
from towerhall_server.regulars.ratings import points
from towerhall_server.regulars.slips import PLACED_GAMES, Hand, Slip
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import packed

PAGE: Final = 20
MOST_PAGE: Final = 50
FIRST_LOOK: Final = 100
"""Newest games that are looked through first. All of them are read if a page needs more."""


class Wish(msgspec.Struct, frozen=True):
    """A page of a history."""

    game: str = ""
    seats: int = 0
    before: int = 0
    """Number of a slip: only older ones. 0: the newest page."""
    most: int = PAGE


class Profiles:
    """Reads the projections."""

    def __init__(self, journal: Journal, people: PeopleStore) -> None:
        self._journal, self._people = journal, people

    async def visible(self, handle: str, reader: str) -> Who | None:
        """Return a person if this reader may see the profile. The reader is a handle, or empty."""
        who = await self._people.who(handle)
        if who is None or handle == reader:
            return who
        if who.hidden or (reader and await self.has_blocked(handle, reader)):
            return None
        return who

    async def has_blocked(self, handle: str, other: str) -> bool:
        call = Call(packed("ZSCORE", person_keys(handle).blocks, other))
        return (await self._people.calls([call]))[0] is not None

    async def profile(self, who: Who) -> dict[str, object]:
        """Return a profile: name, statistics and ratings."""
        handle = who.handle
        found = (await self._people.calls([Call(packed("HGETALL", person_keys(handle).sums))]))[0]
        sums = {name.decode(): value for name, value in zip(found[::2], found[1::2], strict=True)}
        games = sorted(name.removeprefix(RATING) for name in sums if name.startswith(RATING))
        ranks = await self._people.calls(
            [Call(packed("ZREVRANK", board_key(game), handle)) for game in games]
        )
        return {
            "handle": handle,
            "name": who.name,
            "since": who.since_ms,
            "statistics": statistics(sums),
            "ratings": [
                _rating(game, sums[RATING + game], rank)
                for game, rank in zip(games, ranks, strict=True)
            ],
        }

    async def history(self, who: Who, wish: Wish, reader: str) -> dict[str, object]:
        """Return a page of the games of a person. Others see no private games."""
        games: list[dict[str, object]] = []
        rest, is_all = await self._numbers(who.handle, wish, FIRST_LOOK)
        while len(games) < wish.most:
            if len(rest) <= wish.most - len(games) and not is_all:
                rest, is_all = await self._numbers(who.handle, wish, MOST_PAST)
            if not rest:
                break
            page, rest = rest[: wish.most - len(games)], rest[wish.most - len(games) :]
            wish = msgspec.structs.replace(wish, before=page[-1])
            games += await self._games(page, who.handle, reader)
        answer: dict[str, object] = {"games": games}
        if rest and games:
            answer["before"] = games[-1]["number"]
        return answer

    async def _numbers(self, handle: str, wish: Wish, most: int) -> tuple[list[int], bool]:
        """Return the slips that fit among the newest of a person, and whether these were all."""
        read = Call(packed("LRANGE", person_keys(handle).past, 0, most - 1))
        past = (await self._people.calls([read]))[0]
        numbers = [
            number for number, game, seats in map(_past, past) if _fits(wish, number, game, seats)
        ]
        return numbers, most >= MOST_PAST or len(past) < most

    async def slips(self, handle: str) -> list[Slip]:
        """Return the slips in the history of a person."""
        call = Call(packed("LRANGE", person_keys(handle).past, 0, -1))
        numbers = [_past(entry)[0] for entry in (await self._people.calls([call]))[0]]
        return list((await self._journal.slips(numbers)).values())

    async def leaderboard(self, game: str, first: int, most: int) -> dict[str, object]:
        """Return a page of a leaderboard, from that place on, which counts from 1."""
        key = board_key(game)
        found, total = await self._people.calls(
            [
                Call(packed("ZREVRANGE", key, first - 1, first + most - 2, "WITHSCORES")),
                Call(packed("ZCARD", key)),
            ]
        )
        handles = [handle.decode() for handle in found[::2]]
        people = await self._people.all_of(handles)
        ratings = await self._people.calls(
            [Call(packed("HGET", person_keys(handle).sums, RATING + game)) for handle in handles]
        )
        rows: list[dict[str, object]] = []
        pairs = zip(handles, found[1::2], ratings, strict=True)
        for rank, (handle, score, rating) in enumerate(pairs, first):
            who = people.get(handle)
            if who is None or who.hidden:
                continue
            row = {"rank": rank, "handle": handle, "name": who.name, "points": int(score)}
            rows.append(row | ({"games": read_rating(rating).games} if rating else {}))
        answer: dict[str, object] = {"game": game, "people": rows, "total": total}
        if first + most <= total:
            answer["next"] = first + most
        return answer

    async def _games(
        self, numbers: Sequence[int], handle: str, reader: str
    ) -> list[dict[str, object]]:
        slips = await self._journal.slips(numbers)
        if reader != handle:
            slips = {number: slip for number, slip in slips.items() if not slip.private}
        people = await self._people.all_of(
            {each for slip in slips.values() for each in slip.handles}
        )
        return [
            _game(number, slips[number], handle, reader, people)
            for number in numbers
            if number in slips
        ]


def statistics(sums: Mapping[str, bytes]) -> list[dict[str, object]]:
    """Return games, places and scores by game and number of seats."""
    tables: dict[tuple[str, int], dict[str, int]] = {}
    for name, value in sums.items():
        game, _, rest = name.partition(" ")
        seats, _, what = rest.partition(" ")
        if seats.isdecimal() and what:
            tables.setdefault((game, int(seats)), {})[what] = int(value)
    return [_table(game, seats, counts) for (game, seats), counts in sorted(tables.items())]


def _table(game: str, seats: int, counts: Mapping[str, int]) -> dict[str, object]:
    places = [counts.get(str(place), 0) for place in range(1, seats + 1)]
    return {
        "game": game,
        "seats": seats,
        "games": sum(places),
        "places": places,
        "best": counts["best"],
        "sum": counts["sum"],
    }


def _rating(game: str, text: bytes, rank: int | None) -> dict[str, object]:
    rating = read_rating(text)
    shown: dict[str, object] = {
        "game": game,
        "points": points(rating),
        "games": rating.games,
        "change": rating.change,
    }
    if rating.games < PLACED_GAMES:
        shown["provisional"] = True
    return shown | ({} if rank is None else {"rank": rank + 1})


def _past(entry: bytes) -> tuple[int, str, int]:
    number, game, seats = entry.decode().split(" ")
    return int(number), game, int(seats)


def _fits(wish: Wish, number: int, game: str, seats: int) -> bool:
    return (
        (not wish.game or game == wish.game)
        and (not wish.seats or seats == wish.seats)
        and (not wish.before or number < wish.before)
    )


def _game(
    number: int, slip: Slip, handle: str, reader: str, people: Mapping[str, Who]
) -> dict[str, object]:
    shown: dict[str, object] = {
        "number": number,
        "code": slip.code,
        "game": slip.game,
        "version": slip.version,
        "ended": slip.ended_ms,
        "replay": f"/#/r/{slip.code}",
        "seats": [_seat(hand, handle, reader, people) for hand in slip.hands],
    }
    return shown | {name: True for name in ("rated", "private") if getattr(slip, name)}


def _seat(hand: Hand, handle: str, reader: str, people: Mapping[str, Who]) -> dict[str, object]:
    shown: dict[str, Any] = {"place": hand.place, "score": hand.score}
    if hand.level:
        return shown | {"bot": hand.level}
    who = people.get(hand.handle)
    if who is not None:
        # A player saw the names at the table; others see those of people who show themselves.
        if not who.hidden or reader in (hand.handle, handle):
            shown["name"] = who.name
        if not who.hidden or reader == hand.handle:
            shown["handle"] = who.handle
    if hand.handle == handle:
        shown["own"] = True
    return shown | {name: True for name in ("stand_in", "resigned") if getattr(hand, name)}
