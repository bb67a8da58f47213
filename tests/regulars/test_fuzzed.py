"""Requests that nobody would write by hand, at all addresses about people and about games at play.

Whatever comes: no fault, always a code of the specification with its status, and nothing that is
not for who asks. The requests follow from a seed, which a failure names.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import pytest
from redis.asyncio import Redis

from tests.examples import examples
from tests.lobby.test_live_routes import playing
from tests.protocol.openapi import OPERATIONS, QUERIES, Operation
from tests.protocol.test_spec import table
from tests.regulars.games import end
from tests.regulars.served import ACME_KEY, OTHER_KEY, Answer, Guest, Served, served
from towerhall_server.gateway.responses import STATUS
from towerhall_server.regulars.reports import ChatLine, Report

REQUESTS: Final = examples(400, 10_000)
AT_ONCE: Final = 100
"""Refusals of rooms take their time (P-116)."""
ADDRESSES: Final[Sequence[tuple[str, str, Operation]]] = [
    (method.upper(), path, operation)
    for (method, path), operation in sorted(OPERATIONS.items())
    if operation.clause.startswith(("P-20", "P-21", "P-22"))
]
METHODS: Final = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "BREW")
WITHOUT_BODY: Final = ("HEAD", "OPTIONS")
SAID: Final = "a line of chat for the operator"
HIDDEN_NAME, PRIVATE_NAME = "Hidden Hilda", "Private Petra"


class World(msgspec.Struct, frozen=True):
    """People, games, rooms and a report, and what of it no stranger may read."""

    service: Served
    ada: Guest
    handles: Sequence[str]
    codes: Sequence[str]
    keys: Sequence[str]
    secrets: Mapping[str, str]
    """What it is, by its text."""
    numbers: Sequence[str]


@pytest.fixture
async def world(engine_url: str, redis: Redis) -> AsyncIterator[World]:
    async with served(engine_url) as service:
        ada, ben = await service.guest("Ada"), await service.guest("Ben")
        hilda, petra = await service.guest(HIDDEN_NAME), await service.guest(PRIVATE_NAME)
        private = end(2, petra.id, ben.id, private=True)
        await service.play(end(1, ada.id, ben.id), private, end(3, hilda.id, ben.id))
        names = {"Ada": ada, "Ben": ben, HIDDEN_NAME: hilda, PRIVATE_NAME: petra}
        for name, guest in names.items():
            await service.running.hall.regulars.people.rename(await guest.handle(), name)
        for guest in (hilda, petra):
            assert (await guest.post("/v1/me/profile", hidden=True)).status == 200
        open_room = await playing(service, ada)
        closed = await playing(service, petra, private=True)
        reports = service.running.hall.regulars.reports
        lines = (ChatLine("1-0", 1, SAID),)
        await reports.add("acme", Report("ABCDEF", ada.id, ben.id, "Ben", "chat", lines=lines))
        (report,) = await reports.page("acme")
        found = await service.ask(
            "POST", "/v1/operator/tokens", {"external_id": "x 1", "name": "Zoe"}, token=ACME_KEY
        )
        secrets = {
            HIDDEN_NAME: "a name", PRIVATE_NAME: "a name", SAID: "a report",
            await petra.handle(): "a handle",
            private.code: "a private game", closed["code"]: "a private room",
            closed["key"]: "a key", found.document["id"]: "an id of an operator's person",
            ACME_KEY: "a key of an operator",
        }  # fmt: skip
        for guest in (ada, ben, hilda, petra):
            secrets |= {guest.id: "an id", guest.token: "a token"}
        # A stranger knows the handle of one hidden person, and not that of the other one.
        people = [await each.handle() for each in (ada, ben, hilda)]
        codes = [open_room["code"], closed["code"], private.code]
        yield World(service, ada, people, codes, [closed["key"]], secrets, [report.number])


class Request(msgspec.Struct, frozen=True):
    method: str
    path: str
    query: Mapping[str, object]
    body: object
    token: str
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        """All that the asker said: an answer may repeat it."""
        body = self.body if isinstance(self.body, bytes) else msgspec.json.encode(self.body)
        return f"{self.path} {self.query} {body.decode(errors='replace')} {self.token}"


class Fuzzer:
    """Makes requests by chance."""

    def __init__(self, seed: int, world: World, eve: Guest) -> None:
        self._chance, self._world, self._eve = random.Random(seed), world, eve

    def request(self) -> Request:
        chance = self._chance
        method, path, operation = chance.choice(ADDRESSES)
        if chance.random() < 0.1:
            method = chance.choice(METHODS)
        parts = [self._part(part) if part.startswith("{") else part for part in path.split("/")]
        headers = {}
        if chance.random() < 0.1:
            headers["content-type"] = chance.choice(
                ("text/plain", "", "application/json;charset=x")
            )
        if chance.random() < 0.2:
            headers["towerhall-key"] = chance.choice(("", "x" * 16, "\x7f"))
        if chance.random() < 0.1:
            headers["if-none-match"] = chance.choice(("*", '"1-x"', ",,,", "W/"))
        return Request(
            method,
            "/".join(parts),
            self._query(path),
            self._body(operation.body),
            self._token(operation.needs),
            headers,
        )

    def _token(self, needs: str) -> str:
        eve, ada = self._eve.token, self._world.ada.token
        wrong = (
            "",
            "x",
            ada[:-2],
            ada[:-1] + "_",
            f"{ada}.{eve}",
            "\xff",
            "Bearer " + eve,
            "0" * 64,
        )
        usual = OTHER_KEY if needs == "operator" else eve
        return self._chance.choice((usual,) * 24 + (OTHER_KEY, eve, *wrong))

    def _part(self, name: str) -> str:
        world = self._world
        known = {
            "{handle}": world.handles,
            "{code}": world.codes,
            "{game}": ("five_towers", "nikitin_towers"),
            "{number}": world.numbers,
        }.get(name, ())
        return str(self._chance.choice((*known, *known, *known, self._odd_text())))

    def _query(self, path: str) -> Mapping[str, object]:
        chance, found = self._chance, dict[str, object]()
        for name in QUERIES.get(path, {}):
            if chance.random() < 0.4:
                found[name] = self._sensible(name)
        if chance.random() < 0.1:
            found[self._odd_text()] = self._value()
        return found

    def _body(self, kind: Any) -> object:
        chance = self._chance
        if kind is None and chance.random() < 0.9:
            return None
        wild = chance.random()
        if wild < 0.15:
            return self._bytes()
        names = (
            [] if kind is None else [field.encode_name for field in msgspec.structs.fields(kind)]
        )
        body = {name: self._sensible(name) for name in names if chance.random() < 0.5}
        if wild < 0.25:
            body[self._odd_text()] = self._value()
        return body if wild < 0.95 else [body]

    def _bytes(self) -> bytes:
        """Bodies that are no JSON, or JSON of the worst kind."""
        handle = self._world.handles[0]
        return self._chance.choice(
            (
                b"",
                b"\xff\xfe{}",
                b"\xef\xbb\xbf{}",
                b"[" * 4000,
                b'{"a":' * 600 + b"1" + b"}" * 600,
                b'{"handle":"%b","handle":"%b"}' % (handle.encode(), b"A" * 11),
                b'{"hidden":NaN}',
                b'{"seat":1e999}',
                b'{"seat":' + b"9" * 400 + b"}",
                b'{"text":"\\ud800"}',
                b'{"id":"\\u0000"}',
                b'{"room":"' + b"x" * 5000 + b'"}',
                b'{"handle"',
                b"null",
                b"0",
            )
        )

    def _sensible(self, name: str) -> object:
        """Often what a field of that name takes."""
        chance, world = self._chance, self._world
        known: Mapping[str, Sequence[object]] = {
            "handle": world.handles, "room": world.codes, "id": (self._eve.id, world.ada.id),
            "seat": (0, 1), "reason": ("chat", "name"), "text": ("look",), "hidden": (True, False),
            "chat": (True, False), "remove": (True, False), "lines": ([], ["1-0"]),
            "game": ("five_towers",), "limit": (1, 20), "most": (1, 50), "first": (1, 3),
            "seats": (2, 5), "external_id": ("x 1", "x 2"), "before": (2, 3),
        }  # fmt: skip
        if name not in known or chance.random() < 0.4:
            return self._value()
        return chance.choice(known[name])

    def _value(self) -> object:
        """Something for a field: what fits, what belongs to another person, and nonsense."""
        chance, world = self._chance, self._world
        odd = self._odd_text()
        return chance.choice(
            (
                True, False, None, -1, 0, 1, 2, 5, 20, 2**31, 2**53, -(2**63), 2**64, 0.5,
                "five_towers", "chat", "x 1", self._eve.id, world.ada.id, odd, odd, odd,
                *world.handles, *world.codes, *world.numbers, [], [odd], ["1-0"], {}, {"a": odd},
            )
        )  # fmt: skip

    def _odd_text(self) -> str:
        return str(
            self._chance.choice(
                (
                    "", " ", "x", "A" * 11, "A" * 12, "B" * 6, "QQQQQQ", "x" * 41, "y" * 2000, "..",
                    "%00", "\x00", "\n", "é", "\u202e", "\ufeff", "\U0001f3f0" * 11, "1e3", "-1",
                    "0x10", "\uff19", "true", "null", "'; FLUSHALL", "{p:x}", "*", "[a-z]*", "1-1",
                    "(1-0",
                )
            )
        )  # fmt: skip


def codes_over_http() -> set[str]:
    """The codes that the specification allows here (P-102)."""
    return {row[0] for row in table(102) if "H" in row[1].split(", ")}


def judge(asked: Request, answer: Answer, world: World, codes: set[str]) -> str:
    """What is wrong with an answer; empty if nothing is."""
    if answer.status >= 500:
        return f"status {answer.status}"
    text = answer.body.decode()
    for secret, kind in world.secrets.items():
        if secret in text and secret not in asked.text:
            return f"it tells {kind}"
    if answer.status >= 400 and asked.method not in WITHOUT_BODY:
        error = json.loads(text)["error"]
        if error["code"] not in codes:
            return f"{error['code']} is no code over HTTP"
        if answer.status != STATUS.get(error["code"], 400):
            return f"{error['code']} came with {answer.status}"
    return ""


async def test_no_request_meets_a_fault_or_gets_what_is_not_for_the_asker(world: World) -> None:
    codes, service = codes_over_http(), world.service
    seen: dict[tuple[str, int], int] = {}
    seed = random.randrange(2**32)
    eve = await service.guest("Eve")
    for first in range(0, REQUESTS, AT_ONCE):
        fuzzer = Fuzzer(seed + first, world, eve)
        asked = [fuzzer.request() for _ in range(AT_ONCE)]
        answers = await asyncio.gather(*(_ask(service, each) for each in asked))
        for each, answer in zip(asked, answers, strict=True):
            wrong = judge(each, answer, world, codes)
            assert not wrong, f"{wrong}: seed {seed + first}, {each}, {answer}"
            seen[each.method, answer.status] = seen.get((each.method, answer.status), 0) + 1
        # Some requests end all tokens of their asker.
        if (await eve.get("/v1/me/profile")).status == 401:
            eve = await service.guest("Eve")
    assert {200, 400, 401, 404, 405} <= {status for _, status in seen}, (seed, seen)
    assert seen.get(("POST", 200), 0) > 0, (seed, seen)


async def _ask(service: Served, wanted: Request) -> Answer:
    return await service.ask(
        wanted.method,
        wanted.path,
        wanted.body,
        token=wanted.token,
        headers=wanted.headers,
        query=wanted.query,
    )


async def test_the_judge_finds_what_is_wrong(world: World) -> None:
    asked, codes = Request("GET", "/v1/live", {}, None, "", {}), codes_over_http()
    assert judge(asked, await _ask(world.service, asked), world, codes) == ""
    for spoilt, wrong in (
        (Answer(500, b""), "status 500"),
        (Answer(404, b'{"error":{"code":"lost"}}'), "no code over HTTP"),
        (Answer(400, b'{"error":{"code":"not_found"}}'), "came with 400"),
        (Answer(200, HIDDEN_NAME.encode()), "it tells a name"),
        (Answer(200, world.ada.id.encode()), "it tells an id"),
        (Answer(200, world.keys[0].encode()), "it tells a key"),
    ):
        assert wrong in judge(asked, spoilt, world, codes)
