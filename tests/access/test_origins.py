"""Origins: which pages may connect."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towerhall_server.access.origins import Origins

SIX = "[2001:db8::1]"
OWN = "play.example.org"
LISTED = (
    "https://lobby.example.org",
    "http://dev.example.org:3000",
    f"http://{SIX.upper()}:80",
    "capacitor://localhost",
    "https://kiosk.example.org",
)


@pytest.mark.parametrize(
    "origin",
    [
        "https://lobby.example.org",
        "https://lobby.example.org:443",
        "HTTPS://Lobby.Example.ORG",
        "http://dev.example.org:3000",
        f"http://{SIX}",
        f"http://{SIX.replace('::', ':0:0::')}:80",
        "capacitor://localhost",
    ],
)
def test_a_listed_origin_may_connect_however_it_is_written(origin: str) -> None:
    assert Origins(LISTED).allows(origin, OWN)


@pytest.mark.parametrize(
    "origin",
    [
        "http://lobby.example.org",
        "https://lobby.example.org:8443",
        "https://lobby.example.org:80",
        "https://evil.example",
        "https://evil-lobby.example.org",
        "https://lobby.example.org.evil.example",
        "https://sub.lobby.example.org",
        "https://example.org",
        "https://lobby.example.org.",
        "https://lobby.example.org/",
        "https://lobby.example.org/path",
        "https://lobby.example.org?x",
        "https://lobby.example.org#x",
        "https://lobby.example.org:",
        "https://lobby.example.org:0443",
        "https://lobby.example.org:443443",
        "https://lobby.example.org:99999",
        "https://ada@lobby.example.org",
        "https://evil.example@lobby.example.org",
        "https://lobby.example.org@evil.example",
        "https://lobby.example.org https://evil.example",
        "https://lobby.example.org, https://evil.example",
        " https://lobby.example.org",
        "https://lobby.example.org\n",
        "https://lobby-example.example.org",
        "https://\u212aiosk.example.org",
        f"https://{'lobby。example.org'}",
        "https:lobby.example.org",
        "//lobby.example.org",
        "lobby.example.org",
        "https://",
        "http://dev.example.org",
        f"http://{SIX.replace('::1', '::2')}",
        f"http://{SIX[:-1]}",
        f"http://{'[::::]'}",
        "capacitor://localhost:80",
        "file://",
        "null",
        "NULL",
        "*",
        "",
    ],
)
def test_any_other_origin_may_not(origin: str) -> None:
    assert not Origins(LISTED).allows(origin, OWN)
    assert not Origins(()).allows(origin, OWN)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("https://play.example.org", "play.example.org"),
        ("https://play.example.org", "Play.Example.Org:443"),
        ("http://play.example.org", "play.example.org:80"),
        ("http://localhost:8000", "localhost:8000"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://[::1]:8000", "[::1]:8000"),
    ],
)
def test_a_page_that_this_server_delivered_may_always_connect(origin: str, host: str) -> None:
    assert Origins(()).allows(origin, host)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:3000", "localhost:8000"),
        ("http://localhost", "localhost:8000"),
        ("http://localhost:8000", "localhost"),
        ("http://localhost:8000", "127.0.0.1:8000"),
        ("https://play.example.org", "play.example.org:80"),
        ("https://evil.example", "play.example.org"),
        ("https://evil.example", "play.example.org@evil.example"),
        ("https://evil.example", "play.example.org, evil.example"),
        ("https://evil.example", "evil.example, play.example.org"),
        ("https://evil.example", ""),
        ("https://evil.example", None),
        ("capacitor://play.example.org", "play.example.org"),
        ("null", "null"),
    ],
)
def test_a_page_of_another_host_or_port_is_not_its_own(origin: str, host: str | None) -> None:
    assert not Origins(()).allows(origin, host)


def test_programs_without_an_origin_may_connect() -> None:
    assert Origins(()).allows(None, OWN)
    assert Origins(LISTED).allows(None, None)


def test_null_may_connect_only_if_listed() -> None:
    assert Origins(("null",)).allows("null", OWN)
    assert not Origins(("null",)).allows("https://evil.example", OWN)


def test_a_star_means_every_page() -> None:
    every = Origins(("*",))
    assert all(every.allows(origin, OWN) for origin in ("https://evil.example", "null", "junk"))


@pytest.mark.parametrize(
    "entry",
    [
        "https://lobby.example.org/",
        "lobby.example.org",
        "https://*.example.org",
        "https://lobby.example.org:99999",
        "https://лобби.example.org",
        f"http://{'[::::]'}",
        "",
    ],
)
def test_a_list_that_browsers_could_never_match_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="is not an origin"):
        Origins((entry,))


@given(st.text(), st.none() | st.text())
def test_whatever_is_sent_is_answered(origin: str, host: str | None) -> None:
    assert Origins(LISTED).allows(origin, host) in {True, False}
