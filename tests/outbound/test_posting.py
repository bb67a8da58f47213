"""Which hosts may be asked for operators and for strangers, and what counts of an answer."""

import ipaddress
from collections.abc import AsyncIterator
from functools import partial

import pytest

from tests.operators.receiver import HANG, Receiver, receiver, status
from towerhall_server.outbound.posting import NotPostedError, Outbound, Posted

WEBHOOKS = partial(Outbound, is_trusted=True)
PUSHES = partial(Outbound, is_trusted=False)
LOCAL = ("127.0.0.0/8",)


@pytest.fixture
async def hook() -> AsyncIterator[Receiver]:
    async with receiver() as running:
        yield running


@pytest.mark.parametrize(
    ("address", "host", "secure", "networks", "may"),
    [
        ("93.184.216.34", "lobby.example", True, (), True),
        ("2606:2800:220:1::1", "lobby.example", True, (), True),
        ("93.184.216.34", "lobby.example", False, (), False),
        ("127.0.0.1", "localhost", False, (), True),
        ("::1", "::1", False, (), True),
        ("127.0.0.1", "lobby.example", True, (), False),
        ("::1", "lobby.example", True, (), False),
        ("::ffff:127.0.0.1", "lobby.example", True, (), False),
        ("10.0.0.7", "lobby.example", True, (), False),
        ("172.16.0.1", "lobby.example", True, (), False),
        ("192.168.1.1", "lobby.example", True, (), False),
        ("100.64.0.1", "lobby.example", True, (), False),
        ("169.254.169.254", "lobby.example", True, (), False),
        ("::ffff:169.254.169.254", "lobby.example", True, (), False),
        ("64:ff9b::a9fe:a9fe", "lobby.example", True, (), False),
        ("2002:a9fe:a9fe::1", "lobby.example", True, (), False),
        ("fd00::1", "lobby.example", True, (), False),
        ("fe80::1", "lobby.example", True, (), False),
        ("0.0.0.0", "lobby.example", True, (), False),
        ("::", "lobby.example", True, (), False),
        ("224.0.0.1", "lobby.example", True, (), False),
        ("ff0e::1", "lobby.example", True, (), False),
        ("255.255.255.255", "lobby.example", True, (), False),
        ("64:ff9b::a00:7", "lobby.example", True, (), False),
        ("64:ff9b::a00:7", "lobby.example", True, ("10.0.0.0/8",), True),
        ("64:ff9b::5db8:d822", "lobby.example", True, (), True),
        ("64:ff9b::5db8:d822", "lobby.example", False, (), False),
        ("64:ff9b::7f00:1", "lobby.example", True, (), False),
        ("10.0.0.7", "lobby.example", False, ("10.0.0.0/8",), True),
        ("10.0.0.7", "localhost", False, (), False),
        ("192.168.1.1", "lobby.example", True, ("10.0.0.0/8",), False),
    ],
)
def test_where_a_hook_may_be(
    address: str, host: str, secure: bool, networks: tuple[str, ...], may: bool
) -> None:
    assert (
        WEBHOOKS(networks).may_go(ipaddress.ip_address(address), host, 8080, secure=secure) is may
    )


EDGES = """
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24
    198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    ::/96 ::/128 ::1/128 ::ffff:0:0:0/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/32
    2001:1::/48 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28
    2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10
    ff00::/8
"""
"""The special-purpose registries of IANA, and what was set aside before there were registries."""


@pytest.mark.parametrize("edge", EDGES.split())
def test_no_hook_is_at_an_address_that_is_set_aside(edge: str) -> None:
    network = ipaddress.ip_network(edge)
    middle = network[network.num_addresses // 2]
    for address in (network[0], middle, network[-1]):
        assert not PUSHES().may_go(address, "push.example", 443, secure=True), address
        if address.version == 4:
            for written in (f"::ffff:{address}", f"64:ff9b::{address}", f"::{address}"):
                inside = ipaddress.ip_address(written)
                assert not PUSHES().may_go(inside, "push.example", 443, secure=True), inside


BESIDE = """
    1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 192.0.1.1 192.88.98.255
    192.88.100.0 198.17.255.255 198.20.0.0 223.255.255.255 2001:200:: 2003::1 2400:cb00::1
    2606:4700::1111 2a00:1450::1 3ffe::1
"""


@pytest.mark.parametrize("address", BESIDE.split())
def test_ordinary_hosts_beside_them_may_be_asked(address: str) -> None:
    assert PUSHES().may_go(ipaddress.ip_address(address), "push.example", 443, secure=True)


@pytest.mark.parametrize(
    ("address", "host", "port", "networks", "may"),
    [
        ("93.184.216.34", "push.example", 443, (), True),
        ("93.184.216.34", "push.example", 22, (), False),
        ("93.184.216.34", "push.example", 8443, (), False),
        ("127.0.0.1", "localhost", 443, (), False),
        ("::1", "localhost", 443, (), False),
        ("::ffff:127.0.0.1", "push.example", 443, (), False),
        ("127.0.0.1", "localhost", 8443, LOCAL, True),
        ("10.0.0.7", "push.example", 443, LOCAL, False),
        ("93.184.216.34", "push.example", 8443, LOCAL, False),
    ],
)
def test_a_stranger_reaches_public_hosts_at_one_port(
    address: str, host: str, port: int, networks: tuple[str, ...], may: bool
) -> None:
    outbound = PUSHES(networks)
    assert outbound.may_go(ipaddress.ip_address(address), host, port, secure=True) is may


def test_a_stranger_reaches_no_host_without_tls() -> None:
    public = ipaddress.ip_address("93.184.216.34")
    assert not PUSHES().may_go(public, "push.example", 443, secure=False)


@pytest.mark.parametrize(
    ("said", "posted"),
    [
        (b"HTTP/1.1 429 Slow\r\nRetry-After: 120\r\n\r\n", Posted(429, 120)),
        (b"HTTP/1.1 503 Down\r\nServer: x\r\nretry-after:7\r\n\r\n", Posted(503, 7)),
        (b"HTTP/1.1 429 Slow\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n\r\n", Posted(429)),
        (b"HTTP/1.1 429 Slow\r\nRetry-After: 999999999\r\n\r\n", Posted(429, 86_400)),
        (b"HTTP/1.1 429 Slow\r\n\r\nRetry-After: 5\r\n", Posted(429)),
        (b"HTTP/1.1 201 Created\r\nRetry-After: 5\r\n\r\n", Posted(201)),
        (status(410), Posted(410)),
    ],
)
async def test_status_and_wait_are_all_that_counts(
    hook: Receiver, said: bytes, posted: Posted
) -> None:
    hook.answer = lambda _: said
    assert await WEBHOOKS().post(hook.url, {}, b"") == posted


@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 429 Slow\r\n" + b"x" * 20_000, b"HTTP/1.1 200 OK" + b"x" * 20_000]
)
async def test_an_answer_without_end_is_not_read(hook: Receiver, said: bytes) -> None:
    hook.answer = lambda _: said
    with pytest.raises(NotPostedError):
        await WEBHOOKS(attempt_seconds=5).post(hook.url, {}, b"")


async def test_a_refusal_that_hangs_is_given_up(hook: Receiver) -> None:
    hook.answer = lambda _: HANG
    with pytest.raises(NotPostedError, match="no answer within"):
        await WEBHOOKS(attempt_seconds=0.1).post(hook.url, {}, b"")
