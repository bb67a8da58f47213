"""Settings: where they come from, what is refused in which words, and that secrets stay secret."""

import base64
import logging
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from towerhall_protocol.notes import COSIGNATURE, ED25519, VerifierKey
from towerhall_server.access.rates import Limits, Rate
from towerhall_server.config.settings import (
    PRODUCTION,
    READERS,
    SECRETS,
    ServerSettings,
    SettingsError,
    read_place,
    read_settings,
)
from towerhall_server.config.texts import safe_url
from towerhall_server.live.bucket import BucketName
from towerhall_server.store.check import connect

KEY = "q7Zt-1vWmX0aRk93LpYc_uE5hBn8DsGf2TjKoI4xVwM"
OTHER_KEY = "Hd83-kQzPw1Lm0XvYt6RbNc_5sJfUe2Ga9TiOo7KxZ4"
SEED = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
WITNESS = str(VerifierKey("witness.example/w1", COSIGNATURE, bytes(32)))
KEPT = {"signing.key", "token.key"}
REDIS = "redis://store.example:6379/0"
SHARED = {"TOWERHALL_REDIS_URL": REDIS, "TOWERHALL_TOKEN_KEYS": KEY}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment that says only where to keep data."""
    return {"TOWERHALL_DATA_FOLDER": str(tmp_path / "data")}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def refusal(environ: dict[str, str], **flags: str | int) -> str:
    with pytest.raises(SettingsError) as caught:
        read_settings(environ, flags)
    # Not even by way of a chained exception.
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_nothing_needs_to_be_set(tmp_path: Path) -> None:
    settings = read_settings({"HOME": str(tmp_path)}, {})
    assert settings.is_embedded
    assert (settings.host, settings.port) == ("127.0.0.1", 8000)
    assert settings.keep_days == 30
    assert settings.origins == settings.trusted_proxies == ()
    assert settings.limits == Limits()


def test_variables_are_read_and_flags_win() -> None:
    environ = {**SHARED, "TOWERHALL_PORT": "9000", "TOWERHALL_KEEP_DAYS": "7"}
    settings = read_settings(environ, {"port": 9001, "host": "0.0.0.0", "keep_days": None})
    assert (settings.host, settings.port, settings.keep_days) == ("0.0.0.0", 9001, 7)
    assert settings.redis_url == REDIS
    assert not settings.is_embedded


def test_an_empty_variable_is_not_set(home: dict[str, str]) -> None:
    settings = read_settings({**home, "TOWERHALL_REDIS_URL": "", "TOWERHALL_PORT": " "}, {})
    assert settings.is_embedded
    assert settings.port == 8000


def test_everything_can_be_set() -> None:
    examples: dict[str, tuple[str, object]] = {
        "data_folder": ("data", Path("data").absolute()),
        "token_keys": (f"{KEY}, {OTHER_KEY}", (KEY.encode(), OTHER_KEY.encode())),
        "signing_keys": (SEED, (bytes(range(32)),)),
        "log_origin": ("towers.example/v1/log", "towers.example/v1/log"),
        "witnesses": (WITNESS, (WITNESS,)),
        "redis_url": ("rediss://ada:pw@store.example", "rediss://ada:pw@store.example"),
        "require_durable": ("yes", True),
        "host": ("::", "::"),
        "port": ("0", 0),
        "origins": ("https://a.example, null", ("https://a.example", "null")),
        "hosts": ("a.example [::1]", ("a.example", "[::1]")),
        "hsts_days": ("30", 30),
        "trusted_proxies": ("10.0.0.1 fd00::/8", ("10.0.0.1", "fd00::/8")),
        "token_days": ("1", 1),
        "keep_days": ("0", 0),
        "archive": ("s3://records/towers", BucketName("records", "towers/")),
        "archive_endpoint": ("https://s3.example.org/", "https://s3.example.org"),
        "archive_key": ("an id", "an id"),
        "archive_secret": ("a secret", "a secret"),
        "archive_region": ("eu-central-1", "eu-central-1"),
        "workers": ("4", 4),
        "search_processes": ("3", 3),
        "drain_seconds": ("2.5", 2.5),
        "operator_keys": (
            f"acme:{KEY} acme:{OTHER_KEY}",
            (("acme", KEY.encode()), ("acme", OTHER_KEY.encode())),
        ),
        "join_minutes": ("10", 10),
        "webhooks": ("acme:https://acme.example/hook", (("acme", "https://acme.example/hook"),)),
        "webhook_secrets": (f"acme:{OTHER_KEY}", (("acme", OTHER_KEY.encode()),)),
        "webhook_networks": ("10.0.0.0/8", ("10.0.0.0/8",)),
        "push": ("no", False),
        "push_contact": ("mailto:towers@a.example", "mailto:towers@a.example"),
        "push_networks": ("10.1.0.0/16", ("10.1.0.0/16",)),
        "embedders": ("https://a.example", ("https://a.example",)),
        # It goes together with few others: see below.
        "sandbox": ("no", False),
        "newcomers_chat": ("no", False),
        "log_format": ("json", "json"),
        "log_level": ("debug", "debug"),
        "metrics_port": ("9100", 9100),
        "metrics_host": ("::1", "::1"),
        "metrics_token": ("a-token-of-24-characters", "a-token-of-24-characters"),
        "limit_message_bytes": ("8192", 8192),
        "limit_hello_seconds": ("2", 2.0),
        "limit_request_seconds": ("2.5", 2.5),
        "limit_header_bytes": ("8192", 8192),
        "limit_path_bytes": ("1024", 1024),
        "limit_connections_per_ip": ("2000", 2000),
        "limit_commands": ("30/s burst 60", Rate(30, 60)),
        "limit_chat": ("6/min", Rate(0.1, 6)),
        "limit_watcher_chat": ("3/min", Rate(0.05, 3)),
        "limit_watcher_chat_per_room": ("4/s burst 8", Rate(4, 8)),
        "limit_gets_per_ip": ("9/s burst 90", Rate(9, 90)),
        "limit_history": ("5/s", Rate(5, 5)),
        "limit_signatures": ("6/min burst 2", Rate(0.1, 2)),
        "limit_bad_messages": ("2/s burst 3", Rate(2, 3)),
        "limit_sockets_per_ip": ("100000", 100_000),
        "limit_sockets_per_identity": ("1", 1),
        "limit_sockets_per_bot": ("300", 300),
        "limit_spectators_per_room": ("5", 5),
        "limit_rooms_per_identity": ("36/h burst 1", Rate(0.01, 1)),
        "limit_rooms_per_ip": ("2/h", Rate(2 / 3600, 2)),
        "limit_guests_per_ip": ("1/s", Rate(1, 1)),
        "limit_bots_per_ip": ("3/s", Rate(3, 3)),
        "limit_invitations_per_identity": ("4/s", Rate(4, 4)),
        "limit_questions_per_identity": ("2/s", Rate(2, 2)),
        "limit_revocations_per_ip": ("2/h", Rate(2 / 3600, 2)),
        "limit_reports_per_identity": ("2/h", Rate(2 / 3600, 2)),
        "limit_operator_requests": ("2/s", Rate(2, 2)),
        "limit_recoveries_per_ip": ("3/h", Rate(3 / 3600, 3)),
        "limit_sign_ins_per_account": ("2/h", Rate(2 / 3600, 2)),
    }
    # A password becomes a part of the url.
    assert examples.keys() == READERS.keys() - {"redis_password"}
    as_variables = {f"TOWERHALL_{name.upper()}": text for name, (text, _) in examples.items()}
    as_flags = {name: text for name, (text, _) in examples.items()}
    for settings in (read_settings(as_variables, {}), read_settings({}, as_flags)):
        for name, (_, value) in examples.items():
            place = settings.limits if name.startswith("limit_") else settings
            assert getattr(place, name.removeprefix("limit_")) == value
    fields = {
        *ServerSettings.__struct_fields__,
        *(f"limit_{name}" for name in Limits.__struct_fields__),
    }
    assert fields - {"limits"} == examples.keys()


def test_records_go_to_a_folder_or_to_a_bucket_that_can_be_used(home: dict[str, str]) -> None:
    bucket = {"TOWERHALL_ARCHIVE": "s3://records", "TOWERHALL_ARCHIVE_KEY": "an id"}
    bucket["TOWERHALL_ARCHIVE_ENDPOINT"] = "http://127.0.0.1:9000"
    bucket["TOWERHALL_ARCHIVE_SECRET"] = "sesame"
    settings = read_settings({**home, **bucket}, {})
    assert settings.archive == BucketName("records", "")
    assert "sesame" not in repr(settings)
    folder = read_settings({**home, "TOWERHALL_ARCHIVE": "records"}, {})
    assert folder.archive == Path("records").absolute()
    for name in bucket.keys() - {"TOWERHALL_ARCHIVE"}:
        with pytest.raises(SettingsError, match=f"{name} is missing"):
            read_settings({**home, **bucket, name: ""}, {})
    del bucket["TOWERHALL_ARCHIVE"]
    with pytest.raises(SettingsError, match="is for a bucket"):
        read_settings({**home, **bucket}, {})


def test_a_sandbox_has_no_rates_but_those_that_are_set(home: dict[str, str]) -> None:
    ordinary = read_settings(home, {})
    set_rate = {**home, "TOWERHALL_LIMIT_COMMANDS": "3/s"}
    sandbox = read_settings(set_rate, {"sandbox": "yes"})
    assert (ordinary.sandbox, sandbox.sandbox) == (False, True)
    assert sandbox.limits.commands == Rate(3, 3)
    assert sandbox.limits.guests_per_ip.burst == 1_000_000
    assert sandbox.limits.bad_messages == ordinary.limits.bad_messages
    assert ordinary.limits == Limits()


def test_a_sandbox_never_shares_a_folder_with_real_games_by_itself(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    for flags, name in (({}, "towerhall"), ({"sandbox": "yes"}, "towerhall-sandbox")):
        assert read_settings(environ, flags).data_folder == tmp_path / name
    chosen = {"sandbox": "yes", "data_folder": str(tmp_path / "own")}
    assert read_settings(environ, chosen).data_folder == tmp_path / "own"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("redis_url", REDIS),
        ("require_durable", "yes"),
        ("workers", "2"),
        ("signing_keys", SEED),
        ("log_origin", "towers.example/v1/log"),
        ("witnesses", WITNESS),
        ("hosts", "towers.example"),
        ("trusted_proxies", "10.0.0.1"),
        ("archive", "records"),
        ("embedders", "https://a.example"),
    ],
)
def test_a_sandbox_is_refused_with_settings_of_a_real_service(
    home: dict[str, str], name: str, text: str
) -> None:
    assert name in PRODUCTION
    with pytest.raises(SettingsError, match=f"TOWERHALL_SANDBOX and TOWERHALL_{name.upper()} do"):
        read_settings(home, {"sandbox": "yes", name: text})


def test_search_processes_are_shared_out_to_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = {(0, 1, 8): 7, (0, 1, 1): 1, (0, 4, 8): 1, (0, 3, 8): 2, (6, 3, 1): 2, (1, 4, 8): 1}
    for (wanted, workers, cores), each in cases.items():
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        settings = ServerSettings(
            data_folder=Path(), token_keys=(), workers=workers, search_processes=wanted
        )
        assert settings.most_searches == each


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("port", "http", "'http' is not a whole number from 0 to 65535"),
        ("port", "65536", "from 0 to 65535"),
        ("port", "-1", "from 0 to 65535"),
        ("port", "٣", "from 0 to 65535"),
        ("keep_days", "1.5", "not a whole number"),
        ("archive", "ftp://records.example", "neither a folder nor a bucket"),
        ("archive", "s3://RECORDS", "neither a folder nor a bucket"),
        ("archive_endpoint", "s3.example.org", "no address"),
        ("archive_endpoint", "https://me:pw@s3.example.org", "no address"),
        ("token_days", "0", "from 1"),
        ("drain_seconds", "nan", "not a number of seconds"),
        ("drain_seconds", "inf", "not a number of seconds"),
        ("drain_seconds", "-1", "not a number of seconds"),
        ("drain_seconds", "soon", "not a number of seconds"),
        ("log_format", "xml", "not one of text, json"),
        ("log_level", "loud", "not one of debug, info, warning, error"),
        ("origins", "https://a.example/", "without a path"),
        ("hosts", "https://a.example", "without a scheme"),
        ("push_contact", "towers@a.example", "no address such as mailto:"),
        ("push_contact", "http://a.example", "no address such as mailto:"),
        ("push_networks", "0.0.0.0/0", "covers every address"),
        ("hosts", "a.example:443", "without a port"),
        ("require_durable", "true", "not one of yes, no"),
        ("trusted_proxies", "caddy", "list the networks of your proxies"),
        ("trusted_proxies", "*", "list the networks of your proxies"),
        ("trusted_proxies", "0.0.0.0/0", "covers every address"),
        ("trusted_proxies", "::/0", "covers every address"),
        ("redis_url", "store.example:6379", "like redis://localhost"),
        ("redis_url", "http://store.example", "like redis://localhost"),
        ("redis_url", "redis://", "like redis://localhost"),
        ("redis_url", "redis://store.example:port", "like redis://localhost"),
        ("redis_url", "redis://[store", "like redis://localhost"),
        ("redis_url", "unix://", "unix:///run"),
        ("data_folder", "~nobody-of-this-name/data", "write the whole path"),
        ("limit_chat", "1", "write 30/min"),
        ("limit_chat", "0/s", "write 30/min"),
        ("limit_chat", "1/s burst 0", "write 30/min"),
        ("limit_chat", "1/day", "units: s, min, h"),
        ("limit_message_bytes", "0", "from 1"),
        ("limit_hello_seconds", "0", "0.1 or more"),
    ],
)
def test_a_mistake_is_told_with_its_name_and_what_would_be_right(
    name: str, text: str, says: str
) -> None:
    by_variable = refusal({f"TOWERHALL_{name.upper()}": text})
    assert by_variable.startswith(f"TOWERHALL_{name.upper()} cannot be used: ")
    assert says in by_variable
    by_flag = refusal({}, **{name: text})
    assert by_flag.startswith(f"--{name.replace('_', '-')} cannot be used: ")
    assert says in by_flag


@pytest.mark.parametrize(
    ("written", "meant"),
    [("REDIS_ULR", "REDIS_URL"), ("TOKEN_KEY", "TOKEN_KEYS"), ("LIMIT_CHATS", "LIMIT_CHAT")],
)
def test_a_misspelt_variable_is_not_silently_ignored(written: str, meant: str) -> None:
    message = refusal({f"TOWERHALL_{written}": KEY})
    assert f"no variable TOWERHALL_{written}: did you mean TOWERHALL_{meant}?" in message
    assert KEY not in message


# Secrets in files


WRITTEN = {
    "token_keys": (f"{KEY}\n{OTHER_KEY}\n", (KEY.encode(), OTHER_KEY.encode())),
    "signing_keys": (f"{SEED}\n", (bytes(range(32)),)),
    "redis_url": ("redis://ada:pw@store.example:6379/0\n", "redis://ada:pw@store.example:6379/0"),
    "redis_password": ("p@ss/w:rd\n", None),
    "metrics_token": ("a-token-of-24-characters\n", "a-token-of-24-characters"),
    "archive_secret": ("a secret\n", "a secret"),
    "operator_keys": (f"acme:{KEY}\n", (("acme", KEY.encode()),)),
    "webhooks": (
        "acme:https://acme.example/hook\n",
        (("acme", "https://acme.example/hook"),),
    ),
    "webhook_secrets": (f"acme:{OTHER_KEY}\n", (("acme", OTHER_KEY.encode()),)),
}


def test_every_secret_can_be_in_a_file(tmp_path: Path) -> None:
    assert WRITTEN.keys() == SECRETS
    environ = {}
    for name, (text, _) in WRITTEN.items():
        (tmp_path / name).write_text(text)
        environ[f"TOWERHALL_{name.upper()}_FILE"] = str(tmp_path / name)
    environ["TOWERHALL_REDIS_URL"] = "redis://ada@store.example:6379/0"
    del environ["TOWERHALL_REDIS_URL_FILE"]
    environ |= {"TOWERHALL_ARCHIVE": "s3://records", "TOWERHALL_ARCHIVE_KEY": "an id"}
    environ["TOWERHALL_ARCHIVE_ENDPOINT"] = "https://s3.example.org"
    settings = read_settings(environ, {})
    for name in WRITTEN.keys() - {"redis_url", "redis_password"}:
        assert getattr(settings, name) == WRITTEN[name][1]
    assert settings.redis_url == "redis://ada:p%40ss%2Fw%3Ard@store.example:6379/0"
    assert "p%40ss" not in repr(settings)
    del environ["TOWERHALL_REDIS_URL"], environ["TOWERHALL_REDIS_PASSWORD_FILE"]
    environ["TOWERHALL_REDIS_URL_FILE"] = str(tmp_path / "redis_url")
    assert read_settings(environ, {}).redis_url == WRITTEN["redis_url"][1]


def test_a_flag_wins_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("redis://other.example")
    environ = {"TOWERHALL_TOKEN_KEYS": KEY, "TOWERHALL_REDIS_URL_FILE": str(tmp_path / "url")}
    assert read_settings(environ, {}).redis_url == "redis://other.example"
    assert read_settings(environ, {"redis_url": REDIS}).redis_url == REDIS


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_a_secret_that_is_set_twice_is_refused(tmp_path: Path, name: str) -> None:
    variable = f"TOWERHALL_{name.upper()}"
    path = tmp_path / "secret"
    path.write_text(WRITTEN[name][0])
    both = {**SHARED, variable: WRITTEN[name][0], f"{variable}_FILE": str(path)}
    message = refusal(both)
    assert message == f"{variable} and {variable}_FILE are both set: unset one of them"


def test_a_file_that_cannot_be_read_is_told_with_its_variable(tmp_path: Path) -> None:
    variable = "TOWERHALL_TOKEN_KEYS_FILE"
    for path in (tmp_path / "none", tmp_path):
        message = refusal({"TOWERHALL_REDIS_URL": REDIS, variable: str(path)})
        assert message.startswith(f"{variable} cannot be used: {path} cannot be read (")
    (tmp_path / "empty").write_text("\n")
    message = refusal({"TOWERHALL_REDIS_URL": REDIS, variable: str(tmp_path / "empty")})
    assert message.endswith("is empty")


def test_a_bad_secret_in_a_file_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(KEY[:31])
    variable = "TOWERHALL_TOKEN_KEYS_FILE"
    message = refusal({"TOWERHALL_REDIS_URL": REDIS, variable: str(tmp_path / "keys")})
    assert message.startswith(f"{variable} cannot be used: key 1 is shorter")
    assert KEY[:31] not in message


@pytest.mark.parametrize("name", ["PORT", "HOST", "ORIGINS", "LIMIT_CHAT", "DATA_FOLDER"])
def test_only_secrets_are_read_from_files(name: str) -> None:
    assert f"TOWERHALL_{name}_FILE is not read" in refusal({f"TOWERHALL_{name}_FILE": "x"})


def test_a_misspelt_file_variable_is_not_silently_ignored() -> None:
    message = refusal({"TOWERHALL_TOKEN_KEY_FILE": "x"})
    assert "did you mean TOWERHALL_TOKEN_KEYS_FILE?" in message


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("redis://store.example:6379/0", "redis://:a%40b@store.example:6379/0"),
        ("rediss://ada@store.example", "rediss://ada:a%40b@store.example"),
        ("unix:///run/store.sock?db=1", "unix://:a%40b@/run/store.sock?db=1"),
        ("unix:" + "//ada@/run/store.sock", "unix:" + "//ada:a%40b@/run/store.sock"),
    ],
)
def test_a_password_of_its_own_becomes_a_part_of_the_url(url: str, whole: str) -> None:
    environ = {**SHARED, "TOWERHALL_REDIS_URL": url, "TOWERHALL_REDIS_PASSWORD": "a@b"}
    assert read_settings(environ, {}).redis_url == whole
    assert read_place(environ, {})[0] == whole
    made = connect(whole).connection_pool.connection_kwargs
    assert made["password"] == "a@b"
    assert made.get("username") == ("ada" if "ada" in url else None)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "set the url of the store as well"),
        ("redis://ada:pw@store.example", "already has a password"),
        ("redis://store.example?password=pw", "already has a password"),
    ],
)
def test_a_password_that_fits_no_url_is_refused(home: dict[str, str], url: str, says: str) -> None:
    more = {
        "TOWERHALL_REDIS_URL": url,
        "TOWERHALL_REDIS_PASSWORD": "hidden",
        "TOWERHALL_TOKEN_KEYS": KEY,
    }
    message = refusal({**home, **more})
    assert message.startswith("TOWERHALL_REDIS_PASSWORD cannot be used: ")
    assert says in message
    assert "hidden" not in message


def test_variables_that_an_orchestrator_adds_do_no_harm() -> None:
    added = ("SERVICE_HOST", "SERVICE_PORT", "PORT_8000_TCP", "PORT_80_TCP_ADDR")
    read_settings({**SHARED, **{f"TOWERHALL_{name}": "x" for name in added}}, {})


def test_a_flag_that_does_not_exist_is_a_mistake() -> None:
    assert "no setting prot" in refusal(dict(SHARED), prot=1)


def test_a_shared_store_without_a_key_is_refused() -> None:
    message = refusal({"TOWERHALL_REDIS_URL": REDIS})
    assert "TOWERHALL_TOKEN_KEYS is missing" in message
    assert "secrets.token_urlsafe" in message
    assert "TOKEN_KEYS is missing" in refusal({}, redis_url=REDIS)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("few", "key 1 is shorter than 32 bytes"),
        (KEY[:31], "key 1 is shorter than 32 bytes"),
        (f"{KEY},{KEY[:31]}", "key 2 is shorter than 32 bytes"),
        (",", "it contains no key"),
        ("x" * 64, "looks like an example"),
        ("abcd" * 16, "looks like an example"),
        ("change-me-change-me-change-me-please", "looks like an example"),
        ("CHANGEME_0a8s7df6a5sd4f3as2df1as9df8", "looks like an example"),
        ("my-very-long-secret-for-development-only", "looks like an example"),
        ("01234567890123456789012345678901", "looks like an example"),
    ],
)
@pytest.mark.parametrize("store", [{"TOWERHALL_REDIS_URL": REDIS}, {}], ids=["shared", "embedded"])
def test_a_default_or_short_key_is_refused_and_not_repeated(
    store: dict[str, str], keys: str, says: str
) -> None:
    message = refusal({**store, "TOWERHALL_TOKEN_KEYS": keys})
    assert message.startswith("TOWERHALL_TOKEN_KEYS cannot be used: ")
    assert says in message
    assert "secrets.token_urlsafe" in message
    assert all(key not in message for key in keys.split(",") if key)


def test_the_first_key_stays_the_first() -> None:
    settings = read_settings({**SHARED, "TOWERHALL_TOKEN_KEYS": f"{OTHER_KEY},{KEY}"}, {})
    assert settings.token_keys == (OTHER_KEY.encode(), KEY.encode())


def test_a_shared_store_leaves_the_data_folder_alone(home: dict[str, str]) -> None:
    settings = read_settings({**home, **SHARED}, {})
    assert not settings.data_folder.exists()


def test_the_embedded_store_makes_a_private_key_and_keeps_it(home: dict[str, str]) -> None:
    settings = read_settings(home, {})
    path = settings.data_folder / "token.key"
    assert {each.name for each in settings.data_folder.iterdir()} == KEPT
    assert mode(path) == 0o600
    assert mode(settings.data_folder) == 0o700
    assert path.read_bytes() == settings.token_keys[0] + b"\n"
    assert len(settings.token_keys[0]) >= 32
    assert read_settings(home, {}) == settings


def test_two_folders_have_two_keys(tmp_path: Path) -> None:
    both = [read_settings({}, {"data_folder": tmp_path / name}) for name in "ab"]
    assert both[0].token_keys != both[1].token_keys
    assert both[0].signing_keys != both[1].signing_keys


def test_the_key_is_private_from_the_first_moment(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    link, modes = os.link, []

    def look(new: Path, path: Path) -> None:
        modes.append(mode(new))
        link(new, path)

    monkeypatch.setattr(os, "link", look)
    before = os.umask(0)
    try:
        read_settings(home, {})
    finally:
        os.umask(before)
    assert modes == [0o600, 0o600]


@pytest.mark.parametrize("opened", [0o644, 0o660, 0o604])
def test_a_key_that_others_can_read_is_made_private_and_told(
    home: dict[str, str], opened: int, caplog: pytest.LogCaptureFixture
) -> None:
    settings = read_settings(home, {})
    path = settings.data_folder / "token.key"
    path.chmod(opened)
    with caplog.at_level(logging.WARNING):
        assert read_settings(home, {}).token_keys == settings.token_keys
    assert mode(path) == 0o600
    assert f"{path} was open to others" in caplog.text
    assert settings.token_keys[0].decode() not in caplog.text


def test_a_kept_key_may_be_changed_like_others(home: dict[str, str]) -> None:
    path = read_settings(home, {}).data_folder / "token.key"
    path.write_text(f"{OTHER_KEY}\n{KEY}\n")
    assert read_settings(home, {}).token_keys == (OTHER_KEY.encode(), KEY.encode())


@pytest.mark.parametrize("content", ["", "\n", KEY[:20], f"{KEY}\n{KEY[:20]}", "x" * 40])
def test_a_broken_kept_key_is_refused_and_kept(home: dict[str, str], content: str) -> None:
    path = read_settings(home, {}).data_folder / "token.key"
    path.write_text(content)
    message = refusal(home)
    assert f"{path} is broken" in message
    assert "restore it from a copy" in message
    assert KEY[:20] not in message
    assert path.read_text() == content


def test_a_data_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    message = refusal({"TOWERHALL_DATA_FOLDER": str(tmp_path / "file" / "data")})
    assert str(tmp_path / "file") in message
    assert "TOWERHALL_DATA_FOLDER" in message


RACE = """
import sys
from towerhall_server.config.settings import read_settings
sys.stdin.readline()
found = read_settings({}, {"data_folder": sys.argv[1]})
print(found.token_keys, found.signing_keys)
"""


def test_servers_that_start_at_once_keep_the_same_key(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("\n")
        racer.stdin.flush()
    keys = {racer.communicate()[0] for racer in racers}
    found = read_settings({}, {"data_folder": folder})
    assert keys == {f"{found.token_keys} {found.signing_keys}\n"}
    assert {each.name for each in folder.iterdir()} == KEPT


def test_who_was_faster_wins_whatever_the_moment(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def late(new: Path, path: Path) -> None:
        path.write_text(KEY)
        link(new, path)

    monkeypatch.setattr(os, "link", late)
    settings = read_settings(home, {})
    assert settings.token_keys == (KEY.encode(),)
    assert settings.signing_keys == (base64.urlsafe_b64decode(f"{KEY}="),)
    assert {each.name for each in settings.data_folder.iterdir()} == KEPT


# Keys that sign


def test_a_server_with_its_own_store_keeps_a_private_signing_key(home: dict[str, str]) -> None:
    settings = read_settings(home, {})
    path = settings.data_folder / "signing.key"
    assert mode(path) == 0o600
    assert [len(seed) for seed in settings.signing_keys] == [32]
    assert read_settings(home, {}).signing_keys == settings.signing_keys
    text = path.read_text().strip()
    assert text not in repr(settings)
    assert settings.shown()["signing_keys"] == "(1, not shown)"
    path.write_text(f"{KEY}x\n")
    assert f"{path} cannot be used" in refusal(home)


def test_a_foreign_store_without_a_signing_key_signs_nothing() -> None:
    assert read_settings(SHARED, {}).signing_keys == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SIGNING_KEYS", f"{KEY}AAAA"),
        ("SIGNING_KEYS", "too-few"),
        ("SIGNING_KEYS", "!" + KEY[1:]),
        ("SIGNING_KEYS", "A" * 43),
        ("LOG_ORIGIN", "two words"),
        ("LOG_ORIGIN", "towers+example"),
        ("LOG_ORIGIN", "türme.example"),
        ("WITNESSES", "witness.example"),
        ("WITNESSES", f"{WITNESS} {WITNESS}"),
        ("WITNESSES", str(VerifierKey("log.example", ED25519, bytes(32)))),
    ],
)
def test_what_cannot_sign_or_name_or_cosign_is_refused(name: str, text: str) -> None:
    message = refusal({**SHARED, f"TOWERHALL_{name}": text})
    assert message.startswith(f"TOWERHALL_{name} cannot be used: ")
    assert name != "SIGNING_KEYS" or text not in message


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {}, ".local/share/towerhall"),
        ("linux", {"XDG_DATA_HOME": "relative"}, ".local/share/towerhall"),
        ("linux", {"XDG_DATA_HOME": "HOME/xdg"}, "xdg/towerhall"),
        ("darwin", {}, "Library/Application Support/Towerhall"),
    ],
)
def test_data_is_kept_where_the_platform_keeps_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    platform: str,
    environ: dict[str, str],
    folder: str,
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    places = {name: text.replace("HOME", str(tmp_path)) for name, text in environ.items()}
    settings = read_settings({**SHARED, **places, "HOME": str(tmp_path)}, {})
    assert settings.data_folder == tmp_path / folder


def test_neither_keys_nor_passwords_are_shown(home: dict[str, str]) -> None:
    url = "redis://bertha:hid%40den@store.example:6379/0?password=veiled"
    shared = read_settings({**SHARED, "TOWERHALL_REDIS_URL": url}, {})
    embedded = read_settings(home, {})
    for settings in (shared, embedded):
        for text in (
            repr(settings),
            str(settings),
            f"{settings}",
            f"{[settings]}",
            f"{settings!a}",
        ):
            assert "token_keys='(1, not shown)'" in text
            assert settings.token_keys[0].decode() not in text
            assert not any(secret in text for secret in ("bertha", "hid", "veiled"))
    assert "store.example:6379/0" in repr(shared)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", ""),
        ("redis://store.example:6379/0", "redis://store.example:6379/0"),
        ("unix:///run/engine.sock?db=1", "unix:///run/engine.sock"),
        ("rediss://ada:hidden@store.example", "rediss://store.example"),
        ("redis://:hid@example/hid:den@store.example", "redis://store.example"),
        ("redis://store.example?password=hidden", "redis://store.example"),
        ("redis://:hid?den@store.example", "(a url that is not shown)"),
        ("redis://store.example?password=hid@example", "(a url that is not shown)"),
        ("hidden", "(a url that is not shown)"),
    ],
)
def test_a_url_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    assert safe_url(url) == shown


def test_a_wrong_url_is_refused_without_its_password() -> None:
    message = refusal({"TOWERHALL_REDIS_URL": "redis://ada:hidden@store.example:port"})
    assert "store.example" in message
    assert "hidden" not in message
