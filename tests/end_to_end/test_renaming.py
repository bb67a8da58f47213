"""A name is no identity: people change theirs in the middle of a game, and all else stays."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.end_to_end.games import QUICK
from tests.end_to_end.raw import Answer, ask, bearer, inside, new_guest
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.operators.processes import OPERATORS, as_operator
from towerhall_client.connection import Table, connect
from towerhall_client.errors import RefusedError
from towerhall_client.http import Service
from towerhall_client.lobby import look_at_lobby
from towerhall_protocol.check_record import check_record
from towerhall_server.game import discover
from towerhall_server.record.verify import verify


@pytest.fixture(scope="module")
def operated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with an operator, and with room for four guests and names an hour."""
    folder: Path = tmp_path_factory.mktemp("operated") / "data"
    limits = LIMITS | OPERATORS | {"TOWERHALL_LIMIT_GUESTS_PER_IP": "1/h burst 4"}
    with running(folder, limits=limits) as process:
        yield process


def name_in(table: Table, seat: int) -> object:
    room = table.view.get("room")
    return room["seats"][str(seat)]["name"] if isinstance(room, dict) else None


async def test_a_new_name_is_seen_everywhere_and_the_person_keeps_the_seat(
    shared: ServerProcess,
) -> None:
    service = Service(shared.url)
    old, other = await service.guest("Ada"), await service.guest("Ben")
    made = await service.create_room(old.token, "five_towers", seats=2)
    async with (
        connect(shared.url, made.code, old.token, retry=QUICK) as ada,
        connect(shared.url, made.code, other.token, retry=QUICK) as ben,
        look_at_lobby(shared.url, other.token) as lobby,
    ):
        await ada.sit()
        await ben.sit()
        await ben.ready()
        await ada.start()
        await ben.until(lambda: ben.status == "playing")

        guest = await service.rename(old.token, "  Ada\u200b Lovelace ")
        assert (guest.id, guest.name, guest.expires) == (old.id, "Ada Lovelace", old.expires)
        await ben.until(lambda: name_in(ben, 0) == guest.name)
        await lobby.until(
            lambda: lobby.rooms.get(made.code, {}).get("names") == [guest.name, "Ben"]
        )
        assert (await service.my_rooms(guest.token))[0]["names"] == [guest.name, "Ben"]
        assert ada.seat == 0

        # The old token keeps its name, but the seat speaks under the new one.
        async with inside(shared.url, made.code, other.token) as listener:
            await ada.chat("it is me")
            said = await listener.wait_for("chat")
            assert said[2:5] == [guest.name, 0, "it is me"]
        async with connect(shared.url, made.code, guest.token, retry=QUICK) as again:
            await again.entered()
            assert (again.seat, again.replay.name) == (0, guest.name)
            with pytest.raises(RefusedError) as caught:
                await again.rename()
            assert caught.value.code == "same_name"
            await again.resign()
            await again.until(lambda: again.status == "over")
    record = await service.ask("GET", f"/v1/rooms/{made.code}/record")
    assert [step for step in check_record(record) if not step.ok and not step.skipped] == []
    assert verify(record, discover()) == ()
    kept = msgspec.json.decode(record)
    assert [seat["name"] for seat in kept["seats"]] == [guest.name, "Ben"]
    assert [seat["name"] for seat in kept["proof"]["deals"][0]["seats"]] == ["Ada", "Ben"]
    assert (kept["closed"], kept["result"]["places"]) == ("resigned", [2, 1])


async def test_names_are_checked_and_limited_as_those_of_new_guests(
    operated: ServerProcess,
) -> None:
    def rename(token: str, name: object) -> Answer:
        return ask(operated.url, "POST", "/v1/me/name", {"name": name}, bearer(token))

    wanted = {"external_id": "account 1", "name": "Ada"}
    of_operator = as_operator(operated.url, "POST", "/tokens", wanted).document["token"]
    guest = new_guest(operated.url)
    assert rename("nonsense", "Eve").code == "unauthorized"
    assert rename(of_operator, "Eve").code == "forbidden"
    assert rename(guest, "\u202e\u0007").code == "bad_name"
    assert rename(guest, "x" * 25).code == "bad_name"
    # That was all that one address may ask for: the guest, and three names.
    assert rename(guest, "Eve").code == "too_many"
