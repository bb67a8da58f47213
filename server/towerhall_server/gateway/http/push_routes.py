"""Routes of web push: the key of this service, and the devices of a person.

As in `routes`, each endpoint reads a request, calls `push`, and answers.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http.regular_routes import Asking, Reading
from towerhall_server.gateway.responses import RefusedError, answer, read_body
from towerhall_server.push.service import Pushes
from towerhall_server.push.subscriptions import problem_of

MOST_LANGUAGE: Final = 35
Language = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^([A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*)?(?![\s\S])", max_length=MOST_LANGUAGE
    ),
]


class NewSubscription(msgspec.Struct, forbid_unknown_fields=True):
    """A device, as its browser describes it."""

    endpoint: str
    p256dh: str
    auth: str
    language: Language = ""


class GoneSubscription(msgspec.Struct, forbid_unknown_fields=True):
    """A device that is to be told nothing any more."""

    endpoint: str


class PushRoutes:
    """All endpoints of web push."""

    def __init__(self, hall: Hall, asking: Asking) -> None:
        self._hall, self._asking = hall, asking

    def table(self, reading: Reading) -> Sequence[BaseRoute]:
        """The routes. `reading` makes a GET route under the rate of the client's address."""
        path = "/v1/me/subscriptions"
        return (
            reading("/v1/push", self.key),
            Route(path, self.subscribe, methods=["POST"]),
            Route(path, self.unsubscribe, methods=["DELETE"]),
        )

    async def key(self, request: Request) -> Response:
        """Return the key that browsers need for a subscription."""
        return answer({"key": self._pushes().vapid.public})

    async def subscribe(self, request: Request) -> Response:
        """Keep a device of the caller."""
        token = await self._asking(request)
        pushes = self._pushes()
        wanted = await read_body(request, NewSubscription)
        given = wanted.endpoint, wanted.p256dh, wanted.auth
        problem = problem_of(*given, any_port=pushes.any_port)
        if problem:
            raise RefusedError("bad_subscription", detail=problem)
        expires = await pushes.subscribe(token, *given, wanted.language)
        return answer({"expires": expires}, 201)

    async def unsubscribe(self, request: Request) -> Response:
        """Forget a device of the caller. An unknown one is no mistake."""
        token = await self._asking(request)
        wanted = await read_body(request, GoneSubscription)
        await self._pushes().unsubscribe(token.person.id, wanted.endpoint)
        return answer({"id": token.person.id})

    def _pushes(self) -> Pushes:
        if self._hall.pushes is None:
            raise RefusedError("no_push")
        return self._hall.pushes
