"""The AsyncAPI 3 document of all sockets: their channels, and who sends which message."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from towerhall_protocol.level import LEVEL, SUBPROTOCOLS

FORMAT = "application/schema+json;version=2020-12"
CHANNELS = {
    "room": ("/v1/rooms/{code}", "client", "server"),
    "lobby": ("/v1/lobby", "to_lobby", "from_lobby"),
    "events": ("/v1/me/events", "to_events", "from_lobby"),
}


def asyncapi(sides: Mapping[str, Any]) -> dict[str, Any]:
    """`sides` are the unions of messages, by who sends them, from the server's point of view."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Towerhall",
            "version": str(LEVEL),
            "description": "All sockets. One WebSocket message is one array (P-5), as msgpack or"
            f" as JSON: {', '.join(SUBPROTOCOLS)}. The clauses are served at /docs/spec.",
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "channels": {
            name: channel(address, list(kinds_of(sides, between)))
            for name, (address, *between) in CHANNELS.items()
        },
        "operations": {
            f"{verb}_{name}": operation(verb, name, side, sides[side])
            for name, (_, from_client, from_server) in CHANNELS.items()
            for verb, side in (("receive", from_client), ("send", from_server))
        },
        "components": {
            "messages": {key_of(side, kind): message(kind) for side, kind in kinds_of(sides, sides)}
        },
    }


def kinds_of(sides: Mapping[str, Any], wanted: Iterable[str]) -> Iterator[tuple[str, type[Any]]]:
    return ((side, kind) for side in wanted for kind in get_args(sides[side]))


def key_of(side: str, kind: type[Any]) -> str:
    return f"{side}_{tag_of(kind)}"


def tag_of(kind: type[Any]) -> str:
    return str(kind.__struct_config__.tag)


def channel(address: str, kinds: list[tuple[str, type[Any]]]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "address": address,
        "messages": {
            key_of(side, kind): {"$ref": f"#/components/messages/{key_of(side, kind)}"}
            for side, kind in kinds
        },
    }
    if "{code}" in address:
        found["parameters"] = {"code": {"description": "The code of a room (P-13)"}}
    return found


def operation(verb: str, name: str, side: str, union: Any) -> dict[str, Any]:
    who = "clients send" if verb == "receive" else "the server sends"
    return {
        "action": verb,
        "channel": {"$ref": f"#/channels/{name}"},
        "summary": f"What {who}",
        "messages": [
            {"$ref": f"#/channels/{name}/messages/{key_of(side, kind)}"} for kind in get_args(union)
        ],
    }


def message(kind: type[Any]) -> dict[str, Any]:
    return {
        "name": tag_of(kind),
        "payload": {
            "schemaFormat": FORMAT,
            "schema": {"$ref": f"messages.json#/$defs/{kind.__name__}"},
        },
    }
