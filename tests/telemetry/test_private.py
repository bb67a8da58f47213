"""Who may read the metrics, and where they may be."""

import pytest

from towerhall_server.config.settings import SettingsError, read_settings
from towerhall_server.telemetry.private import may_look

TOKEN = "a-token-of-24-characters"
STORE = {
    "TOWERHALL_REDIS_URL": "redis://store.example",
    "TOWERHALL_TOKEN_KEYS": "q7Zt-1vWmX0aRk93LpYc_uE5hBn8DsGf2TjKoI4xVwM",
}


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_needs_no_token(host: str) -> None:
    settings = read_settings(STORE, {"metrics_port": 9100, "metrics_host": host})
    assert (settings.metrics_host, settings.metrics_port) == (host, 9100)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "10.0.0.7", "metrics.example", "LOCALHOST.example"]
)
def test_every_other_address_needs_one(host: str) -> None:
    flags: dict[str, str | int] = {"metrics_port": 9100, "metrics_host": host}
    with pytest.raises(SettingsError, match="TOWERHALL_METRICS_TOKEN"):
        read_settings(STORE, flags)
    assert read_settings(STORE | {"TOWERHALL_METRICS_TOKEN": TOKEN}, flags).metrics_port == 9100
    assert read_settings(STORE, {"metrics_host": host}).metrics_port == 0, "nobody can look"


@pytest.mark.parametrize("token", ["short", "with a space in it", "ümlautümlautümlaut", "x" * 15])
def test_a_token_that_can_be_guessed_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(SettingsError, match="TOWERHALL_METRICS_TOKEN cannot be used") as caught:
        read_settings(STORE | {"TOWERHALL_METRICS_TOKEN": token}, {})
    assert token not in str(caught.value)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"metrics_port": 65_534, "workers": 3}, "leaves no ports for 3 workers"),
        ({"metrics_port": 8000}, "the service itself is at port 8000"),
        ({"metrics_port": 7998, "workers": 3}, "the service itself is at port 8000"),
    ],
)
def test_ports_that_cannot_all_be_had_are_refused(flags: dict[str, int], says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        read_settings(STORE, flags)


def test_the_token_is_never_shown() -> None:
    settings = read_settings(STORE | {"TOWERHALL_METRICS_TOKEN": TOKEN}, {})
    assert settings.metrics_token == TOKEN
    assert TOKEN not in repr(settings)


@pytest.mark.parametrize(
    ("given", "may"),
    [
        (f"Bearer {TOKEN}", True),
        (f"bearer  {TOKEN} ", True),
        (f"Bearer {TOKEN}x", False),
        (f"Basic {TOKEN}", False),
        (TOKEN, False),
        ("Bearer", False),
        ("Bearer ümlaut", False),
        ("", False),
    ],
)
def test_only_the_token_opens(given: str, may: bool) -> None:
    assert may_look(TOKEN, given) is may
    assert may_look("", given), "without a token everybody who gets here may look"
