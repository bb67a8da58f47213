"""The texts of settings, read: each function takes what an operator wrote and says what it means.

What cannot be meant is a `ValueError` (or `UnusableKey`) that says what would be right, and never
repeats a secret. Which settings there are stands in `settings`.
"""

import ipaddress
import re
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from towerhall_server.gateway.limits import Rate
from towerhall_server.gateway.origins import Origins
from towerhall_server.gateway.token_keys import check_keys

UNIT_SECONDS: Final = {"s": 1, "min": 60, "h": 3600}
RATE: Final = re.compile(r"([1-9][0-9]{0,8})/(s|min|h)(?: burst ([1-9][0-9]{0,8}))?")
URL_WITHOUT_DOUBT: Final = re.compile(r"([a-z]+)://(?:[^?#]*@)?([^@?#]*)(?:[?#][^@]*)?", re.DOTALL)


def safe_url(url: str) -> str:
    """The url of a store without what might be secret: user, password and query."""
    if not url:
        return ""
    # A password with a question mark, or a query with an @: nobody can tell where which begins.
    found = URL_WITHOUT_DOUBT.fullmatch(url)
    return f"{found[1]}://{found[2]}" if found else "(a url that is not shown)"


def whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,12}", text) or not least <= int(text) <= most:
            raise ValueError(f"{text!r} is no whole number from {least} to {most}")
        return int(text)

    return read


def seconds(least: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            seconds = float(text)
        except ValueError:
            seconds = -1
        if not isfinite(seconds) or seconds < least:
            raise ValueError(f"{text!r} is no number of seconds, {least:g} or more")
        return seconds

    return read


def one_of(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"{text!r} is none of {', '.join(choices)}")
        return text

    return read


def rate(text: str) -> Rate:
    found = RATE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no rate; write 30/min, or 10/s burst 20 (units: s, min, h)")
    return Rate(int(found[1]) / UNIT_SECONDS[found[2]], int(found[3] or found[1]))


def folder(text: str) -> Path:
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise ValueError(f"{error} in {text!r}; write the whole path") from None


def store_url(text: str) -> str:
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


def listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[\s,]+", text) if part)


def keys(text: str) -> tuple[bytes, ...]:
    return check_keys(tuple(key.encode(errors="surrogateescape") for key in listed(text)))


def origins(text: str) -> tuple[str, ...]:
    origins = listed(text)
    Origins(origins)  # complains about what is none
    return origins


def networks(text: str) -> tuple[str, ...]:
    networks = listed(text)
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
