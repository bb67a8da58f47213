"""Parsers of operators, their webhooks and embedding pages in settings.

No message here contains a key, a secret or the address of a webhook.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from towerhall_server.access.origins import EVERY_PAGE, OPAQUE, Origins
from towerhall_server.access.token_keys import check_keys
from towerhall_server.operators.operator import Webhook
from towerhall_server.outbound.posting import LOOPBACK_NAMES

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
URL: Final = re.compile(r"https?://[!-~]+", re.ASCII)


def read_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Split `name:value name:value`, separated by commas or white space."""
    pairs = []
    for number, entry in enumerate(filter(None, re.split(r"[\s,]+", text)), start=1):
        name, colon, value = entry.partition(":")
        if not colon or not value or not NAME.fullmatch(name):
            raise ValueError(
                f"entry {number} is not of the form name:value, where the name of the operator has"
                " 1 to 32 characters out of a-z, 0-9, _ and -"
            )
        pairs.append((name, value))
    return tuple(pairs)


def read_secret_pairs(text: str) -> tuple[tuple[str, bytes], ...]:
    """Parse keys or secrets of operators and check their strength; a name may have several."""
    pairs = read_pairs(text)
    keys = tuple(value.encode(errors="surrogateescape") for _, value in pairs)
    check_keys(keys)
    if len(set(keys)) < len(keys):
        raise ValueError("one of them is listed twice")
    return tuple((name, key) for (name, _), key in zip(pairs, keys, strict=True))


def read_webhooks(text: str) -> tuple[tuple[str, str], ...]:
    """Parse the webhooks of operators: one address each."""
    pairs = read_pairs(text)
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError("an operator has two addresses; one is enough")
    for name, url in pairs:
        try:
            parts = urlsplit(url)
            # Reading the port validates it.
            usable = bool(URL.fullmatch(url) and (parts.port, parts.hostname)[1])
        except ValueError:
            usable = False
        if not usable or parts.username or parts.password or parts.fragment:
            raise ValueError(
                f"the address of {name} is not like https://lobby.example/hook, with nothing"
                " before the host and nothing after a #"
            )
    return pairs


def read_embedders(text: str) -> tuple[str, ...]:
    """Parse origins of pages that may embed this service."""
    listed = tuple(part for part in re.split(r"[\s,]+", text) if part)
    Origins(listed)  # raises for an invalid origin
    if OPAQUE in listed or any(";" in part for part in listed):
        raise ValueError("null stands for many pages; list origins")
    return listed


def frame_ancestors(embedders: Sequence[str]) -> str:
    """Return the allowed ancestors of the page for its policy: always its own site."""
    return EVERY_PAGE if EVERY_PAGE in embedders else " ".join(("'self'", *embedders))


def hooks_of(
    keys: Sequence[tuple[str, bytes]],
    webhooks: Sequence[tuple[str, str]],
    secrets: Sequence[tuple[str, bytes]],
    networks: Sequence[str],
) -> Mapping[str, Webhook]:
    """Join names, keys and webhooks. Raises `ValueError` if a part is missing."""
    names, hooked = {name for name, _ in keys}, {name for name, _ in webhooks}
    for name in sorted(hooked | {name for name, _ in secrets}):
        if name not in names:
            raise ValueError(f"{name} has no operator key")
        if name not in hooked:
            raise ValueError(f"{name} has a webhook secret, but no webhook")
    found = {}
    for name, url in webhooks:
        parts = urlsplit(url)
        if parts.scheme == "http" and parts.hostname not in LOOPBACK_NAMES and not networks:
            raise ValueError(
                f"the webhook of {name} is neither https nor on this machine: http is only for"
                " networks that are listed in webhook_networks"
            )
        own = tuple(secret for owner, secret in secrets if owner == name)
        if not own:
            raise ValueError(f"the webhook of {name} has no secret to sign with")
        found[name] = Webhook(url, own)
    return found
