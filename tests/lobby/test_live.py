"""Looks at running games: what a watcher sees, at no cost for the game; and the featured game."""

import json
from collections.abc import Mapping
from random import Random
from typing import Any

import msgspec
import pytest

from tests.live.live_rooms import DUEL, HIDDEN, FakeViewer, LiveNode, begin
from towerhall_protocol.codec import canonical
from towerhall_server.game import AnyGame
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.directory import PoisonedRoomError
from towerhall_server.lobby import live
from towerhall_server.lobby.live import Featured, Looks, featured_of, people_in
from towerhall_server.room.gate import key_hash


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(live, "monotonic", made)
    return made


async def playing(
    node: LiveNode, rules: AnyGame = DUEL, **settings: Any
) -> tuple[FakeViewer, FakeViewer]:
    """A game of two people that has begun."""
    actor = await node.found(rules, **settings)
    ann, ben = await node.enter(actor.code, "ann"), await node.enter(actor.code, "ben")
    await begin(ann, ben)
    await ben.reach(ann.replay.seq)
    return ann, ben


async def looked(looks: Looks, code: str) -> dict[str, Any]:
    look = await looks.at(code)
    assert look is not None
    found: dict[str, Any] = json.loads(look.body)
    return found


@pytest.mark.parametrize("rules", [HIDDEN, FIVE_TOWERS], ids=lambda rules: rules.name)
async def test_a_look_shows_what_a_watcher_sees_and_no_more(
    one: LiveNode, other: LiveNode, clock: Clock, rules: AnyGame
) -> None:
    ann, ben = await playing(one, rules)
    watcher = await one.enter(ann.code, "eve")
    here, elsewhere, chance = Looks(one.directory), Looks(other.directory), Random(1)
    for _ in range(6):
        player = ann if ann.replay.offers else ben
        await player.move(chance)
        await watcher.reach(player.replay.seq)
        clock.seconds += live.KEPT_SECONDS
        for looks in (here, elsewhere):
            found = await looked(looks, ann.code)
            assert found["seq"] == watcher.replay.seq
            assert canonical(found["view"]) == canonical(watcher.view)
        await ann.reach(watcher.replay.seq)
        await ben.reach(watcher.replay.seq)
    if rules is HIDDEN:
        assert ann.view["game"]["columns"]
        assert watcher.view["game"]["columns"] == {}, "columns are for those who own them"


async def test_a_look_opens_no_room_and_makes_no_frames_for_watchers(
    one: LiveNode, other: LiveNode
) -> None:
    ann, ben = await playing(one, HIDDEN)
    fan_out = ann.room.follower.audience.fan_out
    fan_out._views.pop("watch", None)  # of the time before they sat down
    await looked(Looks(one.directory), ann.code)
    await looked(Looks(other.directory), ann.code)
    assert len(other.directory) == 0
    player = ann if ann.replay.offers else ben
    drafted: list[set[str]] = []
    draft = fan_out.draft

    def noted(change: Any) -> Any:
        made = draft(change)
        drafted.append(set(made.views))
        return made

    fan_out.draft = noted  # type: ignore[method-assign]
    await player.move()
    assert drafted
    assert all(classes == {"0", "1"} for classes in drafted), "nobody watches"


async def test_looks_at_one_room_share_an_answer_for_some_seconds(
    one: LiveNode, other: LiveNode, clock: Clock
) -> None:
    ann, ben = await playing(one)
    looks = Looks(other.directory)
    first = await looked(looks, ann.code)
    loads = other.log.loads
    player = ann if ann.replay.offers else ben
    await player.move()
    clock.seconds += live.KEPT_SECONDS - 0.01
    assert await looked(looks, ann.code) == first
    assert other.log.loads == loads
    clock.seconds += 0.01
    newer = await looks.at(ann.code)
    assert newer is not None
    assert json.loads(newer.body)["seq"] == player.replay.seq
    assert newer.tag.strip('"').startswith(f"{player.replay.seq}-")


async def test_the_oldest_looks_are_forgotten_first(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MOST_KEPT", 2)
    looks = Looks(one.directory)
    codes = [(await one.found()).code for _ in range(3)]
    for code in codes:
        await looks.at(code)
    assert list(looks._kept) == codes[1:]
    assert await looks.at("QQQQQQ") is None
    assert list(looks._kept) == codes[1:], "unknown rooms are not kept"


async def test_a_room_that_cannot_be_read_is_told_as_such(
    one: LiveNode, other: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, _ = await playing(one)

    async def newer(code: str) -> None:
        raise msgspec.ValidationError("written by a newer server")

    monkeypatch.setattr(other.directory, "read", newer)
    with pytest.raises(PoisonedRoomError):
        await Looks(other.directory).at(ann.code)


# the featured game


def changed(actor: RoomActor, **table: object) -> None:
    """Make the table of a room another one."""
    replica = actor.follower.replica
    made = msgspec.structs.replace(replica.room.table, **table)
    replica.room = msgspec.structs.replace(replica.room, table=made)


def code_of(found: Mapping[str, object] | None) -> object:
    return None if found is None else found["code"]


async def test_the_featured_game_has_people_then_watchers_then_more_people_then_commits(
    one: LiveNode,
) -> None:
    assert featured_of(one.directory, "") is None
    bots = await one.found(bot_delay_ms=10_000)
    host = await one.enter(bots.code, "ann")
    await begin(host, bots=1)
    await host.do("leave")
    assert people_in(bots.follower.room.table) == 0, "a bot stands in"
    for name in ("eve", "fay"):
        await one.enter(bots.code, name)
    found = featured_of(one.directory, "")
    assert found is not None
    assert (found["code"], found["watchers"], found["game"]) == (bots.code, 2, DUEL.name)

    first, _ = await playing(one)
    assert code_of(featured_of(one.directory, "")) == first.code, "people come before watchers"
    further, ben = await playing(one)
    await (further if further.replay.offers else ben).move()
    assert code_of(featured_of(one.directory, "")) == further.code, "the further one"
    await one.enter(first.code, "eve")
    assert code_of(featured_of(one.directory, "")) == first.code, "watchers come before commits"
    assert featured_of(one.directory, "five_towers") is None


async def test_private_rooms_sandboxes_and_games_that_are_not_at_play_are_never_featured(
    one: LiveNode,
) -> None:
    ann, _ = await playing(one)
    table = ann.table
    settings = msgspec.structs.replace(table.settings, sandbox=2)
    for hidden in (
        {"key_hash": key_hash("secret")},
        {"settings": settings},
        {"status": "over"},
        {"status": "waiting"},
    ):
        changed(ann.room, **hidden)
        assert featured_of(one.directory, "") is None, hidden
        changed(ann.room, key_hash=b"", settings=table.settings, status="playing")
    assert featured_of(one.directory, "") is not None


async def test_the_choice_is_kept_for_a_while(one: LiveNode, clock: Clock) -> None:
    featured = Featured(one.directory)
    assert featured.of("") is None
    await playing(one)
    assert featured.of("") is None
    clock.seconds += live.FEATURED_SECONDS
    assert featured.of("") is not None
