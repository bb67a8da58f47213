"""A table over real sockets: what is done there is answered, whatever happens to the connection."""

import asyncio
import gc

import pytest

from tests.client.fake_server import PLAYING, WAITING, FakeServer, Visit, fake_server, joined
from towerhall_client.connection import Answer
from towerhall_client.errors import RefusedError, TableClosedError
from towerhall_protocol import messages as m
from towerhall_protocol import updates as u
from towerhall_protocol.commands import base64url
from towerhall_protocol.fairness import nonce_hash
from towerhall_protocol.level import SUBPROTOCOLS
from towerhall_protocol.offers import Offer, Range

OFFERS = (Offer("bid", {"number": Range(1, 3)}), Offer("pass"))
BID = {"command": "bid", "number": 2}


async def at_a_table(visit: Visit) -> None:
    """Answer commands by their names."""
    await visit.welcome(PLAYING, seat=0)
    await visit.send(m.ServerOffers(visit.seq, "tag", OFFERS))
    while True:
        command = await visit.command()
        if command.body["command"] == "refuse":
            refusal = m.ServerRejected(command.n, "too_low", "FT 5b", {"least": 2}, "bid more")
            await visit.send(refusal)
        elif command.dry:
            await visit.send(m.ServerAccepted(command.n, {"score": 7}))
        else:
            await visit.do(command, game={"turn": command.n}, tag=command.tag)


@pytest.mark.parametrize("subprotocol", SUBPROTOCOLS)
async def test_commands_are_answered_by_frames(subprotocol: str) -> None:
    async with fake_server(at_a_table) as server, joined(server, subprotocol=subprotocol) as table:
        assert server.paths == ["/v1/rooms/QJXKZB"]
        assert server.visits[0].greeting.token == "token"
        assert (table.seat, table.status, table.seq) == (0, "playing", 1)
        assert await table.turn() == OFFERS
        assert await table.send(BID) == Answer(1, 2)
        assert table.view["game"] == {"turn": 1}
        assert table.view["tag"] == "tag"
        assert table.offers == ()


async def test_a_refused_command_raises_what_the_server_said() -> None:
    async with fake_server(at_a_table) as server, joined(server) as table:
        with pytest.raises(RefusedError, match="too_low: bid more") as refused:
            await table.send({"command": "refuse"})
        assert refused.value.rule == "FT 5b"
        assert refused.value.params == {"least": 2}
        assert table.offers == OFFERS


async def test_a_dry_run_tells_the_effect_and_does_nothing() -> None:
    async with fake_server(at_a_table) as server, joined(server) as table:
        assert await table.dry(BID) == Answer(1, 0, {"score": 7})
        assert table.seq == 1


async def test_commands_of_the_room_carry_no_tag() -> None:
    async with fake_server(at_a_table) as server, joined(server) as table:
        await table.turn()
        for done in (
            table.stand(),
            table.ready(),
            table.start(),
            table.add_bot("easy", 2),
            table.remove_bot(2),
        ):
            await done
            assert table.view["tag"] == ""


async def test_what_cannot_travel_is_refused_where_it_is_made() -> None:
    async with fake_server(at_a_table) as server, joined(server) as table:
        with pytest.raises(TypeError):
            await table.send({"command": object()})
        assert await table.send(BID) == Answer(1, 2)


async def test_several_commands_may_be_under_way() -> None:
    async with fake_server(at_a_table) as server, joined(server) as table:
        answers = await asyncio.gather(*(table.start() for _ in range(20)))
        assert [answer.n for answer in answers] == list(range(1, 21))
        assert [answer.seq for answer in answers] == list(range(2, 22))


async def test_the_ninth_command_waits_and_is_stale_if_the_game_went_on() -> None:
    release = asyncio.Event()

    async def slow(visit: Visit) -> None:
        await visit.welcome(PLAYING, seat=0)
        await visit.send(m.ServerOffers(visit.seq, "tag", OFFERS))
        commands = [await visit.command() for _ in range(8)]
        await release.wait()
        for command in commands:
            await visit.do(command, game={"turn": command.n})
        await visit.stay()

    async with fake_server(slow) as server, joined(server) as table:
        await table.turn()
        eight = [asyncio.create_task(table.start()) for _ in range(8)]
        await asyncio.sleep(0)
        ninth = asyncio.create_task(table.send(BID))
        release.set()
        with pytest.raises(RefusedError, match="stale"):
            await ninth
        assert len(await asyncio.gather(*eight)) == 8


