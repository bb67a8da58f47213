"""The server of today serves a client of the oldest level, as such a client was written then.

The client sends `protocol/vectors/levels/1.json` and knows nothing of what came later.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.raw import BOTH, Raw, connected, new_guest, new_room
from tests.end_to_end.servers import ServerProcess
from towerhall_protocol.level import OLDEST_LEVEL

FILE = Path(__file__).parents[2] / f"protocol/vectors/levels/{OLDEST_LEVEL}.json"
VECTORS: dict[str, Any] = json.loads(FILE.read_text())
KINDS = {"map": dict, "list": list, "text": str, "integer": int, "boolean": bool}


class Old:
    """A client of that level. It keeps a view, and reads only the fields that it knows."""

    def __init__(self, part: str, token: str) -> None:
        self._part, self._token = VECTORS[part], token
        self.view: dict[str, Any] = {}
        self._cursor: list[Any] = []
        self._tag = ""
        self._offers: list[Any] = []
        self._given: dict[int, Any] = {}
        self.heard = Counter[str]()

    def filled(self, message: Any, origin: str) -> Any:
        """What it sends, with the values of this run."""
        text = json.dumps(message).replace('"CURSOR"', json.dumps(self._cursor))
        known = {
            "TOKEN": self._token,
            "ORIGIN": origin,
            "TAG": self._tag,
            "OFFERED": self._picked(),
        }
        for name, value in known.items():
            text = text.replace(f'"{name}"', json.dumps(value))
        filled = json.loads(text)
        # A command that comes again is the same, whatever is offered by then.
        return self._given.setdefault(filled[1], filled) if filled[0] == "command" else filled

    def _picked(self) -> dict[str, Any]:
        """The first command of the offers (P-38)."""
        if not self._offers:
            return {}
        offer = self._offers[0]
        parameters = offer["choices"][0][0] if "choices" in offer else {}
        numbers = {name: least for name, (least, _) in offer.get("ranges", {}).items()}
        return {"command": offer["command"], **parameters, **numbers}

    def take(self, message: Sequence[Any]) -> None:
        """One message of the server, read as the level says."""
        name, *fields = message
        kinds = self._part["hears"].get(name)
        assert kinds is not None, f"{name} is of a later level"
        check(fields, kinds, name)
        self.heard[name] += 1
        match name, fields:
            case "welcome", [arrival, *_]:
                for key, kind in self._part["arrival"].items():
                    check([arrival.get(key)], [kind], f"welcome.{key}")
                self._cursor = arrival.get("cursor", [])
                self.view = arrival.get("view", arrival.get("list", self.view))
            case "reset", [cursor, dict(view), *_]:
                self._cursor, self.view = cursor, view
            case "frame", [seq, mark, _, _, patch, *_]:
                assert seq == self._cursor[1] + 1
                self._cursor, self.view = [self._cursor[0], seq, mark], merged(self.view, patch)
            case "offers", [_, tag, offers, *_]:
                self._tag, self._offers = tag, offers
        for key, kind in self._part.get("view", {}).items():
            check([self.view["room"].get(key)], [kind], f"view.{key}")


def check(fields: Sequence[Any], kinds: Sequence[str], where: str) -> None:
    """Fields of later levels may follow; these must be there, and of these kinds."""
    assert len(fields) >= len(kinds), where
    for field, kind in zip(fields, kinds, strict=False):
        assert type(field) is KINDS[kind], f"{where}: {field!r:.60} is no {kind}"


def merged(document: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(document)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            before = result.get(key)
            result[key] = merged(before if isinstance(before, dict) else {}, value)
        else:
            result[key] = value
    return result


async def plays(old: Old, part: str, url: str, path: str, subprotocol: str) -> None:
    """Say all of the file, on a new connection for each hello, and hear what it says follows."""
    says = VECTORS[part]["says"]
    hellos = [at for at, (message, _) in enumerate(says) if message[0] == "hello"]
    origin = "b3JpZ2luMTE"
    for begin, end in zip(hellos, [*hellos[1:], len(says)], strict=True):
        async with connected(url, "", subprotocol, path=path) as raw:
            for message, follows in says[begin:end]:
                await raw.say(*old.filled(message, origin))
                await hears(old, raw, message, follows)


async def hears(old: Old, raw: Raw, said: Sequence[Any], follows: str) -> None:
    while True:
        told = await raw.hear()
        old.take(told)
        is_own = told[0] != "frame" or said[0] != "command" or told[3][2:] == [said[1]]
        if told[0] == follows and is_own:
            return


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_a_client_of_the_oldest_level_plays_a_game(
    shared: ServerProcess, subprotocol: str
) -> None:
    token = new_guest(shared.url)
    code = new_room(shared.url, token, game="five_towers", seats=2)["code"]
    old = Old("room", token)
    await plays(old, "room", shared.url, f"/v1/rooms/{code}", subprotocol)
    assert old.view["room"]["closed"] == "resigned"
    assert old.view["room"]["rematch"]
    names = {follows for _, follows in VECTORS["room"]["says"]}
    assert names | {"seat", "presence"} <= set(old.heard)
    assert old.heard["error"] == 1


async def test_a_client_of_the_oldest_level_sees_the_lobby(shared: ServerProcess) -> None:
    token = new_guest(shared.url)
    old = Old("lobby", token)
    await plays(old, "lobby", shared.url, "/v1/lobby", BOTH[0])
    assert old.heard["error"] == 0
