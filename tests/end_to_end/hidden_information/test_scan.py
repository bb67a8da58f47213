"""The search finds what is there, however it is written."""

import random
from base64 import b64encode
from collections.abc import Callable

import msgspec
import pytest

from tests.end_to_end.hidden_information.scan import leaks
from towerhall_protocol.commands import base64url

SECRET = random.Random(5).randbytes(32)
WRITINGS: list[Callable[[bytes], bytes]] = [
    bytes,
    lambda secret: secret.hex().encode(),
    lambda secret: secret.hex().upper().encode(),
    b64encode,
    lambda secret: b64encode(b"x" + secret + b"y"),
    lambda secret: b64encode(b"xy" + secret + b"z"),
    lambda secret: base64url(secret).encode(),
    lambda secret: base64url(b"\x91" + secret).encode(),
    lambda secret: secret[::-1],
    lambda secret: secret[::-1].hex().encode(),
    lambda secret: repr(secret).encode(),
    lambda secret: repr(list(secret)).encode(),
    lambda secret: secret[5:16],
    lambda secret: secret.hex()[-24:].encode(),
    lambda secret: base64url(secret)[:16].encode(),
    msgspec.msgpack.encode,
    msgspec.json.encode,
]


@pytest.mark.parametrize("write", WRITINGS)
def test_the_scan_finds_a_secret_however_it_is_written(write: Callable[[bytes], bytes]) -> None:
    before, after = random.Random(6).randbytes(1000), random.Random(7).randbytes(1000)
    assert leaks(before + write(SECRET) + after, {"S": SECRET}) == {"S"}
    assert leaks(before + after, {"S": SECRET}) == set()
