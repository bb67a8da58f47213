"""What a browser answers for a passkey, and all that is refused. No store, no network."""

import hashlib
import json
from typing import Any

import cbor2
import pytest

from tests.accounts.authenticator import AT, ORIGIN, UP, UV, Authenticator, cose_key
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_server.accounts.account import Account, AccountProblem, Passkey
from towerhall_server.accounts.passkeys import (
    Signature,
    Site,
    account_of,
    challenge_of,
    creation_options,
    made_passkey,
    request_options,
    signature,
    site_of,
)
from towerhall_server.room.seats import Person

SITE = Site(ORIGIN, "towers.example")
NAME = "ADA00ADA00ADA00"
CHALLENGE = b"challenge of 32 bytes, as always"
NOW = 1_800_000_000_000


def made(keys: Authenticator, **wrong: Any) -> Passkey | AccountProblem:
    options = creation_options(SITE, NAME, "Ada", (), CHALLENGE)
    return made_passkey(keys.create(options, **wrong), SITE, CHALLENGE, "Laptop", NOW)


def account(passkey: Passkey | AccountProblem) -> Account:
    assert isinstance(passkey, Passkey), passkey
    return Account(NAME, Person("AAECAwQFBgc", "Ada"), NOW, (passkey,), b"", NOW)


def signed(
    keys: Authenticator, owner: Account, site: Site = SITE, **wrong: Any
) -> Signature | AccountProblem:
    credential = keys.get(request_options(SITE, owner.passkeys, CHALLENGE), **wrong)
    return signature(credential, owner, site, CHALLENGE)


@pytest.mark.parametrize("kind", ["ec", "ed25519", "rsa"])
def test_p213_a_passkey_is_made_and_signs(kind: str) -> None:
    keys = Authenticator(kind=kind)
    owner = account(made(keys))
    assert owner.passkeys[0].site == "towers.example"
    found = signed(keys, owner)
    assert found == Signature(keys.residents[0].credential, 1)
    credential = keys.get(request_options(SITE, (), CHALLENGE))
    assert account_of(credential) == NAME
    assert challenge_of(credential) == CHALLENGE


def test_p212_the_options_ask_for_a_passkey_that_finds_its_account_and_knows_its_person() -> None:
    options = creation_options(SITE, NAME, "Ada", (), CHALLENGE)
    assert options["authenticatorSelection"]["residentKey"] == "required"
    assert options["authenticatorSelection"]["userVerification"] == "required"
    assert options["attestation"] == "none"
    assert from_base64url(options["user"]["id"]) == NAME.encode()
    assert request_options(SITE, (), CHALLENGE)["userVerification"] == "required"


