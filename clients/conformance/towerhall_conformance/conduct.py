"""Rules for a client in every case: the form of its messages, and its numbers.

Pure: it is told what the client sent, and raises `BrokenError`.
"""

import re
from typing import Any, Final

from towerhall_conformance.case import BrokenError, expect

ORIGIN: Final = re.compile(r"[A-Za-z0-9_-]{11}")
MOST_UNANSWERED: Final = 8
MOST_FRAGMENTS: Final = 16
FORMS: Final[dict[str, tuple[tuple[type, ...], ...]]] = {
    "hello": ((dict,),),
    "command": ((int,), (str,), (dict,), (bool, type(None))),
    "history": ((int,), (int,)),
    "chat": ((str,),),
    "emote": ((str,),),
    "ping": ((int,),),
    "sign": (),
}
"""The types of the fields of each message; one with `None` may be left out."""

Message = list[Any]


class Command:
    """A command of the client, as it was sent."""

    def __init__(self, message: Message) -> None:
        _, self.n, self.tag, self.body, *rest = message
        self.dry = bool(rest and rest[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Command) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.n)

    @property
    def name(self) -> str:
        return str(self.body.get("command", ""))


class Conduct:
    """One client instance over all of its connections."""

    def __init__(self) -> None:
        self.origin = self.token = ""
        self.commands: dict[int, Command] = {}
        self.unanswered: set[int] = set()
        self.sent_here: set[int] = set()
        """Numbers that came since the last welcome or reset."""
        self.must_wait_above: int | None = None
        """The number that was turned away as too many (P-44)."""

    def greets(self, greeting: dict[str, Any]) -> None:
        """It sent hello."""
        token, level, origin = (greeting.get(key) for key in ("token", "level", "origin"))
        expect(isinstance(token, str) and token, "P-16", "hello has no token")
        expect(type(level) is int and level >= 1, "P-130", f"hello has the level {level!r}")
        expect(
            isinstance(origin, str) and ORIGIN.fullmatch(origin),
            "P-13",
            f"the origin is {origin!r}, not 8 bytes as base64url",
        )
        expect(self.origin in ("", origin), "P-13", "the origin changed over a reconnect")
        expect(self.token in ("", token), "P-16", "the token changed over a reconnect")
        self.origin, self.token = str(origin), str(token)

    def is_synced(self) -> None:
        """It is about to get a welcome or a reset: everything unanswered may come once more."""
        self.sent_here.clear()
        self.must_wait_above = None

    def commands_(self, command: Command) -> None:
        """It sent a command."""
        n = command.n
        expect(n >= 1, "P-42", f"a command has the number {n}")
        known = self.commands.get(n)
        if known is None:
            newest = max(self.commands, default=0)
            expect(n > newest, "P-42", f"number {n} came after {newest}")
            expect(
                self.must_wait_above is None,
                "P-44",
                f"number {n} came before {self.must_wait_above} was sent again",
            )
        else:
            expect(known == command, "P-42", f"number {n} was used for two commands")
            expect(n in self.unanswered, "P-26", f"command {n} was sent again after its answer")
            expect(
                n not in self.sent_here,
                "P-26",
                f"command {n} was sent again without a welcome or reset",
            )
        self.commands[n] = command
        self.unanswered.add(n)
        self.sent_here.add(n)
        expect(len(self.unanswered) <= MOST_UNANSWERED, "P-44", "a ninth command is unanswered")

    def is_answered(self, n: int) -> None:
        self.unanswered.discard(n)


def check_form(message: object) -> Message:
    """The message, if it has the form of one that clients send."""
    if not isinstance(message, list) or not message or not isinstance(message[0], str):
        raise BrokenError("P-5", f"this is no message: {message!r:.80}")
    name, *fields = message
    expect(name in FORMS, "P-5", f"clients send no message {name!r:.40}")
    for at, allowed in enumerate(FORMS[name]):
        if at >= len(fields):
            expect(type(None) in allowed, "P-5", f"{name} has too few fields")
        else:
            # `bool` is an `int` in Python and not on the wire.
            expect(type(fields[at]) in allowed, "P-5", f"field {at + 1} of {name} has another type")
    if name == "command":
        body = fields[2]
        expect(isinstance(body.get("command"), str), "P-41", "a command has no name")
    return message
