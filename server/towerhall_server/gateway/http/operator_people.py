"""Routes for operators about their own people: histories, ratings, reports.

An operator names people by external id. People of others are answered as unknown. A hidden profile
is shown: the operator gave these people their names.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from towerhall_server.access.audit import source_of
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.http.regular_requests import NUMBER, after_wish, games_wish
from towerhall_server.gateway.responses import RefusedError, answer
from towerhall_server.operators.operator import MOST_EXTERNAL, identity_of
from towerhall_server.regulars.people import Who

NAMED_BY: Final = "external_id"
Serve = Callable[[Request, str], Awaitable[Response]]
ForOperators = Callable[[Serve], Callable[[Request], Awaitable[Response]]]


class OperatorPeople:
    """Endpoints of operators about people."""

    def __init__(self, hall: Hall, secret: bytes) -> None:
        self._hall, self._secret = hall, secret
        self._regulars = hall.regulars

    def table(self, for_operators: ForOperators) -> Sequence[BaseRoute]:
        """The routes. `for_operators` refuses all other requests."""
        at = "/v1/operator"
        return (
            Route(f"{at}/people", for_operators(self.person), methods=["GET"]),
            Route(f"{at}/people/games", for_operators(self.games), methods=["GET"]),
            Route(f"{at}/reports", for_operators(self.reports), methods=["GET"]),
            Route(f"{at}/reports/{{number}}", for_operators(self.settle), methods=["DELETE"]),
        )

    async def person(self, request: Request, operator: str) -> Response:
        """Return a person's id, handle, statistics and ratings."""
        who, external_id = await self._person(request, operator)
        profile = await self._regulars.profiles.profile(who)
        return answer({"external_id": external_id, "id": who.id, **profile})

    async def games(self, request: Request, operator: str) -> Response:
        """Return a page of a person's games."""
        wish = games_wish(request, without=NAMED_BY)
        who, _ = await self._person(request, operator)
        return answer(await self._regulars.profiles.history(who, wish, who.handle))

    async def reports(self, request: Request, operator: str) -> Response:
        """Return the oldest reports from the operator's rooms."""
        found = await self._regulars.reports.page(operator, after_wish(request))
        return answer({"reports": msgspec.to_builtins(found)})

    async def settle(self, request: Request, operator: str) -> Response:
        """Remove a report that is dealt with."""
        number = request.path_params["number"]
        if not NUMBER.fullmatch(number):
            raise RefusedError("not_found")
        if not await self._regulars.reports.settle(operator, number):
            raise RefusedError("not_found")
        self._hall.audit.note(source_of(operator), "report_settled", number=number)
        return answer({"number": number})

    async def _person(self, request: Request, operator: str) -> tuple[Who, str]:
        external_id = request.query_params.get(NAMED_BY, "")
        if not 0 < len(external_id) <= MOST_EXTERNAL:
            detail = f"external_id has 1 to {MOST_EXTERNAL} characters"
            raise RefusedError("bad_request", detail=detail)
        try:
            identity = identity_of(self._secret, operator, external_id)
        except UnicodeError:
            raise RefusedError("bad_request", detail="external_id is no text") from None
        handle = await self._regulars.people.handle_of(identity)
        who = await self._regulars.people.who(handle) if handle else None
        if who is None:
            raise RefusedError("not_found")
        return who, external_id