WRONG = {
    "another domain": {"domain": "evil.example"},
    "another page": {"client": {"origin": "https://evil.example"}},
    "a page on another port": {"client": {"origin": f"{ORIGIN}:8443"}},
    "a page without tls": {"client": {"origin": ORIGIN.replace("https", "http")}},
    "a page inside a foreign one": {"client": {"crossOrigin": True}},
    "another challenge": {"client": {"challenge": base64url(b"another challenge")}},
    "no origin": {"client": {"origin": None}},
    "nobody was there": {"flags": UV | AT},
    "the person was not verified": {"flags": UP | AT},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_p212_a_passkey_made_elsewhere_or_for_another_question_is_refused(
    wrong: dict[str, Any],
) -> None:
    keys = Authenticator()
    credential = keys.create(creation_options(SITE, NAME, "Ada", (), CHALLENGE), **wrong)
    asked = challenge_of(credential)
    if asked == CHALLENGE:
        found = made_passkey(credential, SITE, CHALLENGE, "Laptop", NOW)
        assert isinstance(found, AccountProblem)
        assert found.code == "bad_passkey"
    else:
        assert asked == b"another challenge" or isinstance(asked, AccountProblem)


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_p213_an_answer_from_elsewhere_or_to_another_question_is_refused(
    wrong: dict[str, Any],
) -> None:
    keys = Authenticator()
    owner = account(made(keys))
    if "flags" in wrong:
        wrong = {"flags": wrong["flags"] & ~AT}
    credential = keys.get(request_options(SITE, (), CHALLENGE), **wrong)
    if isinstance(challenge_of(credential), AccountProblem):
        return
    found = signature(credential, owner, SITE, CHALLENGE)
    assert isinstance(found, AccountProblem)
    assert found.code == "bad_passkey"


def test_p213_a_question_inside_a_foreign_page_is_refused() -> None:
    keys = Authenticator()
    made(keys)
    inside = keys.get(request_options(SITE, (), CHALLENGE), client={"crossOrigin": True})
    assert isinstance(challenge_of(inside), AccountProblem)


def test_p213_the_signature_of_another_key_is_refused() -> None:
    keys, others = Authenticator(), Authenticator()
    owner = account(made(keys))
    made(others)
    assert isinstance(signed(keys, owner, key=others.residents[0].key), AccountProblem)


def test_p213_a_passkey_of_another_person_is_refused() -> None:
    keys, others = Authenticator(), Authenticator()
    owner = account(made(keys))
    stranger = account(made(others))
    credential = others.get(request_options(SITE, (), CHALLENGE))
    assert isinstance(signature(credential, owner, SITE, CHALLENGE), AccountProblem)
    assert isinstance(signature(credential, stranger, SITE, CHALLENGE), Signature)


def test_p213_a_passkey_of_another_site_of_the_service_is_refused() -> None:
    keys = Authenticator()
    owner = account(made(keys))
    other = Site("https://other.example", "other.example")
    assert isinstance(signed(keys, owner, other), AccountProblem)


@pytest.mark.parametrize("user", [b"", b"\xff" * 15, NAME.encode()[:-1], b"AAECAwQFBgc", b"A" * 64])
def test_p213_a_wrong_user_handle_names_no_account(user: bytes) -> None:
    keys = Authenticator()
    made(keys)
    assert account_of(keys.get(request_options(SITE, (), CHALLENGE), user=user)) == ""


@pytest.mark.parametrize(
    "attestation",
    [
        {"fmt": "fido-u2f", "attStmt": {"sig": b"x", "x5c": [b"y"]}},
        {"fmt": "tpm", "attStmt": {"ver": "2.0", "sig": b"x"}},
        {"fmt": "android-safetynet", "attStmt": {"ver": "1", "response": b"x"}},
        {"fmt": "none", "attStmt": {"sig": b"x"}},
        {"fmt": "packed", "attStmt": {"alg": -7, "sig": b"not a signature"}},
        {"fmt": "unheard of"},
        {"fmt": 7},
    ],
)
def test_p212_attestations_that_were_not_asked_for_are_refused(attestation: Any) -> None:
    assert isinstance(made(Authenticator(), attestation=attestation), AccountProblem)


@pytest.mark.parametrize(
    "public_key",
    [
        cbor2.dumps({1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes(32)}),
        cbor2.dumps({1: 2, 3: -35, -1: 2, -2: bytes(48), -3: bytes(48)}),
        cbor2.dumps({1: 1, 3: -8, -1: 6, -2: b"short"}),
        cbor2.dumps({1: 3, 3: -257, -1: b"\x01" * 1100, -2: b"\x01\x00\x01"}),
        cbor2.dumps({1: 3, 3: -257, -1: b"\x00", -2: b"\x03"}),
        cbor2.dumps({}),
        cbor2.dumps([1, 2, 3]),
        cbor2.dumps({1: 2, 3: "-7", -1: 1, -2: "x", -3: []}),
    ],
    ids=range(8),
)
def test_p212_a_key_that_is_none_is_refused_at_once(public_key: bytes) -> None:
    assert isinstance(made(Authenticator(), public_key=public_key), AccountProblem)


def test_p212_bytes_after_the_answer_are_refused() -> None:
    keys = Authenticator()
    key = cose_key(keys.new_key())
    assert isinstance(made(keys, public_key=key + b"more"), AccountProblem)


@pytest.mark.parametrize("credential", [{}, {"response": 7}, {"response": {}}, {"id": "a"}])
def test_answers_without_their_parts_are_refused(credential: dict[str, Any]) -> None:
    assert isinstance(challenge_of(credential), AccountProblem)
    assert isinstance(made_passkey(credential, SITE, CHALLENGE, "Laptop", NOW), AccountProblem)
    owner = account(made(Authenticator()))
    assert isinstance(signature(credential, owner, SITE, CHALLENGE), AccountProblem)
    assert account_of(credential) == ""


def test_client_data_as_deep_as_fits_into_a_request_is_refused() -> None:
    deep = base64url(b"[" * 2900)
    assert isinstance(challenge_of({"response": {"clientDataJSON": deep}}), AccountProblem)


@pytest.mark.parametrize("head", [b"\x81", b"\xa1\x00", b"\xc1", b"\xd9\xd9\xf7"])
def test_cbor_as_deep_as_fits_into_a_request_is_refused(head: bytes) -> None:
    sent = {
        "clientDataJSON": base64url(json.dumps({"type": "webauthn.create"}).encode()),
        "attestationObject": base64url(head * (2900 // len(head))),
    }
    found = made_passkey(
        {"id": "a", "rawId": "a", "type": "public-key", "response": sent},
        SITE,
        CHALLENGE,
        "Laptop",
        NOW,
    )
    assert isinstance(found, AccountProblem)


@pytest.mark.parametrize(
    ("origin", "domain"),
    [
        ("https://towers.example", "towers.example"),
        ("https://Towers.example:8443", "towers.example"),
        ("http://localhost:8000", "localhost"),
        ("http://127.0.0.1:8000", None),
        ("http://[::1]:8000", None),
        ("null", None),
        ("https://towers.example/path", None),
        ("file://towers.example", None),
        ("", None),
    ],
)
def test_p212_a_page_with_a_name_has_passkeys(origin: str, domain: str | None) -> None:
    found = site_of(origin)
    assert (found.domain if found else None) == domain


def test_the_authenticator_of_the_tests_signs_what_the_standard_says() -> None:
    keys = Authenticator()
    made(keys)
    answer = keys.get(request_options(SITE, (), CHALLENGE))["response"]
    data = from_base64url(answer["authenticatorData"])
    assert data[:32] == hashlib.sha256(b"towers.example").digest()
    assert (data[32], data[33:]) == (UP | UV, (1).to_bytes(4, "big"))
