"""Friends and blocks. Two people are friends if each has chosen the other.

A person who is chosen is told, unless they have blocked the other one: that one notices nothing.
Lists hold handles only. People who were erased drop out of a list when its owner reads it.
"""

from collections.abc import Callable, Iterable, Sequence
from time import time
from typing import Any, Final, Literal

from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.scripts import run_call
from towerhall_server.regulars.journal import load_script
from towerhall_server.regulars.keys import PersonKeys, person_keys
from towerhall_server.regulars.people import PeopleStore, Who
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import packed

MOST_FRIENDS: Final = 500
MOST_BLOCKS: Final = 1000
MOST_BLOCKERS: Final = 1000
"""People who have blocked one person; the oldest is forgotten first."""
MOST_ASKING: Final = 200
"""People who ask for friendship; the oldest is forgotten first."""
_ADD: Final = load_script("add.lua")
Added = Literal["done", "nobody", "full"]
_ADDED: Final[dict[int, Added]] = {1: "done", 0: "nobody", -1: "full"}


class Bonds:
    """The lists of people in the store."""

    def __init__(self, log: EventLog, people: PeopleStore) -> None:
        self._log, self._people = log, people

    async def befriend(self, own: str, other: str) -> Added:
        """Choose another person as a friend."""
        mine, theirs = person_keys(own), person_keys(other)
        if await self._people.who(other) is None:
            return "nobody"
        added = await self._add(mine, mine.friends, other, MOST_FRIENDS, "refuse")
        if added == "done":
            await self.unblock(own, other)
            if not await self._has(theirs.blocks, own):
                await self._add(theirs, theirs.asking, own, MOST_ASKING, "forget")
        return added

    async def unfriend(self, own: str, other: str) -> None:
        """Take the choice back, and refuse what the other one asked."""
        mine = person_keys(own)
        await self._drop(mine.friends, other)
        await self._drop(mine.asking, other)
        await self._drop(person_keys(other).asking, own)

    async def block(self, own: str, other: str) -> Added:
        """Block another person: no profile, no question of friendship, no match, no invitation."""
        mine, theirs = person_keys(own), person_keys(other)
        if await self._people.who(other) is None:
            return "nobody"
        # The way back comes first: after an interruption it does no harm alone.
        await self._add(theirs, theirs.blockers, own, MOST_BLOCKERS, "forget")
        added = await self._add(mine, mine.blocks, other, MOST_BLOCKS, "refuse")
        if added == "done":
            await self.unfriend(own, other)
        else:
            await self._drop(theirs.blockers, own)
        return added

    async def unblock(self, own: str, other: str) -> None:
        await self._drop(person_keys(own).blocks, other)
        await self._drop(person_keys(other).blockers, own)

    async def blocked_ids(self, identity: str) -> frozenset[str]:
        """Return the ids of the people whom a person has blocked."""
        return await self._ids(identity, lambda keys: (keys.blocks,))

    async def shunned(self, identity: str) -> frozenset[str]:
        """Return the ids of the people with whom a person is not matched: one has blocked the
        other. It takes three round trips, however many they are."""
        return await self._ids(identity, lambda keys: (keys.blocks, keys.blockers))

    async def shuns(self, identity: str, other: str) -> bool:
        """Return whether a person has blocked another one. Both are ids."""
        own = await self._people.handle_of(identity) if other else ""
        theirs = await self._people.handle_of(other) if own else ""
        return bool(theirs) and await self._has(person_keys(own).blocks, theirs)

    async def forget(self, own: str, met: Iterable[str]) -> None:
        """Take a person off the lists of all others who are named by theirs, and of those met."""
        mine = person_keys(own)
        lists = (mine.friends, mine.asking, mine.blocks, mine.blockers, mine.met)
        found = await self._people.calls([Call(packed("ZRANGE", name, 0, -1)) for name in lists])
        friends, asking, blocks, blockers, newest = map(_texts, found)
        names = [
            *(person_keys(each).asking for each in friends),
            *(person_keys(each).friends for each in asking),
            *(person_keys(each).blockers for each in blocks),
            *(person_keys(each).blocks for each in blockers),
            *(person_keys(each).met for each in sorted({*newest, *met})),
        ]
        await self._people.calls([Call(packed("ZREM", name, own)) for name in names])

    async def lists(self, own: str) -> dict[str, list[dict[str, object]]]:
        """Return friends, those asked and asking, those blocked, and recent opponents."""
        mine = person_keys(own)
        names = (mine.friends, mine.asking, mine.blocks, mine.met)
        calls = [Call(packed("ZREVRANGE", name, 0, -1)) for name in names]
        chosen, asking, blocked, met = map(_texts, await self._people.calls(calls))
        mutual = set(chosen) & set(asking)
        people = await self._people.all_of({*chosen, *asking, *blocked, *met})
        for name, handles in zip(names, (chosen, asking, blocked, met), strict=True):
            gone = [handle for handle in handles if handle not in people]
            if gone:
                await self._people.calls([Call(packed("ZREM", name, *gone))])

        def shown(handles: Sequence[str], *, named: bool = False) -> list[dict[str, object]]:
            return [_shown(people[handle], named=named) for handle in handles if handle in people]

        hidden = {*blocked}
        return {
            "friends": shown([each for each in chosen if each in mutual], named=True),
            "asked": shown([each for each in chosen if each not in mutual]),
            "asking": shown([each for each in asking if each not in mutual | hidden], named=True),
            "blocked": shown(blocked),
            "met": shown([each for each in met if each not in hidden]),
        }

    async def _ids(
        self, identity: str, lists: Callable[[PersonKeys], tuple[str, ...]]
    ) -> frozenset[str]:
        """Return the ids of the people on some lists of a person."""
        own = await self._people.handle_of(identity)
        if not own:
            return frozenset()
        calls = [Call(packed("ZRANGE", name, 0, -1)) for name in lists(person_keys(own))]
        handles = {each for found in await self._people.calls(calls) for each in _texts(found)}
        return frozenset(who.id for who in (await self._people.all_of(handles)).values())

    async def _add(self, keys: PersonKeys, name: str, handle: str, most: int, full: str) -> Added:
        now_ms = round(1000 * time())
        call = run_call(_ADD, (keys.who, name), handle, now_ms, most, full)
        return _ADDED[await self._log.call(call)]

    async def _has(self, name: str, handle: str) -> bool:
        return await self._log.call(Call(packed("ZSCORE", name, handle))) is not None

    async def _drop(self, name: str, handle: str) -> None:
        await self._log.call(Call(packed("ZREM", name, handle)))


def _texts(found: list[Any]) -> list[str]:
    return [each.decode() for each in found]


def _shown(who: Who, *, named: bool) -> dict[str, object]:
    shown: dict[str, object] = {"handle": who.handle}
    return shown | ({"name": who.name} if named or not who.hidden else {})
