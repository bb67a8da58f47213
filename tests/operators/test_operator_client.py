"""The Python client for operators, at real servers and against the vectors of the protocol."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.operators.processes import ACME_KEY, NEW_ACME_KEY, OPERATORS, OTHER_KEY, node
from tests.operators.receiver import OTHER_SECRET, SECRET, receiver
from towerhall_client.connection import Table, connect
from towerhall_client.errors import ServiceError, TableClosedError
from towerhall_client.operator import Operator, Player, Seat, verify_signature

VECTORS = Path(__file__).parents[2] / "protocol" / "vectors" / "webhooks.json"
SIGNATURES: dict[str, Any] = json.loads(VECTORS.read_text())
ADA, BEN = Player("account/17", "Ada"), Player("account ☺ 23", "Ben")
GAME = "five_towers"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("client") / "data"
    with running(folder, limits=LIMITS | OPERATORS) as process:
        yield process


@pytest.fixture
def acme(server: ServerProcess) -> Operator:
    return Operator(server.url, ACME_KEY)


def is_over(table: Table) -> bool:
    room: Any = table.view["room"]
    return bool(room["status"] == "over")


async def refused(asking: Any) -> tuple[str, int]:
    with pytest.raises(ServiceError) as caught:
        await asking
    return caught.value.code, caught.value.status


async def test_a_room_is_opened_played_in_read_and_closed(
    acme: Operator, server: ServerProcess
) -> None:
    opened = await acme.open_room(
        GAME, [ADA, "hard", BEN, None], turn_seconds=60, bot_delay_ms=0, options={"bids": "strict"}
    )
    ada, bot, ben, free = opened.seats
    assert (ada.external_id, ada.name, ben.external_id) == (ADA.external_id, "Ada", BEN.external_id)
    assert (bot, free) == (Seat(bot="hard"), Seat())
    assert ada.token
    assert ada.expires > 1_700_000_000_000
    assert opened.invite == f"/#/r/{opened.code}"
    async with connect(server.url, opened.code, ada.token, retry=QUICK) as table:
        await table.sit()
        room = await acme.room(opened.code)
        assert (room["status"], room["uid"], room["turn_seconds"]) == ("waiting", opened.uid, 60)
        assert room["options"]["bids"] == "strict"
        assert room["seats"][0]["external_id"] == ADA.external_id
        closed = await acme.close(opened.code, "maintenance")
        assert (closed["status"], closed["closed"]) == ("over", "maintenance")
        await table.until(lambda: is_over(table))
    assert (await acme.close(opened.code))["closed"] == "maintenance", "the first reason stays"


async def test_an_answer_that_was_lost_can_be_asked_for_again(acme: Operator) -> None:
    first = await acme.open_room(GAME, [ADA, BEN], once="order-1")
    again = await acme.open_room(GAME, [ADA, BEN], once="order-1")
    assert again == first
    assert (await acme.open_room(GAME, [ADA, BEN])).code != first.code
    assert await refused(acme.open_room(GAME, [BEN, ADA], once="order-1")) == ("key_reused", 409)


async def test_a_private_room_has_its_key_in_the_invite(
    acme: Operator, server: ServerProcess
) -> None:
    opened = await acme.open_room(GAME, [ADA, BEN], private=True)
    assert opened.key
    assert opened.invite.endswith(f"/{opened.key}")
    async with connect(
        server.url, opened.code, opened.seats[0].token, key=opened.key, retry=QUICK
    ) as table:
        await table.sit()
        await table.until(lambda: table.seat == 0)


async def test_a_token_is_for_the_same_person_at_any_time(acme: Operator) -> None:
    opened = await acme.open_room(GAME, [ADA, BEN])
    renamed = await acme.token(Player(ADA.external_id, "Countess"))
    assert (renamed.id, renamed.name) == (opened.seats[0].id, "Countess")
    assert renamed.token
    assert await refused(acme.token(Player(ADA.external_id, " "))) == ("bad_name", 400)


async def test_bans_are_set_listed_and_lifted(acme: Operator, server: ServerProcess) -> None:
    opened = await acme.open_room(GAME, [ADA, BEN])
    by_account = await acme.ban(external_id=BEN.external_id, reason="unkind")
    by_id = await acme.ban(id=opened.seats[0].id)
    assert (by_account.external_id, by_account.reason) == (BEN.external_id, "unkind")
    assert by_account.id == opened.seats[1].id
    assert (by_account.scope, by_id.scope) == ("service", "service")
    stranger = await acme.ban(id="AAAAAAAAAAA")
    assert stranger.scope == "rooms"
    await acme.unban(stranger.id)
    assert await acme.bans() == (by_account, by_id)
    assert await Operator(server.url, OTHER_KEY).bans() == ()
    with pytest.raises(TableClosedError) as caught:
        async with connect(server.url, opened.code, opened.seats[1].token, retry=QUICK):
            pass
    assert caught.value.code == "banned"
    for ban in (by_account, by_id):
        await acme.unban(ban.id)
    assert await acme.bans() == ()
    assert await refused(acme.unban(by_id.id)) == ("not_found", 404)
    assert await refused(acme.ban()) == ("bad_request", 400)
    async with connect(server.url, opened.code, opened.seats[1].token, retry=QUICK) as table:
        await table.sit()


async def test_what_is_refused_has_its_code(acme: Operator, server: ServerProcess) -> None:
    opened = await acme.open_room(GAME, [ADA, BEN])
    stranger, other = Operator(server.url, "no-such-key"), Operator(server.url, OTHER_KEY)
    assert await refused(stranger.bans()) == ("unauthorized", 401)
    assert await refused(Operator(server.url, opened.seats[0].token).bans()) == ("forbidden", 403)
    assert await refused(other.room(opened.code)) == ("room_gone", 404)
    assert await refused(acme.room("no such room?#")) == ("room_gone", 404)
    assert await refused(acme.close(opened.code, "agreed")) == ("bad_request", 400)
    assert await refused(acme.open_room("chess", [ADA, BEN])) == ("unknown_game", 404)
    assert await refused(acme.open_room(GAME, ["easy", "easy"])) == ("bad_options", 400)
    assert (await Operator(server.url, NEW_ACME_KEY).room(opened.code))["code"] == opened.code


def test_a_key_is_not_shown() -> None:
    assert ACME_KEY not in repr(Operator("http://127.0.0.1:1", ACME_KEY))


async def test_what_a_server_tells_is_believed_and_nothing_else(url: str, tmp_path: Path) -> None:
    async with receiver() as hook:
        variables = {
            "TOWERHALL_WEBHOOKS": f"acme:{hook.url}",
            "TOWERHALL_WEBHOOK_SECRETS": f"acme:{OTHER_SECRET.decode()} acme:{SECRET.decode()}",
        }
        with node(tmp_path / "a", url, **variables) as told:
            operator = Operator(told.url, ACME_KEY)
            opened = await operator.open_room(GAME, [ADA, BEN])
            await operator.close(opened.code)
            await hook.until(lambda: hook.taken)
    (came,) = hook.got
    header = came.headers["towerhall-signature"]
    assert verify_signature(SECRET, header, came.body)
    assert verify_signature(OTHER_SECRET, header, came.body)
    assert not verify_signature(b"another", header, came.body)
    assert not verify_signature(SECRET, header, came.body + b" ")
    assert not verify_signature(SECRET, header, came.body, most_age_seconds=-1)
    assert came.document["kind"] == "abandoned"


@pytest.mark.parametrize("case", SIGNATURES["cases"], ids=lambda case: case["name"])
def test_signatures_are_taken_as_the_vectors_say(case: dict[str, Any]) -> None:
    secret, body = SIGNATURES["secret"].encode(), case["body"].encode()
    taken = verify_signature(secret, case["signature"], body, now=SIGNATURES["now"])
    assert taken is case["taken"]


def test_a_header_of_any_characters_is_refused_and_no_fault() -> None:
    for header in ("t=1,v1=\udcff", "t=1,v1=é", "=,=,=", "t=" + "9" * 5000 + ",v1=a", "t=٣,v1=a"):
        assert not verify_signature(b"secret", header, b"{}", now=1)
