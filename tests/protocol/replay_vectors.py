"""The cases of `protocol/vectors/replay.json`: what a client does, gets, sends and then knows.

A case is a list of steps. `do` says what happens: `hello` (a new connection begins), `command`,
`sit` and `ready` (the user wants this), or `receive` (a message of the server). `sends` are the
messages that the client sends because of it, in order; `after` is what it knows then. A case names
the origin and the random bytes that the client would otherwise draw, one for each nonce.
"""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from towerhall_protocol import messages as m
from towerhall_protocol import updates as u
from towerhall_protocol.codec import encode_json
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.replay import Replay
from towerhall_protocol.wire import read_server

ORIGIN = "b3JpZ2luMTE"
NONCES = [bytes([number]) * 32 for number in (1, 2)]
BASE = "AAECAwQFBgcICQoLDA0ODw.all.1.1"
UID = base64url(bytes(range(16)))
Step = dict[str, Any]

HELLO: Step = {"do": "hello", "token": "token"}
WAITING = {"room": {"uid": UID, "status": "waiting", "seats": {}}}
OPEN_ROOM = {"room": {**WAITING["room"], "code": "QJXKZB", "commitment": "promise"}}
OVER = {"room": {**OPEN_ROOM["room"], "status": "over", "rematch": "QJXKZC"}}
CHAIN = {seq: base64url(bytes([seq]) * 32) for seq in range(14, 19)}
"""What a server may say of the chain at these seqs."""
PLAYING = {"room": {"uid": UID, "status": "playing"}, "game": {"turn": 0, "calls": {"0": 2}}}


def receive(*message: object) -> Step:
    return {"do": "receive", "message": list(message)}


def command(name: str, *, dry: bool = False, **parameters: object) -> Step:
    return {"do": "command", "body": {"command": name, **parameters}, "dry": dry}


def welcome(seq: int, view: object = None, *, watching: bool = False, **more: object) -> Step:
    greeting: dict[str, object] = {"you": "cGVyc29uMDE", "name": "Ada", "level": 1, "now": [9, 5]}
    greeting |= {"cursor": [BASE, seq, f"mark{seq}"], **more}
    if not watching:
        greeting["seat"] = 0
    if view is not None:
        greeting["view"] = view
    return receive("welcome", greeting)


def frame(seq: int, cause: list[object], patch: object, *facts: object) -> Step:
    told = [*facts] or [["happened", seq]]
    return receive("frame", seq, f"mark{seq}", cause, told, patch)


def offers(seq: int) -> Step:
    return receive("offers", seq, f"mark{seq}", [{"command": "bid", "ranges": {"number": [3, 5]}}])


JOINED = [HELLO, welcome(4, PLAYING), offers(4)]
BID = command("bid", number=3)

