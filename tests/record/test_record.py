"""The record of a game: what is in it, where it comes from, and who keeps it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from tests.games.tile_duel import GAME as TILE_DUEL
from tests.record.record_games import (
    GAMES,
    HOST,
    PEOPLE,
    STORIES,
    Story,
    Tape,
    cancel_a_deal,
    deal,
    forged,
    new_tape,
    record_of_story,
    seat_everybody,
    told,
)
from tests.store.engines import client, running
from towerhall_protocol.commands import from_base64url
from towerhall_protocol.fairness import (
    NO_NONCE,
    Act,
    commitment,
    game_seed,
    nonce_hash,
    witnessed,
)
from towerhall_protocol.merge_patch import apply
from towerhall_server.eventlog.answers import Gone
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.log import PAGE, EventLog
from towerhall_server.game import Seat
from towerhall_server.live.record_store import (
    RecordNotReadyError,
    find_or_make_record,
    keep_record,
    make_record,
    record_of,
)
from towerhall_server.record.verify import verify
from towerhall_server.room.closing import close_step
from towerhall_server.room.commits import decode_commit
from towerhall_server.room.view import view

SEED = bytes(range(32))
DAY_MS = 86_400_000
CODE = "ABCDEF"
LONG = STORIES[2]


def content(record: bytes) -> Any:
    return msgspec.json.decode(record)


def plain(value: object) -> Any:
    return content(msgspec.json.encode(value))


# Witnesses of chance


def test_a_shuffle_is_one_draw_and_a_number_another() -> None:
    with witnessed() as draws:
        order = Act(SEED, 3).shuffle("badc")
        number = Act(SEED, 4).below(6)
    shuffled, thrown = draws
    assert (shuffled.seed, shuffled.act) == (SEED, 3)
    assert (shuffled.given, shuffled.result) == (("a", "b", "c", "d"), tuple(order))
    assert (thrown.act, thrown.given, thrown.result) == (4, 6, number)


def test_draws_of_one_act_are_told_apart_and_the_same_draw_is_equal() -> None:
    with witnessed() as draws:
        for _ in range(2):
            act = Act(SEED, 0)
            for _ in range(20):
                act.below(2)
    assert draws[:20] == draws[20:]
    assert len(set(draws)) == 20


def test_only_what_is_drawn_inside_is_witnessed() -> None:
    Act(SEED, 0).below(6)
    with witnessed() as outer:
        Act(SEED, 1).below(6)
        with suppress(ZeroDivisionError), witnessed() as inner:
            Act(SEED, 2).below(6)
            raise ZeroDivisionError
        Act(SEED, 3).below(6)
    Act(SEED, 4).below(6)
    assert [draw.act for draw in outer] == [1, 3]
    assert [draw.act for draw in inner] == [2]


def test_a_witness_changes_nothing() -> None:
    alone = Act(SEED, 7).shuffle(range(50))
    with witnessed():
        assert Act(SEED, 7).shuffle(range(50)) == alone


# What is in a record


@pytest.fixture(params=STORIES, ids=lambda story: f"{story.game}-{story.seed}")
def story(request: pytest.FixtureRequest) -> Story:
    chosen: Story = request.param
    return chosen


def test_the_frames_lead_from_nothing_to_the_final_view(story: Story) -> None:
    document, seen = content(record_of_story(story)), dict[str, object]()
    for seq, (name, number, _, _, _, patch) in enumerate(document["frames"], start=1):
        assert (name, number) == ("frame", seq)
        seen = apply(seen, patch)
    final = view(told(story).room, "watch")
    assert seen == plain(final)


def test_the_head_tells_the_room_and_how_it_ended(story: Story) -> None:
    document, table = content(record_of_story(story)), told(story).room.table
    assert document["code"] == table.code
    assert (document["game"], document["version"]) == (story.game, 1)
    assert document["options"] == msgspec.to_builtins(table.options)
    assert document["settings"] == {"turn_seconds": story.turn_seconds, "bot_delay_ms": 300}
    names = [seat["name"] for seat in document["seats"]]
    assert names[: story.persons] == [person.name for person in PEOPLE[: story.persons]]
    assert all("bot" in seat for seat in document["seats"][story.persons :])
    assert document["result"] == plain(table.result)
    assert "closed" not in document


def test_the_proof_leads_from_secret_and_nonces_to_the_seed(story: Story) -> None:
    document = content(record_of_story(story))
    proof, uid = document["proof"], from_base64url(document["uid"])
    assert from_base64url(proof["commitment"]) == commitment(uid, from_base64url(proof["secret"]))
    *cancelled, dealt = proof["deals"]
    assert [one["outcome"] for one in cancelled] == ["cancelled"] * story.cancelled
    assert all(one["unseated"] == [story.sealed[-1]] for one in cancelled)
    for number, one in enumerate(proof["deals"], start=1):
        assert one["deal"] == number
        for hand in one["seats"]:
            if "nonce" in hand:
                assert from_base64url(hand["nonce_hash"]) == nonce_hash(
                    uid, from_base64url(hand["nonce"])
                )
    took_part = [seat for seat, hand in enumerate(dealt["seats"]) if "nonce" in hand]
    assert tuple(took_part) == story.sealed
    nonces = [
        from_base64url(hand["nonce"]) if "nonce" in hand else NO_NONCE for hand in dealt["seats"]
    ]
    seed = game_seed(from_base64url(proof["secret"]), uid, dealt["deal"], nonces)
    assert from_base64url(dealt["seed"]) == seed


def test_the_draws_can_be_made_again_from_the_seed_alone(story: Story) -> None:
    document = content(record_of_story(story))
    dealt = document["proof"]["deals"][-1]
    assert document["draws"]
    for number, act, kind, given, result in document["draws"]:
        assert number == dealt["deal"]
        again = Act(from_base64url(dealt["seed"]), act)
        if kind == "shuffle":
            assert given == sorted(given)
            assert again.shuffle(given) == result
        else:
            assert again.below(given) == result


def test_five_towers_draws_one_pile_one_start_player_and_one_more_pile() -> None:
    draws = content(record_of_story(STORIES[2]))["draws"]
    assert [(act, kind) for _, act, kind, _, _ in draws] == [
        (0, "shuffle"),
        (1, "below"),
        (2, "shuffle"),
    ]


def test_a_lot_drawn_for_somebody_whose_time_was_up_is_among_the_draws() -> None:
    draws = content(record_of_story(STORIES[5]))["draws"]
    assert any(act >= 1000 for _, act, _, _, _ in draws)


def test_what_is_drawn_from_anything_but_the_deals_seed_is_no_draw_of_the_game() -> None:
    def musing(state: Any, seat: Seat, command: object) -> Any:
        Act(SEED, 0).below(6)
        return TILE_DUEL.decide(state, seat, command)

    game, tape = replace(TILE_DUEL, decide=musing), told(STORIES[5])
    record = make_record({game.name: game}, tape.secret, tape.entries)
    assert record == record_of_story(STORIES[5])


def test_a_record_of_a_long_game_is_compact() -> None:
    commits = len(told(STORIES[2]).entries)
    assert commits > 200
    assert len(record_of_story(STORIES[2])) < 450 * commits


def test_the_same_log_gives_the_same_bytes(story: Story) -> None:
    tape = told(story)
    assert tape.record() == record_of_story(story)


# Rooms that end otherwise, or not at all


def test_a_running_room_has_no_record() -> None:
    whole = told(STORIES[0]).entries
    for length in range(1, len(whole)):
        with pytest.raises(RecordNotReadyError):
            make_record(GAMES, told(STORIES[0]).secret, whole[:length])


def test_a_room_that_was_left_while_waiting_has_a_record_without_a_deal() -> None:
    tape = new_tape()
    tape.say(HOST, "sit")
    tape.wait()
    document = content(tape.record())
    assert document["closed"] == "abandoned"
    assert document["seats"] == [{"name": HOST.name}, None, None]
    assert "result" not in document
    assert document["proof"]["deals"] == document["draws"] == []
    assert verify(tape.record(), GAMES) == ()


def test_an_abandoned_game_reveals_its_secret_and_draws_too() -> None:
    tape = new_tape(seats=2)
    people = seat_everybody(tape, 2, sealed=(0, 1))
    cancel_a_deal(tape, people, people[1])
    deal(tape, people)
    tape.play_on(4)
    tape.wait()
    document = content(tape.record())
    assert document["closed"] == "abandoned"
    assert [one["outcome"] for one in document["proof"]["deals"]] == ["cancelled", "dealt"]
    assert document["draws"]
    assert verify(tape.record(), GAMES) == ()


def test_a_room_closed_between_sealing_and_dealing_shows_the_deal_that_was_not() -> None:
    tape = new_tape()
    people = seat_everybody(tape, 2, sealed=(0, 1))
    tape.say(HOST, "start")
    tape.open_nonce(people[1])
    tape.append(close_step(tape.room, "maintenance", "service"))
    (only,) = content(tape.record())["proof"]["deals"]
    assert only["outcome"] == "closed"
    assert ["nonce" in hand for hand in only["seats"]] == [False, True, False]
    assert verify(tape.record(), GAMES) == ()


def test_changes_of_mind_are_no_obstacle() -> None:
    tape = new_tape(seats=2)
    ada, ben, cyd = PEOPLE[:3]
    tape.say(cyd, "sit", seat=1, **tape.sealed_nonce(cyd))
    tape.say(cyd, "stand")
    tape.say(ada, "add_bot", level="hard", seat=0)
    tape.say(ada, "remove_bot", seat=0)
    tape.say(ben, "sit", seat=0)
    tape.say(ben, "ready", **tape.sealed_nonce(ben))
    tape.say(ben, "ready", ready=False)
    tape.say(ben, "ready")
    tape.say(ada, "add_bot")
    deal(tape, (ben,))
    tape.play_on()
    assert verify(tape.record(), GAMES) == ()


@pytest.mark.parametrize("command", [{"command": "dance"}, {"command": []}, {}])
def test_a_log_that_the_rules_do_not_lead_through_is_told_as_it_is(command: dict[str, Any]) -> None:
    tape = told(STORIES[1])
    place = next(
        entry.seq
        for entry in tape.entries
        if decode_commit(entry.blob, tape.room.rules).command.get("command") == "bid"
    )
    commit = decode_commit(tape.entries[place - 1].blob, tape.room.rules)
    other = msgspec.structs.replace(commit, command=command)
    record = make_record(GAMES, tape.secret, forged(tape, {place: other}))
    document = content(record)
    assert len(document["frames"]) == len(tape.entries)
    assert document["result"] == plain(tape.room.table.result)
    assert [finding.code for finding in verify(record, GAMES)] == ["undecided"]


# In the store


@pytest.fixture(scope="module")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running("valkey", tmp_path_factory.mktemp("records")) as engine:
        yield engine.url


@pytest.fixture
async def redis(store_url: str) -> AsyncIterator[Redis]:
    async with client(store_url) as connected:
        await connected.flushall()
        yield connected


@pytest.fixture
async def log(redis: Redis, store_url: str) -> AsyncIterator[EventLog]:
    async with EventLog(store_url) as opened:
        yield opened


async def store(redis: Redis, tape: Tape) -> None:
    """Put a tape into the store as the log that it could have been, with its own times."""
    keys = room_keys(CODE)
    await redis.set(keys.secret, tape.secret)
    for entry in tape.entries:
        stamps = entry.stamps
        fields: Any = {"i": entry.commit_id, "c": entry.chain, "b": entry.blob}
        fields |= {"t": stamps.wall_ms, "u": stamps.served_ms}
        await redis.xadd(keys.log, fields, id=f"{entry.seq}-0")


async def test_a_record_is_made_from_the_log_while_there_is_one(
    redis: Redis, log: EventLog
) -> None:
    assert len(told(LONG).entries) > PAGE
    await store(redis, told(LONG))
    assert await record_of(log, CODE, GAMES) == record_of_story(LONG)
    assert await log.record(CODE) is None


async def test_a_kept_record_outlives_the_log_by_the_days_it_is_kept(
    redis: Redis, log: EventLog
) -> None:
    await store(redis, told(LONG))
    kept = await find_or_make_record(log, CODE, GAMES)
    assert kept is not None
    await keep_record(log, CODE, kept, 30)
    await log.remove(CODE, told(LONG).point)
    assert await log.read(CODE) == Gone()
    assert await record_of(log, CODE, GAMES) == record_of_story(LONG)
    left_ms = await redis.pttl(room_keys(CODE).record)
    assert 29 * DAY_MS < left_ms <= 30 * DAY_MS


async def test_no_room_has_no_record_and_a_running_one_not_yet(redis: Redis, log: EventLog) -> None:
    assert await record_of(log, CODE, GAMES) is None
    assert await find_or_make_record(log, CODE, GAMES) is None
    assert await redis.keys() == []
    tape = new_tape()
    await store(redis, tape)
    with pytest.raises(RecordNotReadyError):
        await record_of(log, CODE, GAMES)
    with pytest.raises(RecordNotReadyError):
        await find_or_make_record(log, CODE, GAMES)
    assert await log.record(CODE) is None


async def test_a_log_that_does_not_hold_together_is_no_record(redis: Redis, log: EventLog) -> None:
    tape = new_tape(seats=2)
    seat_everybody(tape, 1)
    tape.entries[1] = msgspec.structs.replace(tape.entries[1], commit_id=bytes(16))
    await store(redis, tape)
    with pytest.raises(ValueError, match="does not hold together"):
        await record_of(log, CODE, GAMES)
