"""Parsers of settings: each function turns an operator's text into a value.

Invalid text raises `ValueError` (or `UnusableKey`) with a message that names the right form and
never repeats a secret. `settings` lists the settings.
"""

import ipaddress
import re
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, quote, urlsplit

from towerhall_protocol.notes import COSIGNATURE, is_name, read_verifier_key
from towerhall_server.access.hosts import Hosts
from towerhall_server.access.origins import Origins
from towerhall_server.access.rates import Rate
from towerhall_server.access.token_keys import check_keys
from towerhall_server.live.bucket import BucketName
from towerhall_server.signing.keys import seeds_of
from towerhall_server.store.address import AddressError, read_address

UNIT_SECONDS: Final = {"s": 1, "min": 60, "h": 3600}
RATE: Final = re.compile(r"([1-9][0-9]{0,8})/(s|min|h)(?: burst ([1-9][0-9]{0,8}))?")
CONTACT: Final = re.compile(r"mailto:[!-~]+@[!-~]+|https://[!-~]+", re.ASCII)
BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
PREFIX: Final = re.compile(r"[A-Za-z0-9._/-]{0,200}")
URL_WITHOUT_DOUBT: Final = re.compile(r"([a-z+]+)://(?:[^?#]*@)?([^@?#]*)(?:[?#][^@]*)?", re.DOTALL)


def safe_url(url: str) -> str:
    """Return the url of a store without its secrets: user, password and query."""
    if not url:
        return ""
    # A "?" in the password or an "@" in the query makes the parts ambiguous.
    found = URL_WITHOUT_DOUBT.fullmatch(url)
    return f"{found[1]}://{found[2]}" if found else "(a url that is not shown)"


def whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,12}", text) or not least <= int(text) <= most:
            raise ValueError(f"{text!r} is not a whole number from {least} to {most}")
        return int(text)

    return read


def seconds(least: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            seconds = float(text)
        except ValueError:
            seconds = -1
        if not isfinite(seconds) or seconds < least:
            raise ValueError(f"{text!r} is not a number of seconds, {least:g} or more")
        return seconds

    return read


def one_of(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"{text!r} is not one of {', '.join(choices)}")
        return text

    return read


def yes_or_no(text: str) -> bool:
    return one_of("yes", "no")(text) == "yes"


def rate(text: str) -> Rate:
    found = RATE.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{text!r} is not a rate; write 30/min, or 10/s burst 20 (units: s, min, h)"
        )
    return Rate(int(found[1]) / UNIT_SECONDS[found[2]], int(found[3] or found[1]))


def folder(text: str) -> Path:
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise ValueError(f"{error} in {text!r}; write the whole path") from None


def archive(text: str) -> Path | BucketName:
    scheme, found, rest = text.partition("://")
    if not found:
        return folder(text)
    name, _, prefix = rest.partition("/")
    if scheme != "s3" or not BUCKET.fullmatch(name) or not PREFIX.fullmatch(prefix):
        raise ValueError(f"{text!r} is neither a folder nor a bucket such as s3://records/towers")
    return BucketName(name, prefix and prefix.rstrip("/") + "/")


def endpoint(text: str) -> str:
    parts = urlsplit(text)
    is_plain = parts.path in ("", "/") and not (parts.query or parts.fragment or parts.username)
    if parts.scheme not in ("http", "https") or not parts.hostname or not is_plain:
        raise ValueError("it is no address such as https://s3.example.org")
    return f"{parts.scheme}://{parts.netloc}"


def contact(text: str) -> str:
    """An address of a person or a page, as push services want it."""
    if not CONTACT.fullmatch(text):
        raise ValueError(f"{text!r} is no address such as mailto:towers@example.org")
    return text


def store_url(text: str) -> str:
    try:
        read_address(text)
    except AddressError as error:
        raise ValueError(f"{safe_url(text)}: {error}") from None
    return text


def with_password(url: str, password: str) -> str:
    """Return the url of a store with its password, which may come from another setting."""
    parts = urlsplit(url)
    if not url:
        raise ValueError("a password needs a store: set the url of the store as well")
    if parts.password is not None or "password" in parse_qs(parts.query):
        raise ValueError("the url of the store already has a password: leave one of them out")
    user, _, place = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user}:{quote(password, safe='')}@{place}").geturl()


def listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[\s,]+", text) if part)


def keys(text: str) -> tuple[bytes, ...]:
    return check_keys(tuple(key.encode(errors="surrogateescape") for key in listed(text)))


def signing_keys(text: str) -> tuple[bytes, ...]:
    return seeds_of(keys(text))


def log_origin(text: str) -> str:
    if not is_name(text) or not text.isascii() or len(text) > 200:
        raise ValueError(f"{text!r} is not a name of a log; write it like towers.example/v1/log")
    return text


def witnesses(text: str) -> tuple[str, ...]:
    found = listed(text)
    keys = [read_verifier_key(each) for each in found]
    if any(key.kind != COSIGNATURE for key in keys):
        raise ValueError("one of the keys does not cosign; `towerhall log witness` prints keys")
    if len({key.name for key in keys}) < len(keys):
        raise ValueError("two witnesses have one name")
    return found


def origins(text: str) -> tuple[str, ...]:
    origins = listed(text)
    Origins(origins)  # raises for an invalid origin
    return origins


def hosts(text: str) -> tuple[str, ...]:
    hosts = listed(text)
    Hosts(hosts)  # raises for an invalid host
    return hosts


def networks(text: str) -> tuple[str, ...]:
    networks = listed(text)
    for entry in networks:
        try:
            is_all = ipaddress.ip_network(entry).prefixlen == 0
        except ValueError:
            raise ValueError(
                f"{entry!r} is neither an address nor a network; list the networks of your proxies"
            ) from None
        if is_all:
            raise ValueError(f"{entry} covers every address; list the networks of your proxies")
    return networks
