"""Commands as the bytes that the engine reads. Neither sockets nor answers are known here."""

from hashlib import sha1
from typing import TypeAlias

import msgspec
from hiredis import pack_command

Argument: TypeAlias = str | bytes | int


class Script(msgspec.Struct, frozen=True):
    """A script, as the part of a command that names it by its digest or contains its text."""

    by_digest: bytes
    by_text: bytes

    def in_full(self, command: bytes) -> bytes:
        """Return the same call for an engine that does not know the script yet."""
        return command.replace(self.by_digest, self.by_text, 1)


def script(text: str) -> Script:
    digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
    return Script(arguments("EVALSHA", digest), arguments("EVAL", text))


def packed(*command: Argument) -> bytes:
    # The stub means one argument; the function takes any number.
    whole: bytes = pack_command(command)  # type: ignore[arg-type]
    return whole


def arguments(*items: Argument) -> bytes:
    """Pack arguments like a command, but without its head: for `command_of`."""
    return packed(*items).partition(b"\r\n")[2]


def command_of(count: int, *parts: bytes) -> bytes:
    """Make a command of that many arguments, from packed parts."""
    return b"*%d\r\n%b" % (count, b"".join(parts))
