"""How a load takes its seats: guests and rooms over HTTP, then sockets, greetings, seats, ready.

Tables are made a few at a time, and none starts its game here.
"""

import asyncio
import json
import secrets
from collections.abc import Sequence
from http.client import HTTPConnection
from random import Random
from typing import Any

import msgspec
from picows import WSListener, ws_connect

from tests.programs.bench.peers.tables import PeerPlayer
from tests.programs.bench.players import (
    FIVE_TOWERS,
    SEATS,
    BaselinePlayer,
    Pacer,
    Played,
    Table,
    TowerhallPlayer,
)
from towerhall_protocol import commands
from towerhall_protocol.level import LEVEL, MSGPACK
from towerhall_protocol.messages import ClientHello, Greeting

AT_ONCE = 20
READ_BUFFER = 1024
_encode = msgspec.msgpack.Encoder().encode


async def towerhall_tables(
    pacer: Pacer,
    addresses: Sequence[str],
    count: int,
    seed: int,
    *,
    mixed: bool = False,
    played: Played = FIVE_TOWERS,
) -> list[Table]:
    """New rooms with four guests each, all ready.

    All four are at the same address, and the next table at the next one. In mixed company everybody
    is at another address than the neighbours.
    """
    https = {address: HTTPConnection(address) for address in addresses}
    plans = []
    for number in range(count):
        places = [addresses[(mixed * seat + number) % len(addresses)] for seat in range(SEATS)]
        # Whoever makes a room has it in memory: it must be one of those where it is played.
        http = https[places[0]]
        tokens = [post(http, "/v1/guests", {"name": f"Player {seat}"}) for seat in range(SEATS)]
        options = {"preset": played.preset}
        wanted = {"game": played.game, "seats": SEATS, "options": options}
        room = post(http, "/v1/rooms", wanted, tokens[0]["token"])
        table = Table(pacer, Random(f"{seed}/{number}"), played)
        plans.append((table, places, room["code"], tokens))
    for http in https.values():
        http.close()
    tables = []
    for first in range(0, count, AT_ONCE):
        some = plans[first : first + AT_ONCE]
        tables += await asyncio.gather(*(_seated(*plan) for plan in some))
    return tables


async def baseline_tables(pacer: Pacer, address: str, count: int, command: bytes) -> list[Table]:
    """Four sockets each; there is nothing else to do."""
    tables = []
    for number in range(count):
        table = Table(pacer, Random(number))
        table.players += [BaselinePlayer(table, seat, command) for seat in range(SEATS)]
        await asyncio.gather(*(connect(player, address, str(number)) for player in table.players))
        tables.append(table)
    return tables


def begin(table: Table) -> None:
    """Let the first of a table's players start the game, or take the first turn."""
    host = table.players[0]
    if isinstance(host, TowerhallPlayer):
        host.send(host.command(commands.start()))
    elif isinstance(host, BaselinePlayer | PeerPlayer):
        host.take_turn()


async def _seated(
    table: Table, places: list[str], code: str, guests: list[dict[str, Any]]
) -> Table:
    table.seq = 1  # made by the request that made the room
    players = [TowerhallPlayer(table, seat) for seat in range(SEATS)]
    table.players += players
    for player, place, guest in zip(players, places, guests, strict=True):
        await connect(player, place, code)
        origin = commands.base64url(secrets.token_bytes(8))
        player.send(_encode(ClientHello(Greeting(guest["token"], LEVEL, origin))))
        await player.welcomed
    for bodies in ([commands.sit(seat) for seat in range(SEATS)], [commands.ready()] * SEATS):
        for player, body in zip(players, bodies, strict=True):
            player.send(player.command(body))
        await table.reaches(table.seq + SEATS)
    return table


async def connect(player: WSListener, address: str, code: str) -> None:
    """Open a socket to a room and let the player listen to it."""
    await ws_connect(
        lambda: player,
        f"ws://{address}/v1/rooms/{code}",
        extra_headers={"Sec-WebSocket-Protocol": MSGPACK},
        read_buffer_init_size=READ_BUFFER,
    )


def post(http: HTTPConnection, path: str, body: dict[str, Any], token: str = "") -> dict[str, Any]:
    """Make something over HTTP."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    http.request("POST", path, json.dumps(body), headers | {"Content-Type": "application/json"})
    response = http.getresponse()
    answer: dict[str, Any] = json.loads(response.read())
    if response.status != 201:
        raise RuntimeError(f"POST {path} was answered by {response.status}: {answer}")
    return answer
