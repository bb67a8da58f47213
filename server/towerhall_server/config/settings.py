"""The operator's settings, read from variables `TOWERHALL_*` and from flags; flags win.

Each error names the setting, the mistake and a correct form, before anything starts. Secrets are
never shown: neither by an error nor by `repr(settings)`. Nothing is started here, and no other
module reads the environment.
"""

import os
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import msgspec

from towerhall_server.access.rates import WITHOUT_RATES, Limits, Rate
from towerhall_server.access.token_keys import NEW_KEY, UnusableKey, kept_keys
from towerhall_server.config import operator_options
from towerhall_server.config import texts as read
from towerhall_server.config.texts import safe_url
from towerhall_server.live.bucket import BucketAccess, BucketName
from towerhall_server.operators.operator import Webhook
from towerhall_server.signing.keys import KEY_FILE, seeds_of
from towerhall_server.telemetry import private
from towerhall_server.telemetry.logs import FORMS

PREFIX: Final = "TOWERHALL_"
FILE: Final = "_FILE"
"""Suffix of a variable that names a file with the secret."""
LIMIT: Final = "limit_"
MOST: Final = 10**9
COUNTED: Final = ("token_keys", "signing_keys", "operator_keys", "webhooks", "webhook_secrets")
"""Secrets of which only the count is shown."""


