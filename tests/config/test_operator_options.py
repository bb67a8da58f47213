"""How operators are written in settings, and that what is secret about them stays so."""

from pathlib import Path

import pytest

from towerhall_server.config.settings import SettingsError, read_settings
from towerhall_server.operators.operator import Operators, Webhook, identity_of

KEY = "q7Zt-1vWmX0aRk93LpYc_uE5hBn8DsGf2TjKoI4xVwM"
OTHER_KEY = "Hd83-kQzPw1Lm0XvYt6RbNc_5sJfUe2Ga9TiOo7KxZ4"
HOOK = "https://acme.example/hook/of-ours"
WHOLE = {
    "operator_keys": f"acme:{KEY}, other:{OTHER_KEY}",
    "webhooks": f"acme:{HOOK}",
    "webhook_secrets": f"acme:{KEY}{KEY} acme:{OTHER_KEY}{KEY}",
}


def variables(**wanted: str) -> dict[str, str]:
    return {f"TOWERHALL_{name.upper()}": text for name, text in wanted.items()}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"TOWERHALL_DATA_FOLDER": str(tmp_path / "data")}


def test_operators_with_their_hooks(home: dict[str, str]) -> None:
    settings = read_settings(home | variables(**WHOLE), {})
    assert settings.operator_keys == (("acme", KEY.encode()), ("other", OTHER_KEY.encode()))
    hook = settings.hooks["acme"]
    assert hook.url == HOOK
    assert hook.secrets == ((KEY + KEY).encode(), (OTHER_KEY + KEY).encode())
    assert settings.join_minutes == 1440


def test_nothing_secret_is_shown(home: dict[str, str]) -> None:
    settings = read_settings(home | variables(**WHOLE), {})
    shown = repr(settings) + repr(settings.hooks)
    for secret in (KEY, OTHER_KEY, "of-ours"):
        assert secret not in shown


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"operator_keys": KEY}, "name:value"),
        ({"operator_keys": f"Acme:{KEY}"}, "name:value"),
        ({"operator_keys": f":{KEY}"}, "name:value"),
        ({"operator_keys": "acme:"}, "name:value"),
        ({"operator_keys": f"{'a' * 33}:{KEY}"}, "1 to 32"),
        ({"operator_keys": f"acme:{KEY[:31]}"}, "shorter than 32"),
        ({"operator_keys": "acme:" + "x" * 40}, "like an example"),
        ({"operator_keys": f"acme:{KEY} other:{KEY}"}, "twice"),
        ({"webhooks": "acme:ftp://acme.example/of-ours"}, "not like https"),
        ({"webhooks": "acme:https://user@acme.example/of-ours"}, "before the host"),
        ({"webhooks": "acme:https://user:pw@acme.example/of-ours"}, "before the host"),
        ({"webhooks": "acme:https:///of-ours"}, "not like https"),
        ({"webhooks": "acme:https://acme.example:99999/of-ours"}, "not like https"),
        ({"webhooks": "acme:https://acme.example/of-ours#here"}, "after a #"),
        ({"webhooks": "acme:https://acme.example/of-oursé"}, "not like https"),
        ({"webhooks": f"acme:{HOOK} acme:{HOOK}"}, "two addresses"),
        ({"webhooks": "acme:http://acme.example/of-ours"}, "neither https nor"),
        ({"webhooks": f"acme:{HOOK} nobody:{HOOK}"}, "nobody has no operator key"),
        ({"webhooks": ""}, "acme has a webhook secret, but no webhook"),
        ({"webhook_secrets": ""}, "no secret to sign with"),
        ({"webhook_secrets": f"acme:{KEY[:31]}"}, "shorter than 32"),
        ({"webhook_networks": "0.0.0.0/0"}, "every address"),
        ({"webhook_networks": "inside"}, "neither an address nor a network"),
        ({"embedders": "null"}, "null stands for many pages"),
        ({"embedders": "https://a.example/;script-src"}, "not an origin"),
        ({"join_minutes": "0"}, "from 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    home: dict[str, str], changed: dict[str, str], says: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings(home | variables(**WHOLE | changed), {})
    message = str(caught.value)
    assert says in message
    assert message.startswith("TOWERHALL_")
    for secret in (KEY[:31], OTHER_KEY[:31], "of-ours", "user"):
        assert secret not in message


@pytest.mark.parametrize(
    ("url", "networks"),
    [
        ("http://127.0.0.1:8080/hook", ""),
        ("http://localhost/hook", ""),
        ("http://[::1]:8080/hook", ""),
        ("http://lobby.example:8080/hook", "10.0.0.0/8"),
    ],
)
def test_plain_http_is_for_this_machine_and_for_listed_networks(
    home: dict[str, str], url: str, networks: str
) -> None:
    changed = {"webhooks": f"acme:{url}", "webhook_networks": networks}
    assert read_settings(home | variables(**WHOLE | changed), {}).hooks["acme"].url == url


def test_an_operator_is_found_by_any_of_their_keys() -> None:
    operators = Operators((("acme", b"one"), ("acme", b"two"), ("other", b"three")))
    found = [operators.find(key) for key in ("one", "two", "three", "four", "", "one ", "\udcff")]
    assert found == ["acme", "acme", "other", None, None, None, None]
    assert operators.names == {"acme", "other"}
    assert Operators(()).find("") is None


def test_an_external_id_is_always_the_same_person_and_nobody_elses() -> None:
    secret, another = bytes(32), bytes(31) + b"\1"
    identity = identity_of(secret, "acme", "account 7")
    assert identity == identity_of(secret, "acme", "account 7")
    assert len(identity) == 11
    different = {
        identity,
        identity_of(another, "acme", "account 7"),
        identity_of(secret, "other", "account 7"),
        identity_of(secret, "acme", "account 8"),
        identity_of(secret, "acmeaccount", " 7"),
        identity_of(secret, "a", "cme\0account 7"),
    }
    assert len(different) == 6


def test_a_hook_shows_nothing() -> None:
    assert repr(Webhook(HOOK, (KEY.encode(),))) == "Webhook(not shown)"
