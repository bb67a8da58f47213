"""What an operator can choose, read from variables `TOWERHALL_*` and from flags; flags win.

Every mistake is told with the name of what is wrong and what would be right, before anything
starts. Secrets are never shown: neither by an error nor by `repr(settings)`. Nothing is started
here, and no other module reads the environment.
"""

import ipaddress
import re
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from towerhall_server.gateway.limits import Limits, Rate
from towerhall_server.gateway.origins import Origins
from towerhall_server.gateway.token_keys import NEW_KEY, UnusableKey, check_keys, kept_keys
from towerhall_server.operators import options
from towerhall_server.operators.keys import Webhook

PREFIX: Final = "TOWERHALL_"
LIMIT: Final = "limit_"
MOST: Final = 10**9
UNIT_SECONDS: Final = {"s": 1, "min": 60, "h": 3600}
RATE: Final = re.compile(r"([1-9][0-9]{0,8})/(s|min|h)(?: burst ([1-9][0-9]{0,8}))?")
URL_WITHOUT_DOUBT: Final = re.compile(r"([a-z]+)://(?:[^?#]*@)?([^@?#]*)(?:[?#][^@]*)?", re.DOTALL)


class SettingsError(Exception):
    """The message names the setting, says what is wrong with it and what would be right."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that an operator can choose. Made by `read_settings`."""

    data_folder: Path
    """Of the embedded store and its key; not used with `redis_url`."""
    token_keys: tuple[bytes, ...]
    """The first signs, all are taken. Secret."""
    redis_url: str = ""
    """Empty: the embedded store. May hold a password; `safe_url` is for people."""
    host: str = "127.0.0.1"
    port: int = 8000
    """0: any free one."""
    workers: int = 1
    """So many processes serve at that port."""
    origins: tuple[str, ...] = ()
    """Pages of other places that may connect; see `gateway.origins`."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks whose forwarded headers are believed; nobody else's are."""
    token_days: int = 90
    keep_days: int = 30
    drain_seconds: float = 10.0
    log_format: str = "text"
    log_level: str = "info"
    operator_keys: tuple[tuple[str, bytes], ...] = ()
    """Names of operators of other lobbies, and their keys; several of one name. Secret."""
    join_minutes: int = 24 * 60
    """So long a token holds that an operator gets for somebody."""
    webhooks: tuple[tuple[str, str], ...] = ()
    """Names of operators, and where they are told of their rooms. Not shown."""
    webhook_secrets: tuple[tuple[str, bytes], ...] = ()
    """What signs that; several of one name. Secret."""
    webhook_networks: tuple[str, ...] = ()
    """Private networks in which webhooks may be."""
    embedders: tuple[str, ...] = ()
    """Origins of pages that may show the page inside themselves."""
    limits: Limits = Limits()

    @property
    def hooks(self) -> Mapping[str, Webhook]:
        """Where each operator is told of their rooms, if they want to be."""
        secrets, networks = self.webhook_secrets, self.webhook_networks
        return options.hooks_of(self.operator_keys, self.webhooks, secrets, networks)

    @property
    def is_embedded(self) -> bool:
        """Whether the server brings its own store."""
        return not self.redis_url

    def __repr__(self) -> str:
        shown = msgspec.structs.asdict(self)
        for secret in ("token_keys", "operator_keys", "webhooks", "webhook_secrets"):
            shown[secret] = f"({len(shown[secret])}, not shown)"
        shown["redis_url"] = safe_url(self.redis_url)
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


def safe_url(url: str) -> str:
    """The url of a store without what might be secret: user, password and query."""
    if not url:
        return ""
    # A password with a question mark, or a query with an @: nobody can tell where which begins.
    found = URL_WITHOUT_DOUBT.fullmatch(url)
    return f"{found[1]}://{found[2]}" if found else "(a url that is not shown)"


def read_settings(
    environ: Mapping[str, str], overrides: Mapping[str, str | int | float | Path | None]
) -> Settings:
    """Settings from the environment and from flags (`redis_url` for --redis-url; None: not given).

    An empty variable counts as not set, an empty flag chooses the default. On the embedded store
    without a key this makes the data folder and a key in it.
    """
    _refuse_unknown(environ, overrides)
    chosen: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    for name, read in READERS.items():
        flag, variable = overrides.get(name), PREFIX + name.upper()
        text = str(environ.get(variable, "") if flag is None else flag).strip()
        if not text:
            continue
        try:
            value = read(text)
        except (ValueError, UnusableKey) as error:
            source = variable if flag is None else f"--{name.replace('_', '-')}"
            raise SettingsError(f"{source} cannot be used: {error}") from None
        if name.startswith(LIMIT):
            limits[name.removeprefix(LIMIT)] = value
        else:
            chosen[name] = value
    if "data_folder" not in chosen:
        chosen["data_folder"] = _default_data_folder(environ)
    if "token_keys" not in chosen:
        chosen["token_keys"] = _default_keys(chosen)
    settings = Settings(**chosen, limits=Limits(**limits))
    try:
        settings.hooks  # noqa: B018 - complains about what does not belong together
    except ValueError as error:
        raise SettingsError(f"{PREFIX}WEBHOOKS cannot be used: {error}") from None
    return settings


