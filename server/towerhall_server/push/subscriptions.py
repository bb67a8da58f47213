"""A push subscription from untrusted input. Pure: hosts are judged again with each push."""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from towerhall_protocol.commands import from_base64url
from towerhall_server.push.encryption import AUTH_BYTES, POINT_BYTES, public_key

MOST_ENDPOINT: Final = 1024
HTTPS_PORT: Final = 443


def problem_of(endpoint: str, p256dh: str, auth: str, *, any_port: bool) -> str:
    """Return why a subscription cannot be used; empty if it can. `any_port` is for push services
    in a network of the operator."""
    return _problem_of_endpoint(endpoint, any_port=any_port) or _problem_of_keys(p256dh, auth)


def _problem_of_endpoint(endpoint: str, *, any_port: bool) -> str:
    if len(endpoint) > MOST_ENDPOINT:
        return f"endpoint has at most {MOST_ENDPOINT} characters"
    if not all("!" <= each <= "~" for each in endpoint) or "#" in endpoint or "\\" in endpoint:
        return "endpoint has a character that no endpoint has"
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "endpoint is no address"
    if parts.scheme != "https" or not host:
        return "endpoint begins with https://"
    if parts.username is not None or parts.password is not None:
        return "endpoint names no user"
    if _is_number(host):
        return "endpoint names its host, and gives no IP address"
    if port not in (None, HTTPS_PORT) and not any_port:
        return f"endpoint has port {HTTPS_PORT}"
    return ""


def _is_number(host: str) -> bool:
    """Whether a host is an IP address, in any form that some resolver takes for one: a name of a
    host does not end with a number."""
    last = host.rstrip(".").rpartition(".")[2].lower()
    if last.isdigit() or last.startswith("0x"):
        return True
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _problem_of_keys(p256dh: str, auth: str) -> str:
    try:
        point, secret = from_base64url(p256dh), from_base64url(auth)
    except ValueError:
        return "p256dh and auth are base64url without padding"
    if len(secret) != AUTH_BYTES:
        return f"auth has {AUTH_BYTES} bytes"
    if len(point) != POINT_BYTES:
        return f"p256dh has {POINT_BYTES} bytes"
    try:
        public_key(point)
    except ValueError:
        return "p256dh is no point of the curve"
    return ""
