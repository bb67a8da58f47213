"""Watches a room and prints what happens in words: python watch.py TOKEN ws://127.0.0.1:8000/v1/rooms/CODE"""

import json
import random
import secrets
import sys
import time

from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

FINAL = {1000, 1007, 1009, 4400, 4401, 4403, 4404, 4405, 4406, 4409, 4410}  # P-101: stay away
EARLY = {"welcome", "error", "go", "pong"}
WORDS = {
    "person_sat": "{1} sits down in seat {0}",
    "person_renamed": "seat {0} is now called {1}",
    "bot_sat": "a bot ({1}) sits down in seat {0}",
    "seat_left": "seat {0} is free",
    "seat_ready": "seat {0} is ready: {1}",
    "sealed": "deal {0} is sealed",
    "dealt": "deal {0} is dealt",
    "timed_out": "the time of seat {0} is up",
    "bot_stood_in": "a bot ({1}) plays for seat {0}",
    "seat_resigned": "seat {0} resigns",
    "game_over": "the game is over: {0}",
    "room_closed": "the room is closed: {0}",
    "round_started": "round {0} begins with seat {1}: {2}",
    "bid_made": "seat {0} bids {1}",
    "passed": "seat {0} passes",
    "auction_won": "seat {0} wins the auction with {1}",
    "cards_taken": "seat {0} takes {1}",
    "card_built": "seat {0} builds {1} in tower {2}",
}


def watch(url, origin, cursor=None):
    """One connection. The cursor to come back with, or None for everything anew."""
    with connect(url, subprotocols=["towerhall.v1.json"], compression=None) as socket:
        greeting = {"token": sys.argv[1], "level": 1, "origin": origin}
        socket.send(json.dumps(["hello", greeting | ({"cursor": cursor} if cursor else {})]))
        here = None
        while True:
            try:
                name, *rest = json.loads(socket.recv())
            except ConnectionClosed as closed:
                if closed.rcvd and closed.rcvd.code in FINAL:
                    sys.exit(f"the room said: {closed.rcvd.reason}")
                return here or cursor
            if name == "welcome" if here else name not in EARLY:
                return None  # a fault of the server (P-25)
            if name == "welcome":
                if "view" not in rest[0] and rest[0]["cursor"] != cursor:
                    return None
                here = rest[0]["cursor"]
            elif name == "reset":
                here = rest[0]
            elif name == "frame":
                seq, mark, _, facts = rest[:4]
                if seq != here[1] + 1:
                    return None
                here = [here[0], seq, mark]
                for fact, *fields in facts:  # those that are not known are passed over (P-32)
                    if fact in WORDS:
                        print(f"{seq:5}  {WORDS[fact].format(*fields, *'?' * 9)}", flush=True)
            elif name == "chat":
                print(f"       {rest[1]}: {rest[3]}", flush=True)


place, origin, longest = None, secrets.token_urlsafe(8), 0.5
while True:
    try:
        place = watch(sys.argv[2], origin, place)
    except (InvalidHandshake, OSError, EOFError, ConnectionClosed) as problem:
        print(f"       {problem}", file=sys.stderr)
    time.sleep(random.random() * longest)
    longest = min(30, longest * 2)