def _refuse_unknown(environ: Mapping[str, str], overrides: Mapping[str, object]) -> None:
    """A misspelt variable would silently mean its default: another store, or other limits.

    Only near misses are refused: orchestrators add variables of their own under a service's name.
    """
    for name in overrides:
        if name not in READERS:
            raise SettingsError(f"there is no setting {name}: there are {', '.join(READERS)}")
    known = [PREFIX + name.upper() for name in READERS]
    for variable in environ:
        if variable.startswith(PREFIX) and variable not in known:
            for meant in get_close_matches(variable, known, n=1, cutoff=0.9):
                raise SettingsError(
                    f"there is no variable {variable}: did you mean {meant}? Rename or unset it"
                )


def _default_data_folder(environ: Mapping[str, str]) -> Path:
    try:
        home = Path(environ.get("HOME") or Path.home())
    except RuntimeError:
        raise SettingsError(
            f"there is no home folder to keep data in: set {PREFIX}DATA_FOLDER"
        ) from None
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Towerhall"
    data_home = Path(environ.get("XDG_DATA_HOME", ""))
    # The standard wants a relative one to be ignored.
    return (data_home if data_home.is_absolute() else home / ".local" / "share") / "towerhall"


def _default_keys(chosen: Mapping[str, Any]) -> tuple[bytes, ...]:
    if chosen.get("redis_url"):
        raise SettingsError(
            f"{PREFIX}TOKEN_KEYS is missing: all servers of one store sign with the same key, which"
            f" has at least 32 bytes; {NEW_KEY}"
        )
    try:
        return kept_keys(chosen["data_folder"])
    except UnusableKey as problem:
        raise SettingsError(f"{problem} (the folder is set by {PREFIX}DATA_FOLDER)") from None


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,12}", text) or not least <= int(text) <= most:
            raise ValueError(f"{text!r} is no whole number from {least} to {most}")
        return int(text)

    return read


def _seconds(least: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            seconds = float(text)
        except ValueError:
            seconds = -1
        if not isfinite(seconds) or seconds < least:
            raise ValueError(f"{text!r} is no number of seconds, {least:g} or more")
        return seconds

    return read


def _one_of(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"{text!r} is none of {', '.join(choices)}")
        return text

    return read


def _read_rate(text: str) -> Rate:
    found = RATE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no rate; write 30/min, or 10/s burst 20 (units: s, min, h)")
    return Rate(int(found[1]) / UNIT_SECONDS[found[2]], int(found[3] or found[1]))


def _read_folder(text: str) -> Path:
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise ValueError(f"{error} in {text!r}; write the whole path") from None


def _read_store_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        # Reading the port checks it.
        place = parts.path if parts.scheme == "unix" else (parts.port, parts.hostname)[1]
    except ValueError:
        place = None
    if not place or parts.scheme not in ("redis", "rediss", "unix"):
        raise ValueError(
            f"{safe_url(text)} does not name a store; write it like redis://localhost:6379/0,"
            " rediss://... for TLS, or unix:///run/redis.sock"
        )
    return text


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[\s,]+", text) if part)


def _read_keys(text: str) -> tuple[bytes, ...]:
    return check_keys(tuple(key.encode(errors="surrogateescape") for key in _listed(text)))


def _read_origins(text: str) -> tuple[str, ...]:
    origins = _listed(text)
    Origins(origins)  # complains about what is none
    return origins


def _read_networks(text: str) -> tuple[str, ...]:
    networks = _listed(text)
    for entry in networks:
        try:
            everybody = ipaddress.ip_network(entry).prefixlen == 0
        except ValueError:
            raise ValueError(
                f"{entry!r} is neither an address nor a network; list those that you mean"
            ) from None
        if everybody:
            raise ValueError(f"{entry} would believe everybody; list those that you mean")
    return networks


OF_LIMITS: Final[Mapping[type, Callable[[str], object]]] = {
    Rate: _read_rate,
    int: _whole(1, MOST),
    float: _seconds(0.1),
}
READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "data_folder": _read_folder,
    "token_keys": _read_keys,
    "redis_url": _read_store_url,
    "host": str,
    "port": _whole(0, 65_535),
    "origins": _read_origins,
    "trusted_proxies": _read_networks,
    "token_days": _whole(1, 36_500),
    "keep_days": _whole(0, 36_500),
    "workers": _whole(1, 64),
    "drain_seconds": _seconds(0),
    "operator_keys": options.read_secret_pairs,
    "join_minutes": _whole(1, 525_600),
    "webhooks": options.read_webhooks,
    "webhook_secrets": options.read_secret_pairs,
    "webhook_networks": _read_networks,
    "embedders": options.read_embedders,
    "log_format": _one_of("text", "json"),
    "log_level": _one_of("debug", "info", "warning", "error"),
    **{LIMIT + field.name: OF_LIMITS[field.type] for field in msgspec.structs.fields(Limits)},
}
"""What is set by `--name` and `TOWERHALL_NAME`, and how its text is read."""
