"""What is read from a URL."""

import ssl

import pytest

from towerhall_server.store.endpoint import endpoint
from towerhall_server.store.resp import packed


def test_a_socket_is_found_by_its_path() -> None:
    where = endpoint("unix:///run/an%20engine.sock")
    assert (where.path, where.tls, where.greeting) == ("/run/an engine.sock", None, ())


def test_a_host_is_found_by_name_and_port() -> None:
    where = endpoint("redis://store.example.org:7000")
    assert (where.path, where.host, where.port, where.tls) == ("", "store.example.org", 7000, None)
    assert endpoint("redis://localhost").port == 6379


def test_the_greeting_says_who_we_are_before_it_chooses_a_database() -> None:
    where = endpoint("redis://ada:se%40cret@localhost/7?client_name=hall")
    assert where.greeting == (
        packed("AUTH", "ada", "se@cret"),
        packed("CLIENT", "SETNAME", "hall"),
        packed("SELECT", 7),
    )
    assert endpoint("redis://:secret@localhost").greeting == (packed("AUTH", "secret"),)


def test_a_secured_connection_checks_whom_it_talks_to() -> None:
    tls = endpoint("rediss://store.example.org").tls
    assert tls is not None
    assert tls.verify_mode == ssl.CERT_REQUIRED
    assert tls.check_hostname


def test_waiting_times_are_the_stores_unless_the_url_gives_others() -> None:
    usual = endpoint("redis://localhost")
    assert (usual.connect_seconds, usual.answer_seconds) == (2.0, 3.0)
    other = endpoint("redis://localhost?socket_connect_timeout=7&socket_timeout=9.5")
    assert (other.connect_seconds, other.answer_seconds) == (7.0, 9.5)


@pytest.mark.parametrize(
    "url", ["http://localhost", "localhost:6379", "", "redis://localhost?unheard_of=1"]
)
def test_what_is_no_address_is_refused_at_once(url: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        endpoint(url)
