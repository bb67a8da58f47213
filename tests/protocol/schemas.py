"""Makes `protocol/schema` and `protocol/games`: the contract for machines, from types of the code.

`make schema` writes the files anew; a test compares them with what this code says today. The file
of a level in `protocol/schema/levels` is written once: `compatibility` compares later changes
with it.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

import msgspec

from tests.protocol.asyncapi import asyncapi
from tests.protocol.openapi import openapi
from tests.protocol.tidy import tidy
from towerhall_protocol import events, lobby
from towerhall_protocol import messages as m
from towerhall_protocol.level import LEVEL
from towerhall_protocol.views import View
from towerhall_server.game import AnyGame, discover
from towerhall_server.lobby.describing import commands_of, facts_of
from towerhall_server.room.commands import ROOM_COMMANDS
from towerhall_server.room.events import PUBLIC_FIELDS, RoomEvent
from towerhall_server.room.events import facts as facts_of_event

PROTOCOL = Path(__file__).resolve().parents[2] / "protocol"
FOLDER = PROTOCOL / "schema"
RULES = PROTOCOL.parent / "server/towerhall_server/games"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
REF = "#/$defs/{name}"
SIDES: Mapping[str, Any] = {
    "client": m.ClientMessage,
    "server": m.ServerMessage,
    "to_lobby": lobby.LobbyClientMessage,
    "from_lobby": lobby.LobbyServerMessage,
    "to_events": events.EventsClientMessage,
}
Schema = dict[str, Any]


def anything(kind: type) -> Schema:
    """The schema of a type that msgspec cannot describe: any value, or bytes as text."""
    if kind is object:
        return {"description": "any value"}
    raise NotImplementedError(kind)


def shapes(kinds: Iterable[Any], ref: str = REF) -> tuple[tuple[Schema, ...], Schema]:
    roots, defs = msgspec.json.schema_components(kinds, schema_hook=anything, ref_template=ref)
    return roots, tidy(defs)


def whole(title: str, defs: Schema, **more: object) -> Schema:
    return {"$schema": DIALECT, "title": title, **more, "$defs": dict(sorted(defs.items()))}


def messages() -> Schema:
    """Every message of both sides, of the lobby, and of the events of a person."""
    (*unions, _), defs = shapes([*SIDES.values(), events.PlaceOfPerson])
    for name, union in zip(SIDES, unions, strict=True):
        kinds = [each.__name__ for each in get_args(SIDES[name])]
        defs[name] = {"anyOf": [{"$ref": REF.format(name=kind)} for kind in kinds]}
        assert "anyOf" in union
    return whole("Messages of Towerhall", defs)


def room() -> Schema:
    """The view with its room part, and the commands and facts of the room."""
    commands = [row.parameters for row in ROOM_COMMANDS.values()]
    _, defs = shapes([View, *commands])
    defs["commands"] = {"anyOf": [{"$ref": REF.format(name=kind.__name__)} for kind in commands]}
    defs["facts"] = {"anyOf": [fact(kind) for kind in PUBLIC_FIELDS]}
    return whole("The room", defs, **{"$ref": "#/$defs/View"})


def fact(kind: type[RoomEvent]) -> Schema:
    """The array that tells an event of the room: its name, then its public fields."""
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    told = [plain(fields[name].type) for name in PUBLIC_FIELDS[kind]]
    empty: dict[str, Any] = dict.fromkeys(fields, 0)
    name = facts_of_event(kind(**empty))[0]
    return {"type": "array", "prefixItems": [{"const": name}, *told], "minItems": 1 + len(told)}


def plain(kind: Any) -> Schema:
    """The schema of a field as it is told: bytes are base64url."""
    if kind is bytes:
        return {"type": "string"}
    if kind == tuple[bytes, ...]:
        return {"type": "array", "items": {"type": "string"}}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return {"type": "object"}
    (schema,), _ = shapes([kind])
    return schema


def game(rules: AnyGame) -> Schema:
    """Options, view, commands and facts of one game."""
    reference = rules.reference
    assert reference is not None, f"{rules.name} has no reference"
    events = get_args(rules.event_type)
    roots, defs = shapes([rules.options_type, reference.view, *reference.commands, *events])
    parts = len(reference.commands)
    defs["options"], defs["view"] = roots[:2]
    defs["commands"] = {"anyOf": list(roots[2 : 2 + parts])}
    defs["facts"] = {"anyOf": list(roots[2 + parts :])}
    for kind in events:
        defs[kind.__name__].pop("maxItems", None)  # later levels add fields (P-5)
    return whole(rules.name, defs, version=rules.version, **{"$ref": "#/$defs/view"})


def text_of(document: object) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def reference_of(rules: AnyGame) -> str:
    """The rules of a game and tables of its commands and facts, as one page."""
    written = (RULES / rules.name / "RULES.md").read_text()
    lines = [
        written.rstrip(),
        "",
        "## Reference",
        "",
        f"Generated from the code, for the rules of version {rules.version}.",
        f"The JSON Schema is `../schema/games/{rules.name}.json`.",
        "",
        "| command | parameters | sentence |",
        "|---|---|---|",
        *(
            f"| `{name}` | {cells(each.parameters)} | {each.text} |"
            for name, each in commands_of(rules).items()
        ),
        "",
        "| fact | fields | sentence |",
        "|---|---|---|",
        *(
            f"| `{name}` | {cells(each.fields)} | {each.text} |"
            for name, each in facts_of(rules).items()
        ),
        "",
        "| code | section | hint |",
        "|---|---|---|",
        *(f"| `{code}` | {each.rule} | {each.hint} |" for code, each in rules.reasons.items()),
    ]
    return "\n".join(lines) + "\n"


def cells(fields: Iterable[Any]) -> str:
    return ", ".join(f"`{each.name}{'?' * each.optional}` {each.type}" for each in fields)


def files() -> dict[str, str]:
    """Every generated file, by its path in `protocol`."""
    made = {
        "schema/messages.json": text_of(messages()),
        "schema/room.json": text_of(room()),
        "schema/openapi.json": text_of(openapi()),
        "schema/asyncapi.json": text_of(asyncapi(SIDES)),
    }
    for name, rules in discover().items():
        made[f"schema/games/{name}.json"] = text_of(game(rules))
        made[f"games/{name}.md"] = reference_of(rules)
    return made


def contract() -> Schema:
    """All that a change of the level is judged by."""
    return {
        "messages": messages(),
        "room": room(),
        "openapi": openapi(),
        "games": {f"{name}-{rules.version}": game(rules) for name, rules in discover().items()},
    }


def baseline() -> Path:
    return FOLDER / "levels" / f"{LEVEL}.json"


def main() -> None:
    for name, text in files().items():
        path = PROTOCOL / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if not baseline().exists():
        baseline().parent.mkdir(exist_ok=True)
        baseline().write_text(json.dumps(contract(), sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
