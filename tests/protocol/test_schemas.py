"""The contract for machines: up to date, valid for foreign tools, and true of whole games."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft7Validator, Draft202012Validator  # type: ignore[import-untyped]
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.protocol import schemas
from tests.protocol.compatibility import all_breaks
from tests.protocol.openapi import OPERATIONS
from tests.protocol.test_spec import rooms, table
from tests.protocol.vectors import messages as message_vectors
from tests.versions.golden import FOLDER as GOLDEN_LOGS
from tests.versions.golden import read_golden
from towerhall_protocol.codec import encode_json
from towerhall_protocol.commands import from_base64url
from towerhall_server.game import discover
from towerhall_server.live.replica import follow
from towerhall_server.lobby.games import describe_game
from towerhall_server.room.commands import ROOM_COMMANDS
from towerhall_server.room.events import facts
from towerhall_server.room.view import SHARED, view

PROTOCOL = schemas.PROTOCOL
GAMES = sorted(discover())
GOLDEN = GOLDEN_LOGS / "0.1.0"
PARTS = ("view", "facts", "commands")


def read(name: str) -> Any:
    return json.loads((PROTOCOL / name).read_text())


def strict(schema: Any) -> Any:
    """The same schema, which refuses keys and items that it does not name."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items()}
    if isinstance(closed.get("properties"), dict) and "type" in closed:
        closed["additionalProperties"] = False
    if "prefixItems" in closed:
        closed["items"] = False
    return closed


def validator(name: str, part: str) -> Draft202012Validator:
    whole = strict(read(name))
    return Draft202012Validator({"$ref": f"#/$defs/{part}", "$defs": whole["$defs"]})


def plain(document: object) -> Any:
    return json.loads(encode_json(document))


@pytest.mark.parametrize("name", schemas.files())
def test_the_file_says_what_the_code_says(name: str) -> None:
    assert (PROTOCOL / name).read_text() == schemas.files()[name], "run `make schema`"


def test_no_file_is_left_over() -> None:
    found = {path.relative_to(PROTOCOL).as_posix() for path in PROTOCOL.glob("schema/**/*.json")}
    found |= {path.relative_to(PROTOCOL).as_posix() for path in PROTOCOL.glob("games/*.md")}
    levels = {name for name in found if name.startswith("schema/levels/")}
    assert found - levels == set(schemas.files())
    assert schemas.baseline().relative_to(PROTOCOL).as_posix() in levels


def test_a_break_of_the_contract_has_a_new_level() -> None:
    now = json.loads(json.dumps(schemas.contract()))
    broken = all_breaks(json.loads(schemas.baseline().read_text()), now)
    assert broken == [], "raise LEVEL (P-130), then run `make schema`"


BREAKS = [
    ("messages.$defs.ServerFrame.prefixItems", lambda fields: fields.pop()),
    ("messages.$defs.ServerFrame.prefixItems", lambda fields: fields.insert(1, {"type": "null"})),
    ("messages.$defs.Arrival.properties", lambda keys: keys.pop("seat")),
    ("messages.$defs.Arrival.required", lambda keys: keys.remove("you")),
    ("messages.$defs.Offer.properties.command", lambda kind: kind.update(type="integer")),
    ("messages.$defs", lambda defs: defs.pop("ServerPong")),
    ("messages.$defs.ClientCommand", lambda kind: kind.update(minItems=5)),
    ("room.$defs.RoomView.properties.status.enum", lambda values: values.remove("sealed")),
    ("room.$defs.facts.anyOf", lambda facts: facts.pop()),
    ("games.five_towers-1.$defs.View.properties", lambda keys: keys.pop("pile")),
    ("openapi.paths", lambda paths: paths.pop("/v1/guests")),
    ("openapi.paths./v1/rooms.post.responses", lambda answers: answers.pop("201")),
    ("openapi.components.schemas.NewRoom.required", lambda keys: keys.append("seats")),
]


@pytest.mark.parametrize(("place", "change"), BREAKS)
def test_a_break_is_found(place: str, change: Any) -> None:
    old = json.loads(json.dumps(schemas.contract()))
    new = copy.deepcopy(old)
    spot = new
    for key in place.split("."):
        spot = spot[key]
    change(spot)
    assert all_breaks(old, new)


def test_what_later_levels_may_add_is_no_break() -> None:
    old = json.loads(json.dumps(schemas.contract()))
    new = copy.deepcopy(old)
    defs = new["messages"]["$defs"]
    defs["ServerFrame"]["prefixItems"].append({"type": "string", "default": ""})
    defs["ServerConfetti"] = {"type": "array"}
    defs["Arrival"]["properties"]["colour"] = {"type": "string", "default": ""}
    new["openapi"]["paths"]["/v2/more"] = {}
    assert all_breaks(old, new) == []


# Foreign tools


@pytest.mark.parametrize(
    "name", [name for name in schemas.files() if "api" not in name and name.endswith("json")]
)
def test_every_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(read(name))