CASES: list[tuple[str, list[Step]]] = [
    (
        "a welcome, a frame, offers, a command and its answer",
        [
            *JOINED,
            BID,
            frame(5, [0, ORIGIN, 1], {"game": {"turn": 1, "calls": {"0": 3}}}),
            frame(6, [1], {"game": {"turn": 0, "calls": {"1": 4}}, "clock": {"due": 900}}),
            offers(6),
            frame(7, [], {"clock": None}),
        ],
    ),
    (
        "cut off and gone on: the missed frames follow, the command is sent again",
        [
            *JOINED,
            BID,
            HELLO,
            welcome(4),
            frame(5, [1], {"room": {"watched": True}}),
            frame(6, [0, ORIGIN, 1], {"game": {"turn": 1}}),
            receive("duplicate", 1, 6),
        ],
    ),
    (
        "cut off and replaced: a whole view came, the command had been done",
        [
            *JOINED,
            BID,
            command("bid", number=4),
            HELLO,
            welcome(9, {"game": {"turn": 2}}),
            receive("duplicate", 1, 5),
            receive("rejected", 2, "stale", "P-43", {}, "look at the newest offers"),
        ],
    ),
    (
        "a reset: the store lost two commits",
        [
            *JOINED,
            frame(5, [0, "somebody", 1], {"game": {"turn": 1}}),
            frame(6, [1], {"game": {"turn": 2}}),
            BID,
            receive("reset", [BASE, 4, "mark4"], PLAYING, 2),
            offers(4),
            receive("frame", 5, "other5", [0, ORIGIN, 1], [], {"game": {"turn": 3}}),
        ],
    ),
    (
        "what a later level may add is ignored",
        [
            *JOINED,
            receive("confetti", {"a": 1}),
            receive("frame", 5, "mark5", [1], [], {"room": {"new": 1}}, "later", [1]),
            receive("seat", 0, "later"),
            welcome(5, None, later={"a": 1}) | {"first": HELLO},
        ],
    ),
    (
        "a gap is a fault: the cursor is dropped and the next hello asks for everything",
        [
            *JOINED,
            BID,
            frame(6, [1], {"game": {"turn": 2}}),
            frame(5, [1], {"game": {"turn": 1}}),
            HELLO,
            welcome(6, {"game": {"turn": 2}}),
        ],
    ),
    ("a repeat is a fault", [*JOINED, frame(4, [1], {"game": {"turn": 2}}), HELLO]),
    (
        "a welcome without a view for a client without one is a fault",
        [HELLO, welcome(4), HELLO, welcome(4, PLAYING)],
    ),
    ("a frame before the welcome is a fault", [HELLO, frame(1, [], {"room": {}})]),
    (
        "offers end with the game's next frame, with the seat, and come late sometimes",
        [
            *JOINED,
            frame(5, [], {"room": {"watched": True}}),
            frame(6, [1], {"game": {"turn": 1}}),
            offers(5),
            offers(6),
            receive("seat", -1),
        ],
    ),
    (
        "leave and take_back: a bot plays, nothing is offered, and then the same again",
        [
            *JOINED,
            command("leave"),
            frame(5, [0, ORIGIN, 1], {"room": {"seats": {"0": {"stand_in": "medium"}}}}),
            receive("offers", 5, "mark4", []),
            receive("emote", "Ben", 1, "thanks"),
            command("take_back"),
            frame(6, [0, ORIGIN, 2], {"room": {"seats": {"0": {"stand_in": None}}}}),
            receive("offers", 6, "mark4", [{"command": "pass"}]),
        ],
    ),
    (
        "a dry run, a rejection, and numbers that go on",
        [
            *JOINED,
            command("bid", number=3, dry=True),
            receive("accepted", 1, {"score": 7}),
            command("bid", number=9),
            receive("rejected", 2, "bid_out_of_range", "5", {"most": 5}, "name 0 to 5"),
            BID,
            HELLO,
            welcome(4),
            offers(4),
        ],
    ),
    (
        "turned away as too many: sent again in order when another one is answered",
        [
            *JOINED,
            *(command("bid", number=3) for _ in range(8)),
            receive("error", "too_many_unanswered", {"most": 8, "n": 7}, "wait for answers"),
            receive("error", "too_many_unanswered", {"most": 8, "n": 8}, "wait for answers"),
            frame(5, [1], {"room": {"watched": True}}),
            receive("rejected", 1, "stale", "P-43", {}, "look at the newest offers"),
            receive("error", "too_many_unanswered", {"most": 8, "n": 8}, "wait for answers"),
            receive("duplicate", 7, 4),
            receive("error", "too_many_unanswered", {"most": 8, "n": 1}, "wait for answers"),
            receive("error", "too_many_unanswered", {"most": 8, "n": 2}, "wait for answers"),
            HELLO,
            welcome(5),
            receive("duplicate", 2, 4),
        ],
    ),
    (
        "a command waits for its search, and is unanswered until there is an answer",
        [
            *JOINED,
            BID,
            receive("searching", 1, 1),
            receive("searching", 1, 0),
            frame(5, [0, ORIGIN, 1], {"game": {"turn": 1}}),
        ],
    ),
    (
        "a nonce is shown, sealed and opened",
        [
            HELLO,
            welcome(1, WAITING, watching=True),
            {"do": "sit"},
            frame(2, [-1, ORIGIN, 1], {"room": {"seats": {"0": {"nonce": "sealed"}}}}),
            receive("seat", 0),
            {"do": "ready"},
            frame(3, [0, ORIGIN, 2], {"room": {"seats": {"0": {"ready": True}}}}),
            frame(4, [1, "somebody", 5], {"room": {"status": "sealed", "deal": 1}}),
            frame(5, [0, ORIGIN, 3], {"room": {"seats": {"0": {"nonce": "open"}}}}),
            frame(6, [], {"room": {"status": "waiting", "seats": {"0": {"nonce": None}}}}),
            {"do": "ready"},
        ],
    ),
    (
        "presence, chat, pauses and clocks change nothing else",
        [
            *JOINED,
            receive("presence", [0, 1], 3),
            receive("chat", "1-0", "Ada", 0, "good evening ☺", 1_700_000_000_000, "cGVyc29uMDE"),
            receive("paused", True),
            receive("pong", 4, [10, 6]),
            receive("go", 5000),
            receive("error", "too_many", {"retry_ms": 500}, "too much at once"),
        ],
    ),
    (
        "evidence: chains that were told, signed or not, up to the end",
        [
            HELLO,
            welcome(14, OPEN_ROOM, chain=[15, CHAIN[15]], shared=True),
            frame(15, [], {"room": {"status": "sealed", "deal": 1}}, ["sealed", 1, ["", ""]]),
            receive("chain", 15, CHAIN[15], "k3J9x_Pq0aE", "signature"),
            frame(16, [], {"room": {"status": "playing"}}),
            receive("chain", 16, CHAIN[16]),
            frame(17, [], {"room": {"status": "over"}}),
            receive("chain", 17, CHAIN[17], "k3J9x_Pq0aE", "signature"),
            frame(18, [], {"room": {"rematch": "QJXKZC"}}),
            receive("chain", 18, CHAIN[18]),
            HELLO,
            welcome(18, OVER, chain=[18, CHAIN[18]], shared=True),
        ],
    ),
    (
        "evidence: two chains of one place, and a view that only this seat sees",
        [
            HELLO,
            welcome(15, OPEN_ROOM, chain=[15, CHAIN[15]]),
            frame(16, [], {"room": {"status": "playing"}}),
            receive("chain", 16, CHAIN[16]),
            receive("chain", 16, CHAIN[17]),
            receive("reset", [BASE, 14, "mark14"], OPEN_ROOM, 2),
            HELLO,
            welcome(14, OPEN_ROOM, watching=True, chain=[16, CHAIN[18]]),
            frame(15, [], {"room": {"status": "playing"}}),
            frame(16, [], {"game": {"turn": 0}}),
        ],
    ),
    (
        "evidence: the nonce that was opened, and is in the log",
        [
            HELLO,
            welcome(1, OPEN_ROOM, shared=True),
            {"do": "sit"},
            frame(2, [-1, ORIGIN, 1], {"room": {"seats": {"0": {"nonce": "sealed"}}}}),
            frame(3, [], {"room": {"status": "sealed", "deal": 1}}, ["sealed", 1, ["hash"]]),
            frame(4, [0, ORIGIN, 2], {"room": {"seats": {"0": {"nonce": "open"}}}}),
        ],
    ),
]


