"""What the specification says of operators is what the code does."""

import hmac
import json
import re
from hashlib import sha256
from typing import Any, get_args

import msgspec
import pytest

from tests.protocol.test_spec import blocks, clause, fields_of, keys_of, rooms, table
from towerhall_server.config.settings import ServerSettings
from towerhall_server.eventlog import operators as store
from towerhall_server.gateway.http import operator_requests, operator_routes
from towerhall_server.gateway.http.operator_people import OperatorPeople
from towerhall_server.gateway.http.operator_routes import OperatorRoutes
from towerhall_server.operators import operator
from towerhall_server.operators.deliveries import Pace
from towerhall_server.operators.notices import Kind, state_of
from towerhall_server.operators.sender import signature
from towerhall_server.outbound.posting import ATTEMPT_SECONDS
from towerhall_server.room import closing

DAY_SECONDS = 24 * 3600


def test_the_addresses_are_those_of_the_routes() -> None:
    served: set[str] = set()
    routes = OperatorRoutes.__new__(OperatorRoutes)
    routes._people = OperatorPeople.__new__(OperatorPeople)
    for route in routes.table():
        methods = set(getattr(route, "methods", None) or ()) - {"HEAD"}
        served |= {f"{method} {getattr(route, 'path', '')}" for method in methods}
    assert {address for address, _ in table(161)} == served


@pytest.mark.parametrize(
    ("number", "shape"),
    [
        (162, operator_requests.NewOperatorRoom),
        (164, operator_requests.NewPerson),
        (166, operator_requests.Closing),
        (167, operator_requests.NewBan),
    ],
)
def test_the_bodies_of_requests_are_those_of_the_code(number: int, shape: Any) -> None:
    body = clause(number).partition(" → ")[0]
    assert keys_of(body) == fields_of(shape)


def test_the_kinds_are_those_of_the_code() -> None:
    assert [kind for kind, _ in table(168)] == list(get_args(Kind))


def test_numbers_are_those_of_the_code() -> None:
    assert f"1 to {operator.MOST_EXTERNAL} characters" in " ".join(clause(162).split())
    assert store.ONCE_MS == 1000 * DAY_SECONDS
    assert f"again after {operator_routes.BUSY_MS // 1000} s" in clause(163)
    defaults = {field.name: field.default for field in msgspec.structs.fields(ServerSettings)}
    assert defaults["join_minutes"] == DAY_SECONDS // 60
    assert f"at most {operator_requests.MOST_REASON} characters" in " ".join(clause(167).split())
    assert f"in the last {store.PERSON_MS // store.DAY_MS} days" in clause(167)
    assert f"within {ATTEMPT_SECONDS:.0f} s" in clause(168)
    pace = Pace()
    assert (pace.first, pace.most, pace.give_up) == (2, 3600, DAY_SECONDS)
    assert all(1 <= pace.wait(1) <= 2 for _ in range(100))
    assert all(2 <= pace.wait(2) <= 4 for _ in range(100))
    assert all(1800 <= pace.wait(fails) <= 3600 for fails in (12, 13, 1000))
    assert pace.lease > ATTEMPT_SECONDS
    assert pace.look <= pace.first / 2, "or what is due waits longer than the clause says"
    for reason in (*closing.OWN_REASONS, operator_requests.CLOSED):
        assert f"`{reason}`" in clause(166)


def test_the_example_of_a_signature_is_right() -> None:
    (example,) = blocks(clause(169), "text")
    head, _, body = example.strip().partition("\n\n")
    (sent, proof) = re.findall(r"t=(\d+),v1=([0-9a-f]{64})", head)[0]
    assert head == f"Towerhall-Signature: {signature((b'secret',), int(sent), body.encode())}"
    signed = f"{sent}.{body}".encode()
    assert hmac.new(b"secret", signed, sha256).hexdigest() == proof


def test_the_examples_of_rooms_have_the_keys_of_the_tables() -> None:
    written, of_seats = ([row[0] for row in table(165, which)] for which in (0, 1))
    examples = [json.loads(block) for block in blocks(clause(165), "json")]
    examples += [json.loads(block)["room"] for block in blocks(clause(168), "json")]
    assert len(examples) == 2
    for room in examples:
        check_keys(room, written)
        for seat in room["seats"]:
            check_keys(seat, of_seats)


def check_keys(document: dict[str, Any], written: list[str]) -> None:
    """All keys that are always there, and none that is not listed."""
    assert {key for key in written if not key.endswith("?")} <= document.keys()
    assert document.keys() <= {key.rstrip("?") for key in written}


def test_rooms_have_the_keys_of_the_tables() -> None:
    written, of_seats = ([row[0] for row in table(165, which)] for which in (0, 1))
    seen: set[str] = set()
    for room in rooms():
        document: dict[str, Any] = msgspec.to_builtins(state_of(room, 1, (1, 2), {}))
        seen |= document.keys()
        check_keys(document, written)
        for seat in document["seats"]:
            check_keys(seat, of_seats)
    assert {"result", "closed", "due"} <= seen
