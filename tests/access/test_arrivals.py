"""Who is let in before anything is read: by network, and as far as there is room."""

import resource

import pytest

from towerhall_server.access.arrivals import FEW, SPARE, Arrival, Arrivals
from towerhall_server.gateway.ws import complaints
from towerhall_server.gateway.ws.complaints import PACE, Complaints
from towerhall_server.process.descriptors import KEPT, WANTED, room_for_connections

OTHER = "198.51.100.7"


def entered(arrivals: Arrivals, *addresses: str) -> list[bool]:
    return [arrivals.enter(address) is not None for address in addresses]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8:0:ab00::1", "2001:db8:0:abff::1", True),
        ("2001:db8:0:ab00::1", "2001:db8:0:ac00::1", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
    ],
)
def test_what_one_customer_has_is_one_network(first: str, second: str, same: bool) -> None:
    assert entered(Arrivals(1, 10), first, second) == [True, not same]


def test_a_network_has_so_many_and_gets_back_what_it_leaves() -> None:
    arrivals = Arrivals(2, 10)
    kept = [arrivals.enter("192.0.2.1") for _ in range(3)]
    assert kept == [Arrival("192.0.2.1"), Arrival("192.0.2.1"), None]
    assert entered(arrivals, OTHER) == [True]
    assert kept[0] is not None
    arrivals.leave(kept[0])
    assert arrivals.total == 2
    assert entered(arrivals, "192.0.2.1", "192.0.2.1") == [True, False]


def test_a_trusted_proxy_counts_only_where_all_count() -> None:
    arrivals = Arrivals(1, 3, ("10.0.0.0/8", "2001:db8::5"))
    assert entered(arrivals, "10.1.2.3", "10.1.2.3", "2001:db8::5") == [True] * 3
    assert arrivals.total == 3
    assert not arrivals.of_networks
    spare = arrivals.enter("10.1.2.3")
    assert spare == Arrival("", is_spare=True)


def test_where_there_is_no_room_some_more_are_let_in_for_health_checks() -> None:
    arrivals = Arrivals(1000, 2)
    found = [arrivals.enter(f"192.0.2.{number}") for number in range(2 + SPARE + 1)]
    assert [each and each.is_spare for each in found] == [False] * 2 + [True] * SPARE + [None]
    assert arrivals.total == 2 + SPARE
    assert len(arrivals.of_networks) == 2 + SPARE, "an address that is refused is not counted"


def test_a_network_that_has_some_gets_none_of_these() -> None:
    arrivals = Arrivals(1000, 2)
    assert entered(arrivals, *[OTHER] * (FEW + 3)) == [True] * FEW + [False] * 3
    assert entered(arrivals, "192.0.2.1") == [True]
    assert arrivals.of_networks.of(OTHER) == FEW


@pytest.mark.parametrize(
    ("soft", "hard", "asked", "room"),
    [
        (1024, 1024, None, 1024 - KEPT),
        (1024, 4096, 4096, 4096 - KEPT),
        (1024, 1 << 20, WANTED, WANTED - KEPT),
        (1024, resource.RLIM_INFINITY, WANTED, WANTED - KEPT),
        (1 << 20, 1 << 20, None, (1 << 20) - KEPT),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None, WANTED - KEPT),
        (64, 64, None, 32),
    ],
)
def test_there_is_room_for_as_many_as_the_system_allows(
    soft: int, hard: int, asked: int | None, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_to: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, to: set_to.append(to))
    assert room_for_connections() == room
    assert set_to == ([] if asked is None else [(asked, hard)])


def test_a_system_that_does_not_give_more_is_taken_at_its_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise ValueError

    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert room_for_connections() == 1024 - KEPT


def test_complaints_are_logged_now_and_then_and_none_is_forgotten(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 1000.0
    monkeypatch.setattr(complaints, "monotonic", lambda: now)
    told = Complaints()
    for _ in range(PACE.burst + 1000):
        told.tell("bad_request", OTHER)
    now += 1 / PACE.per_second
    told.tell("too_many", "")
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        *[f"refused {OTHER}: bad_request"] * PACE.burst,
        "refused a client: too_many; 1000 more were not logged",
    ]