OTHER_BASE = "AAECAwQFBgcICQoLDA0ODw.0.1.1"
OPEN_STEPS: list[Step] = [
    HELLO,
    welcome(1, WAITING, watching=True),
    {"do": "sit"},
    frame(2, [-1, ORIGIN, 1], {"room": {"seats": {"0": {"nonce": "sealed"}}}}),
    receive("seat", 0),
    frame(3, [1, "somebody", 5], {"room": {"status": "sealed", "deal": 1}}),
]


def elsewhere(base: str, seq: int, mark: str) -> list[Step]:
    """A welcome that goes on, but from another cursor than the one that was sent."""
    arrival = {"you": "cGVyc29uMDE", "name": "Ada", "level": 1, "now": [9, 5]}
    return [
        *JOINED,
        BID,
        HELLO,
        receive("welcome", {**arrival, "cursor": [base, seq, mark], "seat": 0}),
        frame(5, [1], {"game": {"turn": 1}}),
        HELLO,
        welcome(5, {"game": {"turn": 1}}),
    ]


CASES += [
    (
        "P-42: after a second hello the numbers go on",
        [
            *JOINED,
            BID,
            frame(5, [0, ORIGIN, 1], {"game": {"turn": 0}}),
            HELLO,
            welcome(5),
            offers(5),
            BID,
        ],
    ),
    (
        "P-31: a frame of another origin with the same number is no answer",
        [*JOINED, BID, frame(5, [0, "YW5vdGhlcjE", 1], {"room": {"watched": True}})],
    ),
    ("P-25: a welcome goes on from another base", elsewhere(OTHER_BASE, 4, "mark4")),
    ("P-25: a welcome goes on from another seq", elsewhere(BASE, 3, "mark4")),
    ("P-25: a welcome goes on from another mark", elsewhere(BASE, 4, "mark3")),
    (
        "P-25: a second welcome is a fault, and all that follows is ignored",
        [
            *JOINED,
            BID,
            welcome(4),
            frame(5, [0, ORIGIN, 1], {"game": {"turn": 1}}),
            receive("rejected", 1, "stale", "P-43", {}, "look at the newest offers"),
            HELLO,
            welcome(5, {"game": {"turn": 1}}),
        ],
    ),
    (
        "P-25: error, go and pong may come before welcome, a frame may not",
        [
            HELLO,
            receive("error", "hello_expected", {}, "wait for welcome", "P-16"),
            receive("go", 5000),
            receive("pong", 0, [10, 6]),
            welcome(4, PLAYING),
            HELLO,
            frame(5, [1], {"game": {"turn": 1}}),
            HELLO,
            welcome(5, PLAYING),
        ],
    ),
    (
        "P-27: a reset voids offers that are held, and may have another base",
        [
            *JOINED,
            receive("reset", [BASE, 4, "mark4"], PLAYING, 0),
            offers(4),
            receive("reset", [OTHER_BASE, 6, "mark6"], {"game": {"turn": 1}}, 0),
            frame(7, [1], {"game": {"turn": 0}}),
        ],
    ),
    (
        "P-26: a dry command that is unanswered is sent again",
        [
            *JOINED,
            command("bid", number=3, dry=True),
            BID,
            HELLO,
            welcome(4),
            receive("accepted", 1, {}),
            frame(5, [0, ORIGIN, 2], {"game": {"turn": 1}}),
        ],
    ),
    (
        "P-17: a welcome without seat takes the seat away",
        [*JOINED, HELLO, welcome(5, {"room": {"status": "waiting"}}, watching=True)],
    ),
    (
        "P-39: the key game voids offers, null too",
        [*JOINED, frame(5, [], {"room": {"status": "over"}, "game": None})],
    ),
    (
        "P-54: while open is unanswered, no message leads to a second one",
        [
            *OPEN_STEPS,
            receive("presence", [0], 0),
            frame(4, [], {"room": {"watched": True}}),
            frame(5, [0, ORIGIN, 2], {"room": {"seats": {"0": {"nonce": "open"}}}}),
            receive("presence", [0], 1),
        ],
    ),
]


