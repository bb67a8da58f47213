"""A whole service without a network: requests go to its routes in this process."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec
from starlette.types import Message, Scope

from tests.regulars.games import Table
from towerhall_server.app import Service, service
from towerhall_server.config.settings import read_settings
from towerhall_server.regulars.ends import End

ACME_KEY, OTHER_KEY, TOKEN_KEY = (
    sha256(name.encode()).hexdigest() for name in ("acme", "other", "tokens")
)
SETTINGS: Final = {
    "TOWERHALL_OPERATOR_KEYS": f"acme:{ACME_KEY} other:{OTHER_KEY}",
    "TOWERHALL_TOKEN_KEYS": TOKEN_KEY,
    "TOWERHALL_LIMIT_QUESTIONS_PER_IDENTITY": "10000/s burst 10000",
    "TOWERHALL_LIMIT_GUESTS_PER_IP": "10000/s burst 10000",
    "TOWERHALL_LIMIT_GETS_PER_IP": "10000/s burst 10000",
}


class Answer(msgspec.Struct, frozen=True):
    status: int
    body: bytes
    headers: Mapping[str, str] = {}

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.document["error"]["code"])


class Served:
    """Asks a service."""

    def __init__(self, running: Service) -> None:
        self.running = running
        self.table = Table(running.hall.directory.node.log)

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str = "",
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, object] | None = None,
    ) -> Answer:
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        given = {"content-type": "application/json", **(headers or {})}
        if token:
            given["authorization"] = f"Bearer {token}"
        scope: Scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": quote(path).encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": urlencode(query or {}).encode(),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
        }
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": data, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.running.app(scope, receive, send)
        told = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], b"".join(each["body"] for each in sent[1:]), told)

    async def guest(self, name: str) -> "Guest":
        found = (await self.ask("POST", "/v1/guests", {"name": name})).document
        return Guest(self, found["id"], found["token"])

    async def play(self, *ends: End) -> None:
        """These games end. The service's own consumer knows no rooms for them."""
        consumer = self.table.consumer()
        for each in ends:
            self.table.ends[each.code] = each
            await consumer.note(each.code)
        await consumer.finish()


class Guest(msgspec.Struct, frozen=True):
    """A person with a token."""

    served: Served
    id: str
    token: str

    async def get(self, path: str, **query: object) -> Answer:
        return await self.served.ask("GET", path, token=self.token, query=query)

    async def post(self, path: str, **body: object) -> Answer:
        return await self.served.ask("POST", path, body, token=self.token)

    async def handle(self) -> str:
        return await self.served.table.people.handle_of(self.id)


@asynccontextmanager
async def served(url: str, **settings: str) -> AsyncIterator[Served]:
    """A service on that store. Its own consumer is left to the tests."""
    read = read_settings({**SETTINGS, **settings}, {"redis_url": url})
    async with service(read, url) as running:
        yield Served(running)
