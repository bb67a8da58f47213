"""A small game for clients to play: whoever has bid three times is done, bids of 3 are refused.

It stands in for a server in tests of bots and players; what counts is the talk, not the game.
"""

from typing import Any

from tests.client.fake_server import UID, Visit
from towerhall_protocol import messages as m
from towerhall_protocol.commands import base64url
from towerhall_protocol.offers import Choice, Offer, Range

ROUNDS = 3


class Game:
    """One seat, three rounds."""

    def __init__(self, *, may_refuse_all: bool = False) -> None:
        self.done: list[dict[str, Any]] = []
        self.refused: list[dict[str, Any]] = []
        self.busy_once = False
        self._may_refuse_all = may_refuse_all

    async def serve(self, visit: Visit) -> None:
        room = {"code": "QJXKZB", "uid": base64url(UID), "status": "waiting", "seats": {}}
        await visit.welcome({"room": room})
        while True:
            message = await visit.receive()
            match message:
                case m.ClientCommand():
                    await self._command(visit, message)
                case m.ClientPing(seq):
                    await visit.send(m.ServerPong(seq, (0, 0)))
                case m.ClientChat(text):
                    await visit.send(m.ServerChat("1-0", "Ada\x1b[2J", 0, text, 5, "adaadaadaad"))
                case m.ClientEmote(emote):
                    await visit.send(m.ServerEmote("Ben", -1, emote, "benbenbenbe"))
                case m.ClientHistory(first, last):
                    facts = (("created", "QJXKZB"),)
                    frame = m.ServerFrame(first, "mark1", (), facts, {})
                    await visit.send(m.ServerHistory((frame,), last))

    async def _command(self, visit: Visit, command: m.ClientCommand) -> None:
        body = command.body
        match body["command"]:
            case "sit":
                await visit.do(command, room={"seats": {"0": {"name": "Ada", "id": "adaadaadaad"}}})
                await visit.send(m.ServerSeat(0))
            case "start":
                await visit.do(command, room={"status": "playing"}, game={"round": 0})
                await self._offer(visit)
            case "bid" if command.dry:
                await visit.send(m.ServerAccepted(command.n, {"score": body["number"]}))
            case "bid":
                await self._bid(visit, command)
            case name:
                hint = f"there is no command {name} here"
                await visit.send(m.ServerRejected(command.n, "unknown_command", "P-40", {}, hint))

    async def _bid(self, visit: Visit, command: m.ClientCommand) -> None:
        body = command.body
        if self.busy_once:
            self.busy_once = False
            params = {"retry_ms": 1}
            await visit.send(m.ServerRejected(command.n, "too_many", "P-72", params, "wait"))
        elif command.tag != f"tag{len(self.done)}":
            await visit.send(m.ServerRejected(command.n, "stale", "P-43", {}, "it has passed"))
        elif body["number"] == 3 or self._may_refuse_all:
            self.refused.append(body)
            await visit.send(m.ServerRejected(command.n, "unstable", "NT 4", {}, "it would fall"))
        else:
            self.done.append(body)
            over = len(self.done) == ROUNDS
            room = {"room": {"status": "over"}} if over else {}
            await visit.do(command, game={"round": len(self.done)}, **room)
            if not over:
                await self._offer(visit)

    async def _offer(self, visit: Visit) -> None:
        choices = (Choice({"card": "sand"}, {"score": 4}), Choice({"card": "tree"}))
        offer = Offer("bid", {"number": Range(1, 3)}, choices, unsure=True)
        await visit.send(m.ServerOffers(visit.seq, f"tag{len(self.done)}", (offer,)))