async def test_updates_can_be_followed() -> None:
    async def story(visit: Visit) -> None:
        await visit.welcome()
        await visit.command()
        await visit.commit((), room={"status": "sealed"})
        await visit.send(["confetti", 1])
        await visit.send(m.ServerPaused(True))
        await visit.send(m.ServerPresence((0,), 2))
        await visit.send(m.ServerChat("1-0", "Ada", -1, "hello", 5))
        await visit.send(m.ServerSeat(2))
        await visit.stay()

    async with fake_server(story) as server, joined(server) as table:
        updates = aiter(table)
        asking = asyncio.create_task(table.start())
        seen = [await anext(updates) for _ in range(5)]
        assert seen == [
            u.Moved(2, (), (("seen", 2),), None),
            u.Paused(True),
            u.PresenceChanged((0,), 2),
            u.ChatSaid("1-0", "Ada", None, "hello", 5),
            u.SeatChanged(2),
        ]
        assert (table.seat, table.replay.paused, table.status) == (2, True, "sealed")
        asking.cancel()


async def test_a_listener_that_nobody_holds_is_forgotten() -> None:
    async with fake_server(at_a_table) as server, joined(server) as table:
        updates = aiter(table)
        await table.start()
        assert isinstance(await anext(updates), u.OffersCame | u.Moved)
        assert len(table._listeners) == 1
        del updates
        gc.collect()
        assert len(table._listeners) == 0


async def test_chat_goes_out_as_it_is() -> None:
    async def listening(visit: Visit) -> None:
        await visit.welcome()
        message = await visit.receive()
        assert message == m.ClientChat("good evening ☺")
        await visit.send(m.ServerChat("1-0", "Ada", 0, message.text, 5))
        await visit.stay()

    async with fake_server(listening) as server, joined(server) as table:
        updates = aiter(table)
        await table.chat("good evening ☺")
        assert await anext(updates) == u.ChatSaid("1-0", "Ada", 0, "good evening ☺", 5)


async def test_pings_tell_the_seq() -> None:
    told: list[int] = []

    async def pinged(visit: Visit) -> None:
        await visit.welcome(PLAYING, 7)
        while True:
            message = await visit.receive()
            assert isinstance(message, m.ClientPing)
            told.append(message.seq)
            if visit.seq < 9:
                await visit.commit()
            await visit.send(m.ServerPong(message.seq, (10, 4)))

    async with fake_server(pinged) as server, joined(server, ping_seconds=0.01) as table:
        await table.until(lambda: told[-1:] == [9])
        assert told[0] == 7
        assert told == sorted(told)
        assert table.replay.now == (10, 4)


async def test_a_nonce_is_sealed_by_sitting_and_opened_by_itself() -> None:
    nonce = bytes([7]) * 32

    async def dealer(visit: Visit) -> None:
        await visit.welcome(WAITING)
        sit = await visit.command()
        uid = bytes(range(16))
        assert sit.body == {"command": "sit", "nonce": base64url(nonce_hash(uid, nonce))}
        await visit.do(sit, room={"seats": {"0": {"name": "Ada", "nonce": "sealed"}}})
        await visit.send(m.ServerSeat(0))
        start = await visit.command()
        await visit.do(start, room={"status": "sealed"})
        opening = await visit.command()
        assert opening.body == {"command": "open", "nonce": base64url(nonce)}
        await visit.do(opening, room={"status": "playing", "seats": {"0": {"nonce": None}}})
        await visit.stay()

    async with (
        fake_server(dealer) as server,
        joined(server, random_bytes=lambda size: bytes([7]) * size) as table,
    ):
        await table.sit()
        await table.start()
        await table.until(lambda: table.status == "playing")
        assert table.replay.unanswered == ()


async def test_leaving_tells_the_server_and_ends_what_waits() -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    async def silent(visit: Visit) -> None:
        await visit.welcome()
        await visit.command()
        asked.set()
        await visit.socket.wait_closed()
        assert visit.socket.close_code == 1000
        left.set()

    async with fake_server(silent) as server:
        async with joined(server) as table:
            waiting = asyncio.create_task(table.start())
            await asked.wait()
        with pytest.raises(TableClosedError, match="done"):
            await waiting
        with pytest.raises(TableClosedError, match="done"):
            await table.start()
        await asyncio.wait_for(left.wait(), 5)


async def test_an_address_may_have_a_path_and_a_code_may_be_anything() -> None:
    async def curious(visit: Visit) -> None:
        await visit.welcome()
        await visit.stay()

    async with fake_server(curious) as server:
        moved = FakeServer(())
        moved.url = server.url + "/games/"
        async with joined(moved):
            assert server.paths == ["/games/v1/rooms/QJXKZB"]
