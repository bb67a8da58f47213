"""The OpenAPI 3.1 document of everything over HTTP: requests from the server's own types."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import msgspec

from tests.protocol.tidy import tidy
from towerhall_protocol import account_answers as c
from towerhall_protocol import answers as a
from towerhall_protocol import people_answers as p
from towerhall_protocol.errors import HINTS
from towerhall_protocol.level import LEVEL
from towerhall_protocol.record import Record
from towerhall_server.gateway.http import (
    account_requests,
    lobby_routes,
    log_routes,
    operator_requests,
    push_routes,
    regular_requests,
    routes,
)
from towerhall_server.gateway.responses import STATUS

REF = "#/components/schemas/{name}"
JSON = "application/json"


class Operation(NamedTuple):
    """One address and method. An answer is a type, or the media type of other data."""

    name: str
    clause: str
    says: str
    status: int
    answer: Any
    body: Any = None
    needs: str = ""
    """Who may ask: `token`, `operator`, `perhaps` (a token or none), or all (empty)."""


OPERATIONS: Mapping[tuple[str, str], Operation] = {
    ("post", "/v1/guests"): Operation(
        "new_guest", "P-112", "A token for a new person", 201, a.TokenAnswer, routes.NewGuest
    ),
    ("get", "/v1/games"): Operation("games", "P-113", "All games", 200, a.GamesAnswer),
    ("get", "/v1/rooms"): Operation("rooms", "P-114", "The public rooms", 200, a.RoomsAnswer),
    ("post", "/v1/rooms"): Operation(
        "new_room", "P-115", "A new room", 201, a.NewRoomAnswer, routes.NewRoom, "token"
    ),
    ("get", "/v1/rooms/{code}"): Operation("room", "P-116", "One room", 200, a.OneRoom),
    ("get", "/v1/rooms/{code}/record"): Operation(
        "record", "P-117", "The record of a finished game", 200, Record
    ),
    ("get", "/v1/rooms/{code}/view"): Operation(
        "look", "P-221", "What a watcher sees", 200, a.LookAnswer
    ),
    ("get", "/v1/live"): Operation("live", "P-220", "Games at play", 200, a.LiveAnswer),
    ("post", "/v1/rooms/{code}/invitations"): Operation(
        "invite", "P-156", "Invite a person", 201, a.PersonAnswer, routes.NewInvitation, "token"
    ),
    ("post", "/v1/quickplay"): Operation(
        "quickplay",
        "P-147",
        "A seat beside people with the same wish",
        200,
        a.QuickplayAnswer,
        lobby_routes.NewQuickplay,
        "token",
    ),
    ("get", "/v1/me/rooms"): Operation(
        "my_rooms", "P-148", "The own rooms", 200, a.OwnRoomsAnswer, None, "token"
    ),
    ("post", "/v1/me/links"): Operation(
        "new_link",
        "P-149",
        "A link to oneself",
        201,
        a.LinkAnswer,
        lobby_routes.NewLink,
        "token",
    ),
    ("post", "/v1/links"): Operation(
        "use_link", "P-149", "A token by a link", 201, a.UsedLinkAnswer, lobby_routes.UsedLink
    ),
    ("post", "/v1/me/name"): Operation(
        "rename", "P-152", "Another name", 200, a.TokenAnswer, lobby_routes.NewName, "token"
    ),
    ("post", "/v1/me/tokens"): Operation(
        "newer_token",
        "P-151",
        "A newer token",
        201,
        a.TokenAnswer,
        lobby_routes.NewToken,
        "token",
    ),
    ("post", "/v1/me/revoke"): Operation(
        "revoke",
        "P-151",
        "Revoke the own tokens",
        200,
        a.PersonAnswer,
        lobby_routes.NewRevocation,
        "token",
    ),
    ("get", "/v1/me/profile"): Operation(
        "own_profile", "P-203", "The own profile", 200, p.OwnProfileAnswer, None, "token"
    ),
    ("post", "/v1/me/profile"): Operation(
        "choose",
        "P-203",
        "What to show and to do",
        200,
        p.OwnProfileAnswer,
        regular_requests.NewChoices,
        "token",
    ),
    ("get", "/v1/me/games"): Operation(
        "own_games", "P-205", "The own finished games", 200, p.PastGamesAnswer, None, "token"
    ),
    ("get", "/v1/me/people"): Operation(
        "people", "P-207", "Friends, blocks, opponents", 200, p.PeopleAnswer, None, "token"
    ),
    ("post", "/v1/me/friends"): Operation(
        "befriend", "P-207", "Choose a friend", 200, p.PeopleAnswer, regular_requests.Whom, "token"
    ),
    ("get", "/v1/me/blocks"): Operation(
        "blocked_ids",
        "P-207",
        "Blocked people in a room",
        200,
        p.BlockedIdsAnswer,
        None,
        "token",
    ),
    ("post", "/v1/me/blocks"): Operation(
        "block", "P-207", "Block a person", 200, p.PeopleAnswer, regular_requests.Whom, "token"
    ),
    ("post", "/v1/me/reports"): Operation(
        "report",
        "P-208",
        "Report a person",
        201,
        p.ReportedAnswer,
        regular_requests.NewReport,
        "token",
    ),
    ("get", "/v1/me/export"): Operation(
        "export", "P-209", "All that is kept of the caller", 200, p.ExportAnswer, None, "token"
    ),
    ("post", "/v1/me/erase"): Operation(
        "erase",
        "P-209",
        "Erase the caller",
        200,
        a.PersonAnswer,
        regular_requests.NewErasure,
        "token",
    ),
    ("get", "/v1/me/account"): Operation(
        "account", "P-215", "The own account", 200, c.AccountAnswer, None, "token"
    ),
    ("post", "/v1/me/passkeys/options"): Operation(
        "passkey_options",
        "P-212",
        "What a browser needs for a passkey",
        200,
        c.PasskeyOptionsAnswer,
        account_requests.Nothing,
        "token",
    ),
    ("post", "/v1/me/passkeys"): Operation(
        "add_passkey",
        "P-212",
        "A new passkey",
        201,
        c.SignedInAnswer,
        account_requests.NewPasskey,
        "token",
    ),
    ("post", "/v1/me/passkeys/remove"): Operation(
        "remove_passkey",
        "P-212",
        "Remove a passkey",
        200,
        c.AccountAnswer,
        account_requests.LostPasskey,
        "token",
    ),
    ("post", "/v1/me/recovery"): Operation(
        "new_recovery_code",
        "P-214",
        "Another recovery code",
        201,
        c.RecoveryCodeAnswer,
        account_requests.Nothing,
        "token",
    ),
    ("post", "/v1/me/devices/revoke"): Operation(
        "log_out",
        "P-215",
        "Log a device out",
        200,
        c.AccountAnswer,
        account_requests.LostDevice,
        "token",
    ),
    ("post", "/v1/sign-in/options"): Operation(
        "sign_in_options",
        "P-213",
        "What a browser needs to sign in",
        200,
        c.PasskeyOptionsAnswer,
        account_requests.Nothing,
        "perhaps",
    ),
    ("post", "/v1/sign-in"): Operation(
        "sign_in",
        "P-213",
        "Sign in by passkey",
        201,
        c.SignedInAnswer,
        account_requests.NewSignIn,
        "perhaps",
    ),
    ("post", "/v1/sign-in/recovery"): Operation(
        "recover",
        "P-214",
        "Sign in by recovery code",
        201,
        c.SignedInAnswer,
        account_requests.NewRecovery,
    ),
    ("get", "/v1/push"): Operation(
        "push_key", "P-217", "The key for push subscriptions", 200, p.PushKeyAnswer
    ),
    ("post", "/v1/me/subscriptions"): Operation(
        "subscribe",
        "P-217",
        "Have a device told by push",
        201,
        p.SubscribedAnswer,
        push_routes.NewSubscription,
        "token",
    ),
    ("delete", "/v1/me/subscriptions"): Operation(
        "unsubscribe",
        "P-217",
        "Have a device told nothing any more",
        200,
        a.PersonAnswer,
        push_routes.GoneSubscription,
        "token",
    ),
    ("get", "/v1/people"): Operation(
        "profile_at",
        "P-204",
        "The profile of a person by seat",
        200,
        p.ProfileAnswer,
        None,
        "token",
    ),
    ("get", "/v1/people/{handle}"): Operation(
        "profile", "P-204", "A profile", 200, p.ProfileAnswer, None, "token"
    ),
    ("get", "/v1/people/{handle}/games"): Operation(
        "past_games", "P-205", "Finished games of a person", 200, p.PastGamesAnswer, None, "token"
    ),
    ("get", "/v1/leaderboards/{game}"): Operation(
        "leaderboard", "P-206", "A leaderboard", 200, p.LeaderboardAnswer, None, ""
    ),
    ("get", "/v1/operator/people"): Operation(
        "operator_person",
        "P-210",
        "A person of the operator",
        200,
        p.OperatorProfileAnswer,
        None,
        "operator",
    ),
    ("get", "/v1/operator/people/games"): Operation(
        "operator_games",
        "P-210",
        "Finished games of a person",
        200,
        p.PastGamesAnswer,
        None,
        "operator",
    ),
    ("get", "/v1/operator/reports"): Operation(
        "operator_reports", "P-210", "The reports", 200, p.ReportsAnswer, None, "operator"
    ),
    ("delete", "/v1/operator/reports/{number}"): Operation(
        "operator_settle", "P-210", "Remove a report", 200, p.SettledAnswer, None, "operator"
    ),
    ("get", "/.well-known/towerhall"): Operation(
        "keys", "P-180", "Keys and the public log", 200, a.WellKnownAnswer
    ),
    ("get", "/v1/log"): Operation("log", "P-183", "The log in numbers", 200, a.LogAnswer),
    ("get", "/v1/log/checkpoint"): Operation(
        "checkpoint", "P-183", "The newest checkpoint", 200, "text/plain"
    ),
    ("get", "/v1/log/tile/{path}"): Operation(
        "tile", "P-183", "A tile of the log", 200, "application/octet-stream"
    ),
    ("post", "/v1/log/cosignatures"): Operation(
        "cosign", "P-185", "A cosignature", 201, a.CosignedAnswer, log_routes.NewCosignature
    ),
    ("get", "/healthz"): Operation("healthy", "P-118", "The process runs", 200, a.HealthAnswer),
    ("get", "/readyz"): Operation("ready", "P-118", "The server can serve", 200, a.ReadyAnswer),
    ("post", "/v1/operator/rooms"): Operation(
        "operator_new_room",
        "P-162",
        "A room with reserved seats",
        201,
        a.NewOperatorRoomAnswer,
        operator_requests.NewOperatorRoom,
        "operator",
    ),
    ("get", "/v1/operator/rooms/{code}"): Operation(
        "operator_room", "P-165", "A room from its log", 200, a.RoomState, None, "operator"
    ),
    ("post", "/v1/operator/rooms/{code}/close"): Operation(
        "operator_close",
        "P-166",
        "End a room",
        200,
        a.RoomState,
        operator_requests.Closing,
        "operator",
    ),
    ("post", "/v1/operator/tokens"): Operation(
        "operator_token",
        "P-164",
        "A token for a person",
        201,
        a.JoiningAnswer,
        operator_requests.NewPerson,
        "operator",
    ),
    ("get", "/v1/operator/bans"): Operation(
        "operator_bans", "P-167", "The bans", 200, a.BansAnswer, None, "operator"
    ),
    ("post", "/v1/operator/bans"): Operation(
        "operator_ban",
        "P-167",
        "Ban a person",
        201,
        a.BanAnswer,
        operator_requests.NewBan,
        "operator",
    ),
    ("delete", "/v1/operator/bans/{id}"): Operation(
        "operator_unban", "P-167", "Lift a ban", 200, a.PersonAnswer, None, "operator"
    ),
}
PAGE = {"game": "string", "seats": "integer", "before": "integer", "most": "integer"}
QUERIES: Mapping[str, Mapping[str, str]] = {
    "/v1/live": {"game": "string", "after": "string", "limit": "integer"},
    "/v1/me/games": PAGE,
    "/v1/me/blocks": {"room": "string"},
    "/v1/people": {"room": "string", "seat": "integer"},
    "/v1/people/{handle}/games": PAGE,
    "/v1/leaderboards/{game}": {"first": "integer", "most": "integer"},
    "/v1/operator/people": {"external_id": "string"},
    "/v1/operator/people/games": {"external_id": "string", **PAGE},
    "/v1/operator/reports": {"after": "string"},
}
NEEDED: Mapping[str, Collection[str]] = {
    "/v1/me/blocks": {"room"},
    "/v1/people": {"room", "seat"},
    "/v1/operator/people": {"external_id"},
    "/v1/operator/people/games": {"external_id"},
}
HEADERS = {
    "/v1/rooms/{code}": ("Towerhall-Key", "The key of a private room"),
    "/v1/rooms/{code}/record": ("Towerhall-Key", "The key of a private room"),
    "/v1/rooms/{code}/view": ("Towerhall-Key", "The key of a private room"),
    "/v1/me/friends": ("Towerhall-Key", "The key of a private room"),
    "/v1/people": ("Towerhall-Key", "The key of a private room"),
    "/v1/me/blocks": ("Towerhall-Key", "The key of a private room"),
    "/v1/me/reports": ("Towerhall-Key", "The key of a private room"),
    "/v1/me/passkeys/options": ("Origin", "The page that asks; browsers send it themselves"),
    "/v1/sign-in/options": ("Origin", "The page that asks; browsers send it themselves"),
    "/v1/operator/rooms": ("Idempotency-Key", "Names this request (P-163)"),
}


def anything(kind: type) -> dict[str, Any]:
    if kind is object or kind is msgspec.Raw:
        return {"description": "any value"}
    raise NotImplementedError(kind)


def openapi() -> dict[str, Any]:
    kinds = [
        kind
        for each in OPERATIONS.values()
        for kind in (each.body, each.answer)
        if isinstance(kind, type)
    ]
    _, schemas = msgspec.json.schema_components(
        [*kinds, a.ErrorAnswer, a.Delivery], schema_hook=anything, ref_template=REF
    )
    schemas = tidy(schemas)
    schemas["Code"] = {"type": "string", "examples": sorted(HINTS)}
    schemas["ErrorBody"]["properties"]["code"] = {"$ref": REF.format(name="Code")}
    paths: dict[str, Any] = {}
    for (method, path), operation in OPERATIONS.items():
        paths.setdefault(path, {})[method] = described(path, operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Towerhall",
            "version": str(LEVEL),
            "description": "Everything over HTTP. The clauses are served at /docs/spec.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "webhooks": {
            "delivery": {
                "post": {
                    "operationId": "delivery",
                    "summary": "A turn, an end, or an abandoned room (P-168)",
                    "requestBody": carried(a.Delivery),
                    "responses": {"2XX": {"description": "taken"}},
                }
            }
        },
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "P-112"},
                "operator": {"type": "http", "scheme": "bearer", "description": "P-161"},
            },
        },
    }


def described(path: str, operation: Operation) -> dict[str, Any]:
    document: dict[str, Any] = {
        "operationId": operation.name,
        "summary": f"{operation.says} ({operation.clause})",
        "externalDocs": {"url": f"/docs/spec#{operation.clause}"},
        "responses": {
            str(operation.status): {"description": "done", "content": content(operation.answer)},
            **{str(status): refusal() for status in statuses(path, operation)},
            "default": refusal(),
        },
    }
    parameters: list[dict[str, object]] = [
        {"name": part[1:-1], "in": "path", "required": True, "schema": {"type": "string"}}
        for part in path.split("/")
        if part.startswith("{")
    ]
    if path in HEADERS:
        name, about = HEADERS[path]
        header = {"name": name, "in": "header", "description": about}
        parameters.append({**header, "schema": {"type": "string"}})
    if operation.body is None:
        parameters += [
            {
                "name": name,
                "in": "query",
                "required": name in NEEDED.get(path, ()),
                "schema": {"type": kind},
            }
            for name, kind in QUERIES.get(path, {}).items()
        ]
    if parameters:
        document["parameters"] = parameters
    if operation.body is not None:
        document["requestBody"] = carried(operation.body)
    if operation.needs == "perhaps":
        document["security"] = [{}, {"token": []}]
    elif operation.needs:
        document["security"] = [{operation.needs: []}]
    return document


def statuses(path: str, operation: Operation) -> list[int]:
    """The statuses of refusals that this address has, as far as they follow from its kind."""
    found = {429, 500, 503}
    if path in QUERIES:
        found |= {400}
    if operation.body is not None:
        found |= {400, 413, 415}
    if operation.needs:
        found |= {401, 403}
    assert found <= {400, *STATUS.values()}
    return sorted(found)


def carried(kind: Any) -> dict[str, Any]:
    return {"required": True, "content": content(kind)}


def content(kind: Any) -> dict[str, Any]:
    if isinstance(kind, str):
        return {kind: {"schema": {"type": "string"}}}
    return {JSON: {"schema": {"$ref": REF.format(name=kind.__name__)}}}


def refusal() -> dict[str, Any]:
    return {"description": "refused", "content": content(a.ErrorAnswer)}
