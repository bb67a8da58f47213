"""Asking routes without a server."""

from collections.abc import Mapping, Sequence

from starlette.routing import BaseRoute, Router
from starlette.types import Message, Scope


class Answer:
    """What the routes answer, without a server."""

    def __init__(self, sent: list[Message]) -> None:
        start, *rest = sent
        self.status: int = start["status"]
        self.headers = {name.decode(): value.decode() for name, value in start["headers"]}
        self.body = b"".join(message["body"] for message in rest)

    @property
    def policy(self) -> dict[str, str]:
        directives = self.headers["content-security-policy"].split(";")
        return dict(directive.strip().split(" ", 1) for directive in directives)


async def asked(
    routes: Sequence[BaseRoute], path: str, headers: Mapping[str, str] | None = None
) -> Answer:
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in (headers or {}).items()],
        "app": None,
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await Router(routes, redirect_slashes=False)(scope, receive, send)
    return Answer(sent)
