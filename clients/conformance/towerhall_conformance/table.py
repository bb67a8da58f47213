"""The room that the kit shows: a log that grows as a case wants, and the messages that tell it.

It knows no rules. Its game is a number that counts, and offers of every form.
"""

from typing import Any, Final

from towerhall_conformance.conduct import Command, Message
from towerhall_conformance.merge import merged
from towerhall_protocol.commands import base64url
from towerhall_protocol.level import LEVEL

UID: Final = bytes(range(16))
YOU: Final = "cGVyc29uMDE"
PLAIN: Final[Message] = [{"command": "pass"}]
FORMS: Final[tuple[Message, ...]] = (
    PLAIN,
    [{"command": "bid", "ranges": {"number": [3, 5]}}],
    [{"command": "build", "choices": [[{"cards": ["sand:7"]}, {"score": 4}], [{}, {}]]}],
    [
        {
            "command": "place",
            "choices": [[{"shape": "D4.3"}, {}], [{"shape": "D4.1"}, {}]],
            "ranges": {"x": [-1, 1], "y": [0, 0]},
            "unsure": True,
        }
    ],
    [{"command": "bid", "ranges": {"number": [-9007199254740991, -9007199254740990]}}],
)
"""Offers of every form (P-37)."""


class Table:
    """A room with one seat that matters: that of the client under test."""

    def __init__(self, code: str, status: str = "playing") -> None:
        self.base, self.seq = "conformance.1", 1
        self.seat: int | None = None if status == "waiting" else 0
        self.offered: Message = []
        self.tag = ""
        self._log: list[Message] = []
        seats = {} if self.seat is None else {"0": {"name": "Ada", "id": YOU}}
        room = {"code": code, "uid": base64url(UID), "status": status, "size": 2, "seats": seats}
        self.view: dict[str, Any] = {"room": room}
        if status == "playing":
            self.view["game"] = {"count": 0, "gone": 1, "kept": {"a": 1, "b": 2}}

    @property
    def mark(self) -> str:
        return f"{self.base[-1]}{self.seq:010}"

    @property
    def cursor(self) -> Message:
        return [self.base, self.seq, self.mark]

    def welcome(self, *, whole: bool, **more: Any) -> Message:
        arrival = {"you": YOU, "name": "Ada", "level": LEVEL, "now": [1700000000000, 5000]}
        arrival |= {"cursor": self.cursor, **more}
        if whole:
            arrival["view"] = self.view
        if self.seat is not None:
            arrival["seat"] = self.seat
        return ["welcome", arrival]

    def reset(self, lost: int = 0) -> Message:
        return ["reset", self.cursor, self.view, lost]

    def frame(
        self, patch: dict[str, Any] | None = None, cause: Message | None = None, *facts: Message
    ) -> Message:
        """The next commit. Unless told otherwise it changes the game, which makes offers void."""
        if patch is None:
            patch = {"game": {"count": self.view["game"]["count"] + 1}}
        self.seq += 1
        self.view = merged(self.view, patch)
        if "game" in patch:
            self.offered, self.tag = [], ""
        self._log.append(["frame", self.seq, self.mark, cause or [], list(facts), patch])
        return self._log[-1]

    def peek(self) -> Message:
        """The frame that `frame` would make, without making it."""
        patch = {"game": {"count": self.view["game"]["count"] + 1}}
        return ["frame", self.seq + 1, f"{self.base[-1]}{self.seq + 1:010}", [1], [], patch]

    def offers(self, offered: Message = PLAIN) -> Message:
        self.offered, self.tag = offered, self.mark
        return ["offers", self.seq, self.tag, offered]

    def history(self, first: int, last: int) -> Message:
        """A page of the frames that were shown."""
        kept = [frame for frame in self._log if first <= frame[1] <= last]
        return ["history", kept[:100], min(last, self.seq)]

    def move_back(self, seq: int) -> None:
        """The store has lost the commits after that one, and the log goes on otherwise."""
        self.base, self.seq = "conformance.2", seq

    def why_not(self, command: Command) -> str:
        """Why that command is not one of the offers (P-38); nothing if it is."""
        if not any(_fits(offer, command.body) for offer in self.offered):
            return f"{command.body} is not among the offers {self.offered}"
        return ""


def _fits(offer: dict[str, Any], body: dict[str, Any]) -> bool:
    rest = dict(body)
    if rest.pop("command") != offer["command"]:
        return False
    for name, (least, most) in offer.get("ranges", {}).items():
        number = rest.pop(name, None)
        if type(number) is not int or not least <= number <= most:
            return False
    choices = [choice[0] for choice in offer["choices"]] if "choices" in offer else [{}]
    return rest in choices