class SettingsError(Exception):
    """The message names the setting, its mistake, and a correct form."""


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings. Made by `read_settings`."""

    data_folder: Path
    """Folder of the embedded store and its key; not used with `redis_url`."""
    token_keys: tuple[bytes, ...]
    """Keys of tokens. The first one signs, all are accepted. Secret."""
    signing_keys: tuple[bytes, ...] = ()
    """Private keys for statements about rooms and the public log. The first one signs, the others
    are published. Secret. Empty: nothing is signed, and there is no public log."""
    log_origin: str = ""
    """The name of the public log, kept in the store. Empty: made from a host, or at random."""
    witnesses: tuple[str, ...] = ()
    """Verifier keys of witnesses that may cosign the public log."""
    redis_url: str = ""
    """Empty: the embedded store. May contain a password; `safe_url` is for people."""
    require_durable: bool = False
    """Whether to start only on a store that acknowledges moves after they are on its disk."""
    host: str = "127.0.0.1"
    port: int = 8000
    """0: any free port."""
    workers: int = 1
    """Processes that serve at that port."""
    search_processes: int = 0
    """Processes that decide slow commands, of all workers together. 0: one less than the cores, and
    at least one."""
    origins: tuple[str, ...] = ()
    """Foreign pages that may connect; see `access.origins`."""
    hosts: tuple[str, ...] = ()
    """Host names of this service; requests for others are refused. Empty: any."""
    hsts_days: int = 365
    """Days for which browsers must use TLS (HSTS). 0: no such header."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks of proxies whose forwarded headers are trusted."""
    token_days: int = 90
    keep_days: int = 30
    archive: Path | BucketName | None = None
    """The folder or bucket in which records stay for good. None: the store alone keeps them."""
    archive_endpoint: str = ""
    """Address of the object store that has the bucket."""
    archive_key: str = ""
    """Id of the access key for the bucket."""
    archive_secret: str = ""
    """Secret of that key. Secret."""
    archive_region: str = "us-east-1"
    drain_seconds: float = 10.0
    log_format: str = "text"
    log_level: str = "info"
    metrics_port: int = 0
    """Port of the metrics. 0: none. Each further worker has the next port."""
    metrics_host: str = "127.0.0.1"
    metrics_token: str = ""
    """Token that readers of the metrics must send. Secret."""
    operator_keys: tuple[tuple[str, bytes], ...] = ()
    """Names of operators of other lobbies, and their keys; several per name. Secret."""
    join_minutes: int = 24 * 60
    """Life in seconds of a token that an operator gets for a person."""
    webhooks: tuple[tuple[str, str], ...] = ()
    """Names of operators, and their webhooks. Not shown."""
    webhook_secrets: tuple[tuple[str, bytes], ...] = ()
    """Secrets that sign webhooks; several per name. Secret."""
    webhook_networks: tuple[str, ...] = ()
    """Private networks that webhooks may use."""
    push: bool = True
    """Whether people who are away are told by web push, if they want that."""
    push_contact: str = ""
    """Address by which push services reach the operator, `mailto:` or `https:`. Empty: the first
    host, if there is one."""
    push_networks: tuple[str, ...] = ()
    """Private networks that push services may be in."""
    embedders: tuple[str, ...] = ()
    """Origins of pages that may embed the page."""
    sandbox: bool = False
    """Whether authors of clients may create sandbox rooms. Rates are off then."""
    newcomers_chat: bool = True
    """Whether people may chat who have not chosen. If not, each person first turns chat on."""
    limits: Limits = Limits()

    @property
    def hooks(self) -> Mapping[str, Webhook]:
        """Return the webhooks of operators."""
        secrets, networks = self.webhook_secrets, self.webhook_networks
        return operator_options.hooks_of(self.operator_keys, self.webhooks, secrets, networks)

    @property
    def push_sender(self) -> str:
        """Return the contact that push services are told."""
        return self.push_contact or (f"https://{self.hosts[0]}" if self.hosts else "")

    @property
    def bucket_access(self) -> BucketAccess:
        """Return where the archive's bucket is, and who asks."""
        given = self.archive_endpoint, self.archive_key, self.archive_secret
        return BucketAccess(*given, self.archive_region)

    @property
    def most_searches(self) -> int:
        """Return the number of search processes of one worker: its share, and at least one."""
        wanted = self.search_processes or (os.cpu_count() or 1) - 1
        return max(1, wanted // self.workers)

    @property
    def is_embedded(self) -> bool:
        """Whether the server runs the embedded store."""
        return not self.redis_url

    def shown(self) -> dict[str, Any]:
        """Return all settings by name, without secrets."""
        shown = msgspec.structs.asdict(self)
        for secret in COUNTED:
            shown[secret] = f"({len(shown[secret])}, not shown)"
        shown["redis_url"] = safe_url(self.redis_url)
        shown["archive"] = str(self.archive) if self.archive else ""
        shown["archive_secret"] = "(not shown)" if self.archive_secret else ""
        shown["metrics_token"] = "(not shown)" if self.metrics_token else ""
        return shown

    def __repr__(self) -> str:
        values = (f"{name}={value!r}" for name, value in self.shown().items())
        return f"ServerSettings({', '.join(values)})"


def read_settings(
    environ: Mapping[str, str], overrides: Mapping[str, str | int | float | Path | None]
) -> ServerSettings:
    """Read settings from the environment and from flags (`redis_url` for --redis-url; None: not
    given).

    An empty variable counts as not set, an empty flag chooses the default. On the embedded store
    without a key this creates the data folder and a key in it.
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
    if chosen.get("sandbox"):
        _check_sandbox(chosen)
        limits = WITHOUT_RATES | limits
    if "data_folder" not in chosen:
        folder = _default_data_folder(environ)
        # Never with real games: a later server without this setting would serve these rooms.
        other = folder.with_name(f"{folder.name}-sandbox")
        chosen["data_folder"] = other if chosen.get("sandbox") else folder
    if "token_keys" not in chosen:
        chosen["token_keys"] = _default_keys(chosen)
    if "signing_keys" not in chosen and not chosen.get("redis_url"):
        chosen["signing_keys"] = _own_signing_keys(chosen["data_folder"])
    chosen["redis_url"] = _with_password(
        chosen.get("redis_url", ""), chosen.pop("redis_password", "")
    )
    settings = ServerSettings(**chosen, limits=Limits(**limits))
    _check_metrics(settings)
    _check_archive(settings)
    try:
        settings.hooks  # noqa: B018 - complains about what does not belong together
    except ValueError as error:
        raise SettingsError(f"{PREFIX}WEBHOOKS cannot be used: {error}") from None
    return settings


def read_place(environ: Mapping[str, str], overrides: Mapping[str, Any]) -> tuple[str, Path]:
    """Return the store of a server with these settings: its url, or else its data folder. For
    commands that only read it: nothing is created, and no key is needed."""
    wanted = ("redis_url", "redis_password", "data_folder")
    url, password, folder = (_read(name, environ, overrides) for name in wanted)
    return _with_password(url or "", password or ""), folder or _default_data_folder(environ)


def read_operator_keys(environ: Mapping[str, str]) -> tuple[tuple[str, bytes], ...]:
    """Return the keys of operators in these variables."""
    found: tuple[tuple[str, bytes], ...] | None = _read("operator_keys", environ, {})
    return found or ()


def _read(name: str, environ: Mapping[str, str], overrides: Mapping[str, Any]) -> Any:
    """Return the chosen value, or None."""
    flag = overrides.get(name)
    if flag is not None:
        source, text = f"--{name.replace('_', '-')}", str(flag).strip()
    else:
        source, text = _variable(name, environ)
    try:
        return READERS[name](text) if text else None
    except (ValueError, UnusableKey) as error:
        raise SettingsError(f"{source} cannot be used: {error}") from None


def _variable(name: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the variable of a setting and its text, which may be empty."""
    variable = PREFIX + name.upper()
    text, file = environ.get(variable, "").strip(), environ.get(variable + FILE, "").strip()
    if name not in SECRETS or not file:
        return variable, text
    if text:
        raise SettingsError(f"{variable} and {variable}{FILE} are both set: unset one of them")
    try:
        # As the system reads variables: a key may hold any bytes.
        text = Path(file).read_text(errors="surrogateescape").strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(
            f"{variable}{FILE} cannot be used: {file} cannot be read ({why}); it names a file with"
            " the secret that this server's user may read"
        ) from None
    if not text:
        raise SettingsError(f"{variable}{FILE} cannot be used: {file} is empty")
    return variable + FILE, text


def _with_password(url: str, password: str) -> str:
    try:
        return read.with_password(url, password) if password else url
    except ValueError as error:
        raise SettingsError(f"{PREFIX}REDIS_PASSWORD cannot be used: {error}") from None


def _check_sandbox(chosen: Mapping[str, Any]) -> None:
    """Refuse a sandbox with a setting of a real service: its rooms prove nothing, anyone in them
    may make the log lose its end, and its rates are off."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(ServerSettings)}
    for name in PRODUCTION:
        if chosen.get(name, defaults[name]) != defaults[name]:
            raise SettingsError(
                f"{PREFIX}SANDBOX and {PREFIX}{name.upper()} do not go together: a sandbox is for"
                " authors of clients on a machine of their own; unset one of them"
            )


def _check_metrics(chosen: ServerSettings) -> None:
    at, token = (chosen.metrics_host, chosen.metrics_port), chosen.metrics_token
    try:
        private.check(*at, token, chosen.workers, chosen.port)
    except private.UnsafeMetricsError as problem:
        raise SettingsError(str(problem)) from None


def _check_archive(chosen: ServerSettings) -> None:
    is_bucket = isinstance(chosen.archive, BucketName)
    for name in ("archive_endpoint", "archive_key", "archive_secret"):
        variable = PREFIX + name.upper()
        if is_bucket and not getattr(chosen, name):
            raise SettingsError(f"{variable} is missing: a bucket cannot be used without it")
        if not is_bucket and getattr(chosen, name):
            raise SettingsError(f"{variable} is for a bucket: set {PREFIX}ARCHIVE=s3://... as well")


def _refuse_unknown(environ: Mapping[str, str], overrides: Mapping[str, object]) -> None:
    """Refuse misspelt variables: they would silently mean the default, such as another store.

    Only near misses are refused: orchestrators add variables of their own under a service's name.
    """
    for name in overrides:
        if name not in READERS:
            raise SettingsError(f"there is no setting {name}: there are {', '.join(READERS)}")
    known = [PREFIX + name.upper() for name in READERS]
    plain = {variable + FILE for variable in known}
    known += [PREFIX + name.upper() + FILE for name in SECRETS]
    for variable in sorted(plain.difference(known).intersection(environ)):
        raise SettingsError(
            f"{variable} is not read: only secrets come from files, as by {PREFIX}TOKEN_KEYS{FILE}"
        )
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
    # The XDG standard says to ignore a relative one.
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


def _own_signing_keys(folder: Path) -> tuple[bytes, ...]:
    """Return the keys of a server with the embedded store."""
    loss = "statements signed by the old one are checked by its public key alone"
    try:
        return seeds_of(kept_keys(folder, KEY_FILE, loss))
    except (UnusableKey, ValueError) as problem:
        raise SettingsError(
            f"{folder / KEY_FILE} cannot be used: {problem} (the folder is set by"
            f" {PREFIX}DATA_FOLDER)"
        ) from None


OF_LIMITS: Final[Mapping[type, Callable[[str], object]]] = {
    Rate: read.rate,
    int: read.whole(1, MOST),
    float: read.seconds(0.1),
}
READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "data_folder": read.folder,
    "token_keys": read.keys,
    "signing_keys": read.signing_keys,
    "log_origin": read.log_origin,
    "witnesses": read.witnesses,
    "redis_url": read.store_url,
    "redis_password": str,
    "require_durable": read.yes_or_no,
    "host": str,
    "port": read.whole(0, 65_535),
    "origins": read.origins,
    "hosts": read.hosts,
    "hsts_days": read.whole(0, 3650),
    "trusted_proxies": read.networks,
    "token_days": read.whole(1, 36_500),
    "keep_days": read.whole(0, 36_500),
    "archive": read.archive,
    "archive_endpoint": read.endpoint,
    "archive_key": str,
    "archive_secret": str,
    "archive_region": str,
    "workers": read.whole(1, 64),
    "search_processes": read.whole(1, 64),
    "drain_seconds": read.seconds(0),
    "operator_keys": operator_options.read_secret_pairs,
    "join_minutes": read.whole(1, 525_600),
    "webhooks": operator_options.read_webhooks,
    "webhook_secrets": operator_options.read_secret_pairs,
    "webhook_networks": read.networks,
    "push": read.yes_or_no,
    "push_contact": read.contact,
    "push_networks": read.networks,
    "embedders": operator_options.read_embedders,
    "sandbox": read.yes_or_no,
    "newcomers_chat": read.yes_or_no,
    "log_format": read.one_of(*FORMS),
    "log_level": read.one_of("debug", "info", "warning", "error"),
    "metrics_port": read.whole(0, 65_535),
    "metrics_host": str,
    "metrics_token": private.read_token,
    **{LIMIT + field.name: OF_LIMITS[field.type] for field in msgspec.structs.fields(Limits)},
}
"""Names of `--name` and `TOWERHALL_NAME`, and the parsers of their texts."""
PRODUCTION: Final = (
    *("redis_url", "require_durable", "workers", "signing_keys", "log_origin", "witnesses"),
    *("hosts", "trusted_proxies", "archive", "embedders"),
)
"""Settings that make sense for a real service only."""
SECRETS: Final = frozenset(
    {
        *(
            "token_keys",
            "signing_keys",
            "redis_url",
            "redis_password",
            "metrics_token",
            "archive_secret",
        ),
        *("archive_secret", "operator_keys", "webhooks", "webhook_secrets"),
    }
)
"""Each may also come from a file that `TOWERHALL_NAME_FILE` names. Orchestrators hand secrets to
containers this way; variables are visible in too many places."""
