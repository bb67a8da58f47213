"""Plays in many rooms, told by one socket: python many_rooms.py TOKEN http://127.0.0.1:8000"""

import asyncio
import json
import random
import secrets
import sys

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

FINAL = {1000, 1007, 1009, 4400, 4401, 4403, 4404, 4405, 4406, 4409, 4410}  # P-101: stay away
ADDRESS = sys.argv[2].rstrip("/").replace("http", "ws", 1)


def merge(old, patch):  # P-33
    if not isinstance(patch, dict):
        return patch
    old = old if isinstance(old, dict) else {}
    new = old | {key: merge(old.get(key), value) for key, value in patch.items()}
    return {key: value for key, value in new.items() if value is not None}


def pick(offers):  # P-38
    offer = random.choice(offers)
    body = {"command": offer["command"]} | random.choice(offer.get("choices", [[{}]]))[0]
    return body | {name: random.randint(*ends) for name, ends in offer.get("ranges", {}).items()}


async def keep(path, talk):
    """Connect again after each break, unless the server says that this makes no sense."""
    longest = 0.5
    while True:
        try:
            async with connect(ADDRESS + path, subprotocols=["towerhall.v1.json"]) as socket:
                await talk(socket, lambda *message: socket.send(json.dumps(message)))
        except (ConnectionClosed, InvalidHandshake, OSError) as problem:
            if getattr(getattr(problem, "rcvd", None), "code", 0) in FINAL:
                return
        await asyncio.sleep(random.random() * longest)
        longest = min(30, longest * 2)


async def play(token, code, place):
    async def talk(socket, say):
        await say("hello", {"token": token, "level": 6, "origin": secrets.token_urlsafe(8)})
        number, tag, waits = 0, "", place["status"] == "waiting"
        todo = [{"command": name} for name in ("sit", "ready")[("seat" in place) :] if waits]
        while True:
            name, *rest = json.loads(await socket.recv())
            if name == "offers":  # a new connection sees the room as it is: no command is pending
                tag, todo = rest[1], [pick(rest[2])]
            while todo and name in ("welcome", "offers"):
                number += 1
                await say("command", number, tag, todo.pop(0))

    await keep(f"/v1/rooms/{code}", talk)


async def serve(token):
    visits = {}

    async def talk(socket, say):
        places = {}
        await say("hello", {"token": token, "level": 6})
        while True:
            name, *rest = json.loads(await socket.recv())
            if name in ("welcome", "reset", "patch"):
                places = merge(places if name == "patch" else {}, rest[0].get("list", rest[0]))
            rooms = places.get("rooms", {})
            here = {c for c, p in rooms.items() if p.get("your_turn") or p["status"] == "waiting"}
            for code in visits.keys() - here:
                visits.pop(code).cancel()
            for code in here - visits.keys():
                visits[code] = asyncio.create_task(play(token, code, rooms[code]))

    await keep("/v1/me/events", talk)


asyncio.run(serve(sys.argv[1]))
