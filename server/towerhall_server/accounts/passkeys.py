"""What a browser is asked for a passkey, and whether its answer holds (WebAuthn level 3).

The library checks challenge, origin, domain, flags, signature and keys. What it leaves to its
caller is checked here: no answer out of a foreign frame, and the user handle of the account. An
answer may hold anything at all, so every failure of the library is a refusal. This module is pure.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import (
    base64url_to_bytes,
    decode_credential_public_key,
    decoded_public_key_to_cryptography,
    options_to_json_dict,
    parse_attestation_object,
    parse_client_data_json,
)
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.structs import (
    AttestationFormat,
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from towerhall_server.accounts.account import Account, AccountProblem, Passkey
from towerhall_server.accounts.codes import is_account_name

Credential = Mapping[str, Any]
"""The answer of a browser as JSON: `PublicKeyCredential.toJSON()`."""
SERVICE: Final = "Towerhall"
ALGORITHMS: Final = (
    COSEAlgorithmIdentifier.EDDSA,
    COSEAlgorithmIdentifier.ECDSA_SHA_256,
    COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256,
)
UNPROVED: Final = (AttestationFormat.NONE, AttestationFormat.PACKED)
"""Formats of a browser that was asked for no attestation. All others are complex and of no use: it
does not matter here who made an authenticator."""
CHALLENGE_MS: Final = 5 * 60_000
MOST_CREDENTIAL_BYTES: Final = 1023
MOST_KEY_BYTES: Final = 1024
MOST_REASON: Final = 120
ORIGIN: Final = re.compile(
    r"(?:https?)://(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::[0-9]{1,5})?", re.IGNORECASE | re.ASCII
)


class Site(msgspec.Struct, frozen=True, array_like=True):
    """A page: its origin, and the domain to which its passkeys belong."""

    origin: str
    domain: str


class Signature(msgspec.Struct, frozen=True):
    """A verified answer of a passkey."""

    credential: bytes
    count: int


def site_of(origin: str) -> Site | None:
    """Return the site of a page. None if it cannot have passkeys: addresses have none, only
    names."""
    found = ORIGIN.fullmatch(origin)
    if found is None:
        return None
    domain = found[1].lower()
    try:
        ipaddress.ip_address(domain.strip("[]"))
    except ValueError:
        return Site(origin, domain)
    return None


def creation_options(
    site: Site, account: str, name: str, known: Sequence[Passkey], challenge: bytes
) -> dict[str, Any]:
    """Return what the browser needs to make a passkey. Passkeys that are known are not made
    twice."""
    options = generate_registration_options(
        rp_id=site.domain,
        rp_name=SERVICE,
        user_name=name,
        user_id=account.encode(),
        challenge=challenge,
        timeout=CHALLENGE_MS,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            require_resident_key=True,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=_named(known, site),
        supported_pub_key_algs=list(ALGORITHMS),
    )
    return dict(options_to_json_dict(options))


def request_options(site: Site, known: Sequence[Passkey], challenge: bytes) -> dict[str, Any]:
    """Return what the browser needs to use a passkey: any one of this domain, or a known one."""
    options = generate_authentication_options(
        rp_id=site.domain,
        challenge=challenge,
        timeout=CHALLENGE_MS,
        allow_credentials=_named(known, site) or None,
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return dict(options_to_json_dict(options))


def challenge_of(credential: Credential) -> bytes | AccountProblem:
    """Return the challenge that an answer claims to answer."""
    try:
        data = parse_client_data_json(base64url_to_bytes(credential["response"]["clientDataJSON"]))
    except Exception as error:  # noqa: BLE001 - an answer may hold anything at all
        return _problem(error)
    if data.cross_origin:
        return AccountProblem("bad_passkey", "the page is inside a page of another site")
    return data.challenge


def account_of(credential: Credential) -> str:
    """Return the name of the account that a passkey names; empty if it names none."""
    try:
        name = base64url_to_bytes(credential["response"]["userHandle"]).decode()
    except Exception:  # noqa: BLE001 - as above
        return ""
    return name if is_account_name(name) else ""


def made_passkey(
    credential: Credential, site: Site, challenge: bytes, name: str, now_ms: int
) -> Passkey | AccountProblem:
    """Return the passkey that a browser has made, if its answer holds."""
    try:
        sent = base64url_to_bytes(credential["response"]["attestationObject"])
        if parse_attestation_object(sent).fmt not in UNPROVED:
            return AccountProblem("bad_passkey", "ask for no attestation")
        made = verify_registration_response(
            credential=dict(credential),
            expected_challenge=challenge,
            expected_rp_id=site.domain,
            expected_origin=site.origin,
            require_user_verification=True,
            supported_pub_key_algs=list(ALGORITHMS),
        )
        if base64url_to_bytes(credential["rawId"]) != made.credential_id:
            return AccountProblem("bad_passkey", "the answer names two passkeys")
        # A key that cannot be used is refused now, not at the first sign-in.
        decoded_public_key_to_cryptography(decode_credential_public_key(made.credential_public_key))
    except Exception as error:  # noqa: BLE001 - as above
        return _problem(error)
    too_long = len(made.credential_id) > MOST_CREDENTIAL_BYTES
    if too_long or len(made.credential_public_key) > MOST_KEY_BYTES:
        return AccountProblem("bad_passkey", "the passkey is too long")
    return Passkey(
        made.credential_id,
        made.credential_public_key,
        site.domain,
        name,
        now_ms,
        count=made.sign_count,
        synced=made.credential_backed_up,
    )


def signature(
    credential: Credential, account: Account, site: Site, challenge: bytes
) -> Signature | AccountProblem:
    """Return what a passkey of this account has signed, if the answer holds. The counter is judged
    where the account is changed."""
    try:
        passkey = account.passkey(base64url_to_bytes(credential["rawId"]))
        if passkey is None:
            return AccountProblem("bad_passkey", "no account here has this passkey")
        if passkey.site != site.domain:
            return AccountProblem("bad_passkey", "this passkey belongs to another site")
        found = verify_authentication_response(
            credential=dict(credential),
            expected_challenge=challenge,
            expected_rp_id=passkey.site,
            expected_origin=site.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=0,
            require_user_verification=True,
        )
    except Exception as error:  # noqa: BLE001 - as above
        return _problem(error)
    return Signature(found.credential_id, found.new_sign_count)


def _named(passkeys: Iterable[Passkey], site: Site) -> list[PublicKeyCredentialDescriptor]:
    return [
        PublicKeyCredentialDescriptor(each.credential)
        for each in passkeys
        if each.site == site.domain
    ]


def _problem(error: Exception) -> AccountProblem:
    """Only texts of the library's own checks are told. All others speak of its inside."""
    known = type(error).__module__.startswith("webauthn.")
    text = str(error).partition(". See")[0] if known else "the answer cannot be read"
    return AccountProblem("bad_passkey", text[:MOST_REASON] or "the answer cannot be read")
