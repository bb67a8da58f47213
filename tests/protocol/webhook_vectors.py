"""Signatures of webhooks (P-169), for receivers in any language: which are to be believed.

The proofs are made here by the recipe of the specification, and by nothing of the server.
"""

import hmac
from hashlib import sha256
from typing import Any

SECRET, OTHER = "secret", "n4xZp-2vWmX0aRk93LpYc_uE5hBn8DsGf2TjKoI4xVwM"
NOW = 1_700_000_000
BODY = '{"id":"AAAAAAAAAAAAAAAAAAAAAA","kind":"turn","room":{"code":"QJXKZB","name":"Zoë ☺"}}'


def proof(secret: str, seconds: object, body: str) -> str:
    return hmac.new(secret.encode(), f"{seconds}.{body}".encode(), sha256).hexdigest()


def webhooks() -> dict[str, Any]:
    """Headers for one body each, the time at which they come, and whether they are taken."""
    good, empty = proof(SECRET, NOW, BODY), proof(SECRET, NOW, "{}")
    late, far = proof(SECRET, NOW - 300, BODY), proof(SECRET, NOW - 301, BODY)
    cases: list[tuple[str, str, str, bool]] = [
        ("the example of P-169", f"t={NOW},v1={empty}", "{}", True),
        ("a delivery", f"t={NOW},v1={good}", BODY, True),
        ("white space", f"t={NOW}, v1={good}", BODY, True),
        (
            "the second of two secrets",
            f"t={NOW},v1={proof(OTHER, NOW, BODY)},v1={good}",
            BODY,
            True,
        ),
        ("a later scheme beside it", f"t={NOW},v1={good},v2=abc", BODY, True),
        ("five minutes old", f"t={NOW - 300},v1={late}", BODY, True),
        ("older", f"t={NOW - 301},v1={far}", BODY, False),
        ("from the future", f"t={NOW + 301},v1={proof(SECRET, NOW + 301, BODY)}", BODY, False),
        ("another time than was signed", f"t={NOW - 1},v1={good}", BODY, False),
        ("another body", f"t={NOW},v1={good}", BODY.replace("turn", "end"), False),
        ("another secret", f"t={NOW},v1={proof(OTHER, NOW, BODY)}", BODY, False),
        ("half of the proof", f"t={NOW},v1={good[:32]}", BODY, False),
        ("in capitals", f"t={NOW},v1={good.upper()}", BODY, False),
        ("another scheme", f"t={NOW},v2={good}", BODY, False),
        ("no time", f"v1={good}", BODY, False),
        ("two times", f"t={NOW},t={NOW - 1},v1={good}", BODY, False),
        ("a time that is none", f"t=now,v1={proof(SECRET, 'now', BODY)}", BODY, False),
        ("no proof", f"t={NOW}", BODY, False),
        ("an empty proof", f"t={NOW},v1=", BODY, False),
        ("nothing", "", BODY, False),
    ]
    return {
        "secret": SECRET,
        "now": NOW,
        "cases": [
            {"name": name, "signature": header, "body": body, "taken": taken}
            for name, header, body, taken in cases
        ],
    }
