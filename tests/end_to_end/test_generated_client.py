"""A client that a foreign tool makes of the OpenAPI document, against a real server.

The answers of the server fit the document as well, without a key that it does not name.
"""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from tests.end_to_end.raw import Answer, ask, bearer
from tests.end_to_end.servers import ServerProcess
from tests.protocol.openapi import OPERATIONS
from tests.protocol.test_schemas import strict
from tests.versions.golden import FOLDER

NAME = "towerhall_generated"
DOCUMENT = FOLDER.parents[2] / "protocol/schema/openapi.json"
GENERATE = "from openapi_python_client.cli import app; app()"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of the package that the generator has written."""
    folder = tmp_path_factory.mktemp("generated")
    made = subprocess.run(
        [
            *(sys.executable, "-c", GENERATE, "generate", "--path", str(DOCUMENT)),
            *("--meta", "none", "--output-path", str(folder / NAME)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "omitted" not in made.stdout + made.stderr, "it does not understand all"
    sys.path.insert(0, str(folder))
    yield NAME
    sys.path.remove(str(folder))


def part(path: str) -> Any:
    return importlib.import_module(f"{NAME}.{path}")


@pytest.mark.usefixtures("generated")
def test_a_generated_client_makes_a_guest_and_rooms_and_reads_refusals(
    shared: ServerProcess,
) -> None:
    def call(name: str, client: Any, **more: Any) -> Any:
        return part(f"api.default.{name}").sync(client=client, **more)

    url, models, kinds = shared.url.rstrip("/"), part("models"), part("client")
    with kinds.Client(base_url=url) as anyone:
        ada = call("new_guest", anyone, body=models.NewGuest(name="Ada"))
        games = {game.name: game for game in call("games", anyone).games}
    assert (ada.name, len(ada.id)) == ("Ada", 11)
    assert ada.expires > 1_700_000_000_000
    assert games["five_towers"].facts["bid_made"].fields[0].type_ == "seat"
    assert games["five_towers"].commands["bid"].parameters[0].name == "number"
    with kinds.AuthenticatedClient(base_url=url, token=ada.token) as client:
        made = call("new_room", client, body=models.NewRoom(game="five_towers", seats=2))
        found = call("room", client, code=made.code)
        wish = models.NewQuickplay(game="five_towers", turn_seconds=60)
        quick = call("quickplay", client, body=wish)
        mine = call("my_rooms", client).rooms
        refused = call("new_room", client, body=models.NewRoom(game="chess"))
    assert (found.code, found.seats, found.taken, found.status) == (made.code, 2, 0, "waiting")
    assert {made.code, quick.code} <= {room.code for room in mine}
    assert (refused.error.code, refused.error.rule) == ("unknown_game", "P-113")
    assert refused.error.doc == "/docs/spec#P-113"


def test_answers_have_no_key_that_the_document_does_not_name(shared: ServerProcess) -> None:
    document = strict(json.loads(DOCUMENT.read_text()))

    def check(method: str, path: str, answer: Answer) -> Any:
        operation = OPERATIONS[method.lower(), path]
        assert answer.status == operation.status, answer.body
        kind = operation.answer.__name__
        schema = {"$ref": f"#/components/schemas/{kind}", "components": document["components"]}
        problems = list(Draft202012Validator(schema).iter_errors(answer.document))
        assert problems == [], path
        return answer.document

    def said(method: str, path: str, body: object = None, token: str = "", at: str = "") -> Any:
        headers = bearer(token) if token else {}
        return check(method, path, ask(shared.url, method, at or path, body, headers))

    token = said("POST", "/v1/guests", {"name": "Ada"})["token"]
    wanted = {"game": "five_towers", "turn_seconds": 60, "beat_ms": 5, "options": None}
    room = said("POST", "/v1/rooms", wanted, token)
    said("GET", "/v1/games")
    said("POST", "/v1/quickplay", {"game": "nikitin_towers", "seats": None}, token)
    said("GET", "/v1/me/rooms", None, token)
    said("GET", "/v1/rooms/{code}", at=f"/v1/rooms/{room['code']}")
    said("POST", "/v1/me/name", {"name": "Bea"}, token)
    said("POST", "/v1/me/tokens", {}, token)
    link = said("POST", "/v1/me/links", {"room": room["code"]}, token)["link"]
    said("POST", "/v1/links", {"code": link.rpartition("/")[2]})
    said("GET", "/.well-known/towerhall")
    said("GET", "/healthz")
    said("GET", "/readyz")
    said("GET", "/v1/rooms")
    said("POST", "/v1/me/revoke", {}, token)