def replay() -> list[dict[str, Any]]:
    """All cases, with what the client core sends and knows."""
    return [
        {
            "name": name,
            "origin": ORIGIN,
            "nonces": [base64url(nonce) for nonce in NONCES],
            "steps": list(played(steps)),
        }
        for name, steps in CASES
    ]


def played(steps: list[Step]) -> Iterator[Step]:
    """Each step with its outcome."""
    client = begin(ORIGIN, iter(NONCES))
    for step in spelled_out(steps):
        sends, faulted = do(client, step)
        yield {**step, "sends": msgspec.to_builtins(sends), "after": known(client, faulted)}


def begin(origin: str, nonces: Iterator[bytes]) -> Replay:
    return Replay(lambda _: next(nonces), origin=origin)


def spelled_out(steps: list[Step]) -> Iterator[Step]:
    for step in steps:
        if "first" in step:
            yield step["first"]
        yield {key: value for key, value in step.items() if key != "first"}


def do(client: Replay, step: Step) -> tuple[list[m.ClientMessage], bool]:
    """One step: what the client sends, and whether it met a fault."""
    match step["do"]:
        case "hello":
            return [client.hello(step["token"])], False
        case "command":
            return [client.command(step["body"], dry=step["dry"])], False
        case "sit":
            return [client.sit()], False
        case "ready":
            return [client.ready()], False
    message = read_server(step["message"])
    updates = () if message is None else client.receive(message)
    sends: list[m.ClientMessage] = []
    if any(isinstance(each, u.Synced | u.Reset) for each in updates):
        sends += client.resend()
    sends += client.postponed()
    opening = client.opening()
    if opening is not None:
        sends.append(opening)
    return sends, any(isinstance(each, u.Faulted) for each in updates)


def known(client: Replay, faulted: bool) -> dict[str, Any]:
    knowledge = {
        "cursor": client.cursor,
        "view": client.view,
        "seat": client.seat,
        "tag": client.tag,
        "offers": client.offers,
        "unanswered": client.unanswered,
        "fault": faulted,
        "evidence": client.evidence,
    }
    document: dict[str, Any] = json.loads(encode_json(knowledge))
    return document


def read_nonces(case: dict[str, Any]) -> Iterator[bytes]:
    return map(from_base64url, case["nonces"])
