"""The secret keys that sign tokens: which are strong enough, and where a lone server keeps them.

A key is text of at least 32 bytes without white space. No message or log line of this module
contains a key. `tokens` signs; `settings` decides where keys come from.
"""

import logging
import os
import re
import secrets
from pathlib import Path
from typing import Final

KEY_FILE: Final = "token.key"
KEY_BYTES_MIN: Final = 32
DIFFERENT_BYTES_MIN: Final = 8
"""Distinct bytes of a key, at least. Random keys have more, even in hexadecimal."""
EXAMPLE_KEY: Final = re.compile(
    rb"change.?(me|this)|secret|passw|example|default|placeholder|your.?key|towerhall|123456789",
    re.IGNORECASE,
)
NEW_KEY: Final = "make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"

log = logging.getLogger(__name__)


class UnusableKey(Exception):  # noqa: N818 - says what it is about
    """The message says why and how to fix it, without the key."""


def check_keys(keys: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return the same keys. Raises `UnusableKey` if one could be guessed."""
    if not keys:
        raise UnusableKey(f"it contains no key; {NEW_KEY}")
    for number, key in enumerate(keys, start=1):
        if len(key) < KEY_BYTES_MIN:
            raise UnusableKey(f"key {number} is shorter than {KEY_BYTES_MIN} bytes; {NEW_KEY}")
        if len(set(key)) < DIFFERENT_BYTES_MIN or EXAMPLE_KEY.search(key):
            raise UnusableKey(f"key {number} is not random: it looks like an example; {NEW_KEY}")
    return keys


def kept_keys(
    folder: Path, name: str = KEY_FILE, loss: str = "all people get new identities"
) -> tuple[bytes, ...]:
    """Return the keys in a data folder, one per line, the signing one first; created if missing.

    The folder is created as well. Processes may do this concurrently: all get the same keys.
    """
    path = folder / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _make_key(path)
        _make_private(path, loss)
        content = path.read_bytes()
    except OSError as error:
        raise UnusableKey(
            f"the key in {path} cannot be used ({error.strerror}): let this user own the data"
            " folder and its files, or choose another one"
        ) from None
    try:
        return check_keys(tuple(content.split()))
    except UnusableKey as problem:
        raise UnusableKey(
            f"{path} is broken ({problem}): restore it from a copy; or remove it, then the server"
            f" makes a new one and {loss}"
        ) from None


def _make_key(path: Path) -> None:
    """Write a new key atomically, unless another process was faster."""
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(file, "wb") as writer:
            writer.write(secrets.token_urlsafe(32).encode() + b"\n")
            writer.flush()
            os.fsync(writer.fileno())
        # Unlike a rename, a link does not replace an existing file: the first one stays.
        os.link(new, path)
    except FileExistsError:
        pass
    finally:
        new.unlink()
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _make_private(path: Path, loss: str) -> None:
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
        log.warning(
            "%s was open to others and is private now; if others may have read it, remove it:"
            " the server makes a new one, and %s",
            path,
            loss,
        )
