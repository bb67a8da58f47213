"""The vectors of whole records: a true one, what a client saw of it, and what may be changed in it.

A change is a list of `[path, value]`: a value of null takes the part out. With `repair` all links,
marks, the chain and the seal are then computed anew, as a server can that rewrites its log. With
`evidence` the record alone cannot show it: it holds together, and differs from what a client saw.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import msgspec

from tests.record import record_games
from tests.versions.golden import rooms_of
from towerhall_protocol.chain import START, link, mark, seal
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.evidence import Evidence, Place, view_hash, with_nonce, with_place
from towerhall_protocol.merge_patch import apply
from towerhall_protocol.record_steps import FASTER_MS, LATE_OPEN_MS, OPEN_MS
from towerhall_server.games.five_towers import GAME

Change = list[Any]
MOVE: Final = 20
"""Index of a commit in the middle of the game."""


@cache
def true_record() -> bytes:
    """A game of two people and no bots that was played to its end."""
    script = next(script for script in rooms_of(GAME) if script.as_record)
    return script.play().record()


@cache
def resigned_record() -> bytes:
    """A game that ended because a player resigned, and in which people changed their names."""
    script = next(script for script in rooms_of(GAME) if script.title.endswith("renamed"))
    return script.play().record()


@cache
def sandbox_record() -> bytes:
    """A game in a sandbox room with fast clocks, of which a deal was cancelled soon."""
    tape = record_games.new_tape(seats=2, sandbox=100)
    people = record_games.seat_everybody(tape, 2, sealed=(0, 1))
    record_games.cancel_a_deal(tape, people, people[1])
    record_games.deal(tape, people)
    tape.say(people[0], "resign")
    return tape.record()


def record() -> Any:
    return json.loads(true_record())


def evidence() -> Any:
    """What a client saw of it."""
    told, view = record(), dict[str, Any]()
    kept = Evidence(told["uid"], told["code"], told["proof"]["commitment"])
    for deal in told["proof"]["deals"]:
        for hand in deal["seats"]:
            if "nonce" in hand and str(deal["deal"]) not in kept.nonces:
                kept = with_nonce(kept, deal["deal"], hand["nonce"])
    last = len(told["commits"])
    for row, frame in zip(told["commits"], told["frames"], strict=True):
        view = apply(view, frame[5])
        if row[0] % 16 == 0 or row[0] == last:
            place = Place(row[0], row[2], view=view_hash(view), why="end" if row[0] == last else "")
            kept = with_place(kept, place)
    return msgspec.to_builtins(kept)


def tampered() -> list[dict[str, Any]]:
    """Everything that a check by the specification alone has to find."""
    keys = ("name", "clause", "repair", "evidence", "set")
    return [dict(zip(keys, (*case[:4], case[4](record())), strict=True)) for case in CASES]


def changed(record: Any, change: Change, *, repair: bool) -> Any:
    """The record after a change."""
    for path, value in change:
        part = record
        for key in path[:-1]:
            part = part[key]
        if value is None:
            del part[path[-1]]
        else:
            part[path[-1]] = value
    return repaired(record) if repair else record


def repaired(record: Any) -> Any:
    """The record with links, marks and seal that fit."""
    chain = START
    for row, frame in zip(record["commits"], record["frames"], strict=False):
        chain = link(chain, row[4], row[5], from_base64url(row[1]), from_base64url(row[3]))
        row[2], frame[2] = base64url(chain), mark(chain)
    record["chain"] = base64url(chain)
    record["seal"] = base64url(seal(chain, record))
    return record


def _other(text: str) -> str:
    return ("B" if text[0] == "A" else "A") + text[1:]


def _commit(told: Any, at: int) -> Any:
    return msgspec.msgpack.decode(from_base64url(told["commits"][at][3]))


def _blob(at: int, commit: Any) -> Change:
    return [[["commits", at, 3], base64url(msgspec.msgpack.encode(commit, order="sorted"))]]


def _stored(change: Callable[[Any], None], at: int = MOVE) -> Callable[[Any], Change]:
    """The stored commit is another one."""

    def make(told: Any) -> Change:
        commit = _commit(told, at)
        change(commit)
        return _blob(at, commit)

    return make


def _sitting(told: Any) -> tuple[int, Any]:
    """The first commit in which a person sat down, and its index."""
    found = (at for at in range(len(told["commits"])) if _sat(_commit(told, at)))
    at = next(found)
    return at, _commit(told, at)


def _sat(commit: Any) -> bool:
    return bool(commit[1]) and commit[1][0][0] == "person_sat"


def _renamed(told: Any) -> Change:
    at, commit = _sitting(told)
    commit[1][0][3] = "Somebody"
    return _blob(at, commit)


def _renamed_everywhere(told: Any) -> Change:
    """A name is changed in log, frames, seats and deals: all of it fits."""
    _, commit = _sitting(told)
    old, seat = commit[1][0][3], commit[1][0][1]
    text = json.dumps(told["frames"]).replace(json.dumps(old), json.dumps("Somebody"))
    change = _renamed(told)
    change += [[["frames"], json.loads(text)], [["seats", seat, "name"], "Somebody"]]
    for number, deal in enumerate(told["proof"]["deals"]):
        for place, hand in enumerate(deal["seats"]):
            if hand["name"] == old:
                change.append([["proof", "deals", number, "seats", place, "name"], "Somebody"])
    return change


def _longer(told: Any) -> Change:
    """The same commit, with the number of a seat in two bytes."""
    blob = from_base64url(told["commits"][MOVE][3])
    return [[["commits", MOVE, 3], base64url(blob[:2] + b"\xcc" + blob[2:])]]


def _faster(told: Any) -> Change:
    """The service clock gains 1 ms more on the wall clock than it may."""
    leads = [row[5] - row[4] for row in told["commits"]]
    more = FASTER_MS + 1 - (leads[MOVE] - min(leads[:MOVE]))
    rows = range(MOVE, len(leads))
    return [[["commits", at, 5], told["commits"][at][5] + more] for at in rows]


def _late(told: Any) -> Change:
    """The first nonce was opened 1 ms after the deal had to be cancelled at the latest."""
    rows, names = told["commits"], list(map(_names, told["frames"]))
    sealed = next(at for at, found in enumerate(names) if "sealed" in found)
    first = next(at for at, found in enumerate(names) if "nonce_opened" in found)
    more = OPEN_MS + LATE_OPEN_MS + 1 - (rows[first][5] - rows[sealed][5])
    places = [(at, clock) for at in range(first, len(rows)) for clock in (4, 5)]
    return [[["commits", at, clock], rows[at][clock] + more] for at, clock in places]


def _names(frame: Any) -> set[str]:
    return {fact[0] for fact in frame[4]}


def closed(by: str, reason: str, **more: str) -> Callable[[Any], Change]:
    """The last commit is told as a close."""

    def make(told: Any) -> Change:
        last, secret = len(told["commits"]) - 1, told["proof"]["secret"]
        events = [["room_closed", reason], ["secret_revealed", from_base64url(secret)]]
        command = {"by": by, "command": "close", "reason": more.get("told", reason)} if by else {}
        stored = [[-1, "", "", 0], events, [], [], command]
        room = {"status": "over", "closed": reason, "secret": secret, "result": None}
        facts = [["room_closed", reason], ["secret_revealed", secret]]
        frame: tuple[tuple[int, Any], ...] = ((3, []), (4, facts), (5, {"room": room}))
        changes = [[["frames", last, at], value] for at, value in frame]
        return [*_blob(last, stored), *changes, [["result"], None], [["closed"], reason]]

    return make


def _cut(told: Any) -> Change:
    return [[["commits", -1], None], [["frames", -1], None]]


def _set(*path: Any, value: Callable[[Any], Any]) -> Callable[[Any], Change]:
    """One part is another one, by what it was."""

    def make(told: Any) -> Change:
        part = told
        for key in path:
            part = part.get(key) if isinstance(part, dict) else part[key]
        return [[list(path), value(part)]]

    return make


def _more(number: int) -> int:
    return number + 1


def _twice(told: Any) -> Change:
    return [[["commits", MOVE, 1], told["commits"][MOVE - 1][1]]]


def _name_event(commit: Any) -> None:
    commit[2][0][0] = "passed_on"


def _no_event(commit: Any) -> None:
    commit[2].pop()


def _cause(commit: Any) -> None:
    commit[0][0] = 1 - commit[0][0]


def _identity(commit: Any) -> None:
    commit[0][1] = _other(commit[0][1]) if commit[0][1] else "somebody"
    commit[0][3] = commit[0][3] or 99


CASES: Final[tuple[tuple[str, int, bool, bool, Callable[[Any], Change]], ...]] = (
    ("another commitment", 80, True, False, _set("proof", "commitment", value=_other)),
    ("another secret", 80, True, False, _set("proof", "secret", value=_other)),
    ("another uid", 80, True, False, _set("uid", value=_other)),
    (
        "another nonce",
        81,
        True,
        False,
        _set("proof", "deals", -1, "seats", 0, "nonce", value=_other),
    ),
    ("another seed", 84, True, False, _set("proof", "deals", -1, "seed", value=_other)),
    ("a deal is left out", 83, True, False, lambda told: [[["proof", "deals", 0], None]]),
    ("another draw", 84, True, False, _set("draws", 0, 4, value=lambda cards: cards[::-1])),
    ("another mark", 34, False, False, _set("frames", MOVE, 2, value=_other)),
    ("another link", 121, False, False, _set("commits", MOVE, 2, value=_other)),
    ("another wall time", 121, False, False, _set("commits", -1, 4, value=_more)),
    ("another service time", 121, False, False, _set("commits", MOVE, 5, value=_more)),
    ("wall time runs back", 121, True, False, _set("commits", MOVE, 4, value=lambda _: 1)),
    ("service time runs back", 121, True, False, _set("commits", MOVE, 5, value=lambda _: 1)),
    ("service time runs ahead of wall time", 125, True, False, _faster),
    ("nonces opened too late", 125, True, False, _late),
    ("a close told as an end that players wanted", 125, True, False, closed("service", "agreed")),
    ("a room that wanted its own end", 125, True, False, closed("", "agreed")),
    ("a close by an operator that has no room", 125, True, False, closed("operator", "tidied")),
    ("a close for a reason in capitals", 125, True, False, closed("service", "TIDIED")),
    (
        "a close for another reason than was given",
        125,
        True,
        False,
        closed("service", "tidied", told="rude"),
    ),
    ("a commit id twice", 121, True, False, _twice),
    ("another number of a commit", 121, True, False, _set("commits", MOVE, 0, value=_more)),
    ("another end of the chain", 121, False, False, _set("chain", value=_other)),
    ("another seal", 121, False, False, _set("seal", value=_other)),
    (
        "a part of the record that the chain does not cover",
        121,
        False,
        False,
        _set("settings", "bot_delay_ms", value=_more),
    ),
    ("a view that was never shown", 121, False, False, _set("frames", MOVE, 5, value=lambda _: {})),
    ("without the end", 121, True, False, _cut),
    ("a blob that is longer than it has to be", 122, True, False, _longer),
    ("another cause in the log", 122, True, False, _stored(_cause)),
    (
        "another cause in a frame",
        122,
        True,
        False,
        _set("frames", MOVE, 3, value=lambda cause: [1 - cause[0]]),
    ),
    ("another event in the log", 122, True, False, _stored(_name_event)),
    ("an event that is not told", 122, True, False, _set("frames", MOVE, 4, value=lambda f: f[1:])),
    ("an event that is not in the log", 122, True, False, _stored(_no_event)),
    ("a move of somebody who has no seat", 123, True, False, _stored(_identity, -2)),
    ("another name in the log", 122, True, False, _renamed),
    ("another name of a seat", 123, True, False, _set("seats", 0, "name", value=lambda _: "Eve")),
    ("a bot that was none", 123, True, False, _set("seats", 0, "bot", value=lambda _: "hard")),
    (
        "another name in a deal",
        123,
        True,
        False,
        _set("proof", "deals", -1, "seats", 0, "name", value=lambda _: "Eve"),
    ),
    ("another code", 123, True, False, _set("code", value=lambda _: "ABCDEG")),
    ("another version of the rules", 123, True, False, _set("version", value=_more)),
    ("another option", 123, True, False, _set("options", "bids", value=lambda _: "table")),
    ("another clock", 123, True, False, _set("settings", "turn_seconds", value=_more)),
    ("another result", 120, True, False, _set("result", "scores", 0, value=_more)),
    (
        "another commit id: all of it fits",
        87,
        True,
        True,
        _set("commits", MOVE, 1, value=_other),
    ),
    ("another name everywhere: all of it fits", 87, True, True, _renamed_everywhere),
)
