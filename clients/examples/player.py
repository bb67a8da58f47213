"""A whole client on websockets and msgpack: python player.py TOKEN ADDRESS_OF_ROOM ..."""

import json
import random
import secrets
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import msgpack
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

FINAL = {1000, 1007, 1009, 4400, 4401, 4403, 4404, 4405, 4406, 4409, 4410}  # P-101: stay away
EARLY = {"welcome", "error", "go", "pong"}


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


def play(url):
    origin, number, unanswered = secrets.token_urlsafe(8), 0, {}
    cursor, view, longest = None, {"room": {}}, 0.5
    while view["room"].get("status") != "over":
        welcomed, turned_away, offers, tag, game_seq = False, False, [], "", 0
        try:
            with connect(url, subprotocols=["towerhall.v1.msgpack"], compression=None) as socket:
                greeting = {"token": sys.argv[1], "level": 1, "origin": origin, "cursor": cursor}
                socket.send(msgpack.packb(["hello", merge({}, greeting)]))
                while view["room"].get("status") != "over":
                    name, *rest = msgpack.unpackb(socket.recv())
                    fault = name == "welcome" if welcomed else name not in EARLY  # P-25
                    fault |= name == "frame" and welcomed and rest[0] != cursor[1] + 1
                    its = rest[0] if name == "welcome" else {"view": {}}
                    fault |= "view" not in its and its["cursor"] != cursor
                    if fault:
                        cursor = None
                        raise EOFError
                    again = name in ("welcome", "reset") or (name == "pong" and turned_away)  # P-26
                    match name, *rest:
                        case "welcome", *_:
                            welcomed, cursor, view = True, its["cursor"], its.get("view", view)
                        case "reset", cursor, view, *_:
                            offers, game_seq = [], 0
                        case "frame", seq, mark, cause, _, patch, *_:
                            cursor, view = [cursor[0], seq, mark], merge(view, patch)
                            offers, game_seq = ([], seq) if "game" in patch else (offers, game_seq)
                            unanswered.pop(cause[2] if cause[1:2] == [origin] else None, None)
                        case "offers", seq, its_tag, its_offers, *_ if seq >= game_seq:  # P-39
                            offers, tag = its_offers, its_tag
                        case "seat", *_:
                            offers = []
                        case (("rejected" | "duplicate" | "accepted"), n, *_):
                            unanswered.pop(n, None)
                    turned_away = rest[:1] == ["too_many_unanswered"]  # P-44: until a pong
                    if offers and not unanswered:
                        number, again = number + 1, True
                        unanswered[number] = ["command", number, tag, pick(offers)]
                    for command in unanswered.values() if again else ():
                        socket.send(msgpack.packb(command))
        except (ConnectionClosed, InvalidHandshake, OSError, EOFError) as problem:
            if getattr(getattr(problem, "rcvd", None), "code", 0) in FINAL:
                return
            time.sleep(random.random() * longest)
            longest = min(30, longest * 2)
    print(json.dumps({"code": url.split("/")[-1], "view": view}), flush=True)


ThreadPoolExecutor(len(sys.argv)).map(play, sys.argv[2:])
