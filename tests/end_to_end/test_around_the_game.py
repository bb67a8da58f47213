"""Before, during and after a game over sockets, by the Python client and by the player's lines."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.end_to_end.games import play_out, seated
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import Table, connect
from towerhall_client.errors import RefusedError, ServiceError, TableClosedError
from towerhall_client.http import Service
from towerhall_client.player import play
from towerhall_protocol import updates as u
from towerhall_protocol.messages import EMOTES


def room_of(table: Table) -> dict[str, object]:
    found = table.view["room"]
    assert isinstance(found, dict)
    return found


async def refused(asking: object) -> str:
    with pytest.raises(RefusedError) as caught:
        await asking  # type: ignore[misc]
    assert str(caught.value)
    return caught.value.code


async def test_before_the_game(shared: ServerProcess) -> None:
    async with seated(Service(shared.url), 2) as (_, (ada, ben)):
        await ada.set_options({"preset": "printed"}, turn_seconds=14 * 86_400, bot_delay_ms=5)
        await ben.until(lambda: room_of(ben).get("turn_seconds") == 14 * 86_400)
        assert await refused(ada.start()) == "not_ready"
        assert await refused(ben.kick(0)) == "not_host"
        assert await refused(ada.set_options(turn_seconds=700)) == "bad_options"
        await ada.kick(1)
        with pytest.raises(TableClosedError, match="kicked"):
            await ben.until(lambda: ben.seat is None)
        await ada.add_bot("easy")
        await ada.remove_bot(1)
        await ada.stand()


async def test_during_the_game(shared: ServerProcess) -> None:
    async with seated(Service(shared.url), 2, bots=["easy"]) as (_, (ada, ben)):
        await ada.start()
        await ada.until(lambda: ada.status == "playing")
        await ben.until(lambda: ben.status == "playing")
        assert await refused(ada.call_bot(1)) == "not_absent"
        assert await refused(ada.take_back()) == "no_bot_plays"
        await ben.leave("easy")
        await ben.take_back()
        await ada.want_end()
        await ada.want_end(wanted=False)
        await ben.resign()
        assert await refused(ben.take_back()) == "resigned"
        await ada.leave("easy")
        await ada.until(lambda: ada.status == "over")
        result = room_of(ada)["result"]
        assert isinstance(result, dict)
        assert result["places"][1] == 3


async def test_after_the_game(shared: ServerProcess) -> None:
    service = Service(shared.url)
    async with seated(service, 2) as (made, (ada, ben)):
        await ada.start()
        assert await refused(ada.rematch()) == "not_over"
        await play_out((ada, ben))
        codes = await asyncio.gather(ada.rematch(), ben.rematch())
        assert codes[0] == codes[1] == await ada.rematch()
        assert codes[0] != made.code
        assert (await service.room(codes[0]))["code"] == codes[0]


async def test_emotes_are_told_with_name_and_seat(shared: ServerProcess) -> None:
    async with seated(Service(shared.url), 2) as (_, (ada, ben)):
        heard = aiter(ben)
        await ada.emote(EMOTES[0])
        async for update in heard:
            if isinstance(update, u.EmoteCame):
                assert update == u.EmoteCame("player 0", 0, EMOTES[0], ada.replay.you)
                break
        await ben.emote("no_such")
        async for update in heard:
            if isinstance(update, u.ErrorCame):
                assert (update.code, update.params) == ("bad_emote", {"name": "no_such"})
                break


@pytest.mark.parametrize("seconds", [3600, 14 * 86_400])
async def test_a_room_by_correspondence_can_be_created(shared: ServerProcess, seconds: int) -> None:
    service = Service(shared.url)
    guest = await service.guest("Ada")
    made = await service.create_room(guest.token, "five_towers", turn_seconds=seconds)
    async with connect(service.url, made.code, guest.token) as table:
        assert room_of(table)["turn_seconds"] == seconds


@pytest.mark.parametrize("seconds", [601, 3599, 14 * 86_400 + 1])
async def test_clocks_in_between_do_not_exist(shared: ServerProcess, seconds: int) -> None:
    service = Service(shared.url)
    guest = await service.guest("Ada")
    with pytest.raises(ServiceError) as caught:
        await service.create_room(guest.token, "five_towers", turn_seconds=seconds)
    assert caught.value.code == "bad_options"


async def test_the_players_words_do_all_of_it(shared: ServerProcess) -> None:
    """A pipe of lines, each of which is answered before the next one is read."""
    service = Service(shared.url)
    guest = await service.guest("Ada")
    made = await service.create_room(guest.token, "five_towers", seats=2, bot_delay_ms=10_000)
    said: list[str] = []

    async def lines() -> AsyncIterator[str]:
        for line in (
            "sit", "ready", "unready", "bot hard", "nobot 1", "clock 3600", "clock 700", "clock",
            "preset printed", "bot easy", "kick 1", "start", "back", "leave hard", "back", "call 1",
            "noend", "resign", "end", "quit",
        ):  # fmt: skip
            yield line

    async with connect(service.url, made.code, guest.token) as table:
        await asyncio.wait_for(play(table, lines(), said.append), 30)
    told = "\n".join(said)
    for wanted in (
        'bot_sat 1 "hard"',
        "seat_left 1",
        "options_changed",
        "refused: bad_options",
        "a number is missing",
        "refused: seat_empty",
        "refused: no_bot_plays",
        'bot_stood_in 0 "hard"',
        "seat_taken_back 0",
        "refused: bot_plays",
        "end_wanted 0 false",
        "seat_resigned 0",
    ):
        assert wanted in told, wanted
