"""Hosts: which requests are for this server at all."""

import pytest

from towerhall_server.access.hosts import Hosts

LISTED = ("Play.Example.org", "192.0.2.7", "[2001:db8::7]")


@pytest.mark.parametrize(
    "header",
    [
        "play.example.org",
        "PLAY.example.ORG",
        "play.example.org:443",
        "play.example.org:8000",
        "192.0.2.7",
        "192.0.2.7:80",
        "[2001:db8::7]",
        "[2001:DB8:0::7]:8443",
    ],
)
def test_a_listed_host_is_answered_for_at_every_port(header: str) -> None:
    assert Hosts(LISTED).answers_for(header)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        ":443",
        "evil.example",
        "play.example.org.evil.example",
        "evil-play.example.org",
        "sub.play.example.org",
        "example.org",
        "play.example.org.",
        "play.example.org:",
        "play.example.org:port",
        "play.example.org:443:443",
        "play.example.org:443443",
        "play.example.org/",
        "play.example.org@evil.example",
        "evil.example@play.example.org",
        "play.example.org, evil.example",
        " play.example.org",
        "play.example.org\n",
        "play_example.org",
        "\u212aplay.example.org",
        "2001:db8::7",
        "[2001:db8::8]",
        "[2001:db8::7",
        "[::::]",
        "192.0.2.8",
    ],
)
def test_any_other_host_is_not(header: str | None) -> None:
    assert not Hosts(LISTED).answers_for(header)


@pytest.mark.parametrize("header", [None, "", "anything", "evil.example:80", "[::1]"])
def test_where_none_is_listed_every_host_is_answered_for(header: str | None) -> None:
    assert Hosts(()).answers_for(header)


@pytest.mark.parametrize(
    "entry",
    ["", "https://play.example.org", "play.example.org:443", "[2001:db8::7]:80", "*", "a/b", "[:]"],
)
def test_what_is_no_host_cannot_be_listed(entry: str) -> None:
    with pytest.raises(ValueError, match="without a scheme and without a port"):
        Hosts((entry,))
