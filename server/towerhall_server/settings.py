"""What an operator can choose, read from variables `TOWERHALL_*` and from flags; flags win.

Every mistake is told with the name of what is wrong and what would be right, before anything
starts. Secrets are never shown: neither by an error nor by `repr(settings)`. Nothing is started
here, and no other module reads the environment.
"""

import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import msgspec

from towerhall_server import setting_texts as read
from towerhall_server.gateway.limits import Limits, Rate
from towerhall_server.gateway.token_keys import NEW_KEY, UnusableKey, kept_keys
from towerhall_server.logs import FORMS
from towerhall_server.operators import options
from towerhall_server.operators.keys import Webhook
from towerhall_server.setting_texts import safe_url
from towerhall_server.telemetry import private

PREFIX: Final = "TOWERHALL_"
LIMIT: Final = "limit_"
MOST: Final = 10**9


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
    metrics_port: int = 0
    """0: there are none. Each further worker has the next port."""
    metrics_host: str = "127.0.0.1"
    metrics_token: str = ""
    """Whoever asks for metrics has to have it. Secret."""
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
        shown["metrics_token"] = "(not shown)" if self.metrics_token else ""
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


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
    for name in READERS:
        value = _read(name, environ, overrides)
        if value is None:
            continue
        if name.startswith(LIMIT):
            limits[name.removeprefix(LIMIT)] = value
        else:
            chosen[name] = value
    if "data_folder" not in chosen:
        chosen["data_folder"] = _default_data_folder(environ)
    if "token_keys" not in chosen:
        chosen["token_keys"] = _default_keys(chosen)
    settings = Settings(**chosen, limits=Limits(**limits))
    _check_metrics(settings)
    try:
        settings.hooks  # noqa: B018 - complains about what does not belong together
    except ValueError as error:
        raise SettingsError(f"{PREFIX}WEBHOOKS cannot be used: {error}") from None
    return settings


def read_place(environ: Mapping[str, str], overrides: Mapping[str, Any]) -> tuple[str, Path]:
    """Where the store of a server with these settings is: its url, or else its data folder. For
    those who only look into it: nothing is made, and no key is needed."""
    url, folder = (_read(name, environ, overrides) for name in ("redis_url", "data_folder"))
    return url or "", folder or _default_data_folder(environ)


def _read(name: str, environ: Mapping[str, str], overrides: Mapping[str, Any]) -> Any:
    """What was chosen, or None if nothing was."""
    flag, variable = overrides.get(name), PREFIX + name.upper()
    text = str(environ.get(variable, "") if flag is None else flag).strip()
    try:
        return READERS[name](text) if text else None
    except (ValueError, UnusableKey) as error:
        source = variable if flag is None else f"--{name.replace('_', '-')}"
        raise SettingsError(f"{source} cannot be used: {error}") from None


def _check_metrics(chosen: Settings) -> None:
    at, token = (chosen.metrics_host, chosen.metrics_port), chosen.metrics_token
    try:
        private.check(*at, token, chosen.workers, chosen.port)
    except private.UnsafeMetricsError as problem:
        raise SettingsError(str(problem)) from None


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


OF_LIMITS: Final[Mapping[type, Callable[[str], object]]] = {
    Rate: read.rate,
    int: read.whole(1, MOST),
    float: read.seconds(0.1),
}
READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "data_folder": read.folder,
    "token_keys": read.keys,
    "redis_url": read.store_url,
    "host": str,
    "port": read.whole(0, 65_535),
    "origins": read.origins,
    "trusted_proxies": read.networks,
    "token_days": read.whole(1, 36_500),
    "keep_days": read.whole(0, 36_500),
    "workers": read.whole(1, 64),
    "drain_seconds": read.seconds(0),
    "operator_keys": options.read_secret_pairs,
    "join_minutes": read.whole(1, 525_600),
    "webhooks": options.read_webhooks,
    "webhook_secrets": options.read_secret_pairs,
    "webhook_networks": read.networks,
    "embedders": options.read_embedders,
    "log_format": read.one_of(*FORMS),
    "log_level": read.one_of("debug", "info", "warning", "error"),
    "metrics_port": read.whole(0, 65_535),
    "metrics_host": str,
    "metrics_token": private.read_token,
    **{LIMIT + field.name: OF_LIMITS[field.type] for field in msgspec.structs.fields(Limits)},
}
"""What is set by `--name` and `TOWERHALL_NAME`, and how its text is read."""