def test_the_openapi_document_is_valid() -> None:
    document = read("schema/openapi.json")
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    del document["paths"]["/v1/rooms/{code}"]["get"]["parameters"]
    assert list(OpenAPIV31SpecValidator(document).iter_errors())


def test_the_openapi_document_has_every_address() -> None:
    written = {row[0] for number in (110, 161) for row in table(number)}
    assert {f"{method.upper()} {path}" for method, path in OPERATIONS} == written
    success = {row[0]: int(row[-1]) for number in (110, 161) for row in table(number)}
    for (method, path), operation in OPERATIONS.items():
        assert operation.status == success[f"{method.upper()} {path}"], path


def test_the_asyncapi_document_is_valid() -> None:
    """By the schema of AsyncAPI itself: `@asyncapi/specs` 6.11.1, under the Apache licence 2.0."""
    packed = Path(__file__).with_name("asyncapi_3.0.0.json.gz").read_bytes()
    fits = Draft7Validator(json.loads(gzip.decompress(packed)))
    document = read("schema/asyncapi.json")
    assert list(fits.iter_errors(document)) == []
    del document["operations"]["receive_room"]["channel"]
    assert not fits.is_valid(document)


def test_the_asyncapi_document_holds_together() -> None:
    document, defs = read("schema/asyncapi.json"), read("schema/messages.json")["$defs"]
    for channel in document["channels"].values():
        for key, reference in channel["messages"].items():
            assert reference["$ref"] == f"#/components/messages/{key}"
            payload = document["components"]["messages"][key]["payload"]
            assert payload["schema"]["$ref"].removeprefix("messages.json#/$defs/") in defs
    for operation in document["operations"].values():
        name = operation["channel"]["$ref"].removeprefix("#/channels/")
        messages = document["channels"][name]["messages"]
        for each in operation["messages"]:
            assert each["$ref"].removeprefix(f"#/channels/{name}/messages/") in messages


# What really comes


def test_every_message_of_the_vectors_fits() -> None:
    for side, group in message_vectors().items():
        fits = validator("schema/messages.json", side)
        for case in group:
            document = plain(case["document"])
            assert fits.is_valid(document), (side, case["name"])
            assert not fits.is_valid([*document, "one more"]), case["name"]
            assert not fits.is_valid(document[:-1]) or len(document) > 3, case["name"]


def test_every_view_of_a_room_fits() -> None:
    fits = validator("schema/room.json", "View")
    told = [plain(view(room, SHARED)) for room in rooms()]
    for document in told:
        assert fits.is_valid(document), list(fits.iter_errors(document))
        document["room"]["more"] = 1
        assert not fits.is_valid(document)


@pytest.mark.parametrize("name", GAMES)
def test_every_view_fact_and_command_of_whole_games_fits(name: str) -> None:
    of_game = [validator(f"schema/games/{name}.json", part) for part in PARTS]
    of_room = [validator("schema/room.json", part) for part in PARTS[1:]]
    described = plain(describe_game(discover()[name]))
    seen, said, games = set(), set(), discover()
    for path in sorted(GOLDEN.glob(f"{name}-*.json")):
        log, room = read_golden(path.read_bytes()), None
        for entry in log.entries:
            change = follow(games, from_base64url(log.secret), room, entry)
            room, commit = change.after, change.commit
            if room.game is not None:
                check(of_game[0], view(room, SHARED)["game"])
            for event in commit.game:
                fact = plain(room.rules.facts(event))
                check(of_game[1], fact)
                assert len(fact) == 1 + len(described["facts"][fact[0]]["fields"])
                seen.add(fact[0])
            for ending in (*commit.room, *commit.end):
                check(of_room[0], facts(ending))
            command = commit.command.get("command")
            if command in ROOM_COMMANDS:
                check(of_room[1], commit.command)
            elif command in described["commands"]:
                check(of_game[2], commit.command)
                said.add(command)
    assert len(seen) > 5
    assert len(said) > 2


def check(fits: Draft202012Validator, document: object) -> None:
    found = plain(document)
    assert fits.is_valid(found), (found, list(fits.iter_errors(found)))


@pytest.mark.parametrize("name", GAMES)
def test_every_sentence_names_fields_that_are_there(name: str) -> None:
    game = plain(describe_game(discover()[name]))
    for fact in game["facts"].values():
        names = {field["name"]: field["type"] for field in fact["fields"]}
        assert fact["text"].format(**names)
    for command in game["commands"].values():
        names = {field["name"]: field["type"] for field in command["parameters"]}
        assert command["text"].format(**names)
    assert {kind for each in game["facts"].values() for kind in map(type_of, each["fields"])} >= {
        "seat",
        "integer",
    }


def type_of(field: dict[str, str]) -> str:
    return field["type"]


def test_the_answer_about_games_fits() -> None:
    document = read("schema/openapi.json")
    for name in GAMES:
        game = plain(describe_game(discover()[name]))
        schema = {"$ref": "#/components/schemas/GameAnswer", "components": document["components"]}
        assert Draft202012Validator(schema).is_valid(game)
        assert msgspec.json.encode(game)
