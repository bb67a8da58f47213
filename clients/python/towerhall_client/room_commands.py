"""Commands to the room itself: seats before the game, coming and going during it.

Classes that can send commands and await their answers inherit these.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

import msgspec

from towerhall_client.errors import RefusedError
from towerhall_client.sendable import body_as_read
from towerhall_protocol import commands
from towerhall_protocol.document import Document
from towerhall_protocol.messages import ClientCommand
from towerhall_protocol.replay import Replay


class Answer(msgspec.Struct, frozen=True):
    """A command was done in that commit; a dry run (`seq` 0) would have this effect."""

    n: int
    seq: int = 0
    effect: Document = {}


class RoomCommands(ABC):
    """Commands to a room. Each returns when it is done; `RefusedError` if it is not allowed."""

    replay: Replay
    """Everything that is known, `view_at` among it."""

    @abstractmethod
    async def _ask(self, make: Callable[[], ClientCommand]) -> Answer:
        """Make a command as soon as one may be sent, send it, and wait for its answer.

        Once made it is sent until it is answered, so it must be known by then that it can travel.
        """

    async def _room_command(self, body: commands.Body) -> Answer:
        read = body_as_read(body)
        return await self._ask(lambda: self.replay.command(read))

    async def sit(self, seat: int | None = None) -> Answer:
        """Take a seat: that one, or the lowest that is free."""
        body_as_read(commands.sit(seat))
        return await self._ask(lambda: self.replay.sit(seat))

    async def stand(self) -> Answer:
        """Leave the seat, and its nonce with it; while the room waits."""
        return await self._room_command(commands.stand())

    async def ready(self, *, is_ready: bool = True) -> Answer:
        """Say that this seat may start, or that it may not. Adds a nonce to the shuffle."""
        return await self._ask(lambda: self.replay.ready(is_ready=is_ready))

    async def rename(self) -> Answer:
        """Let the seat have the name of this connection's token."""
        return await self._room_command(commands.rename())

    async def start(self) -> Answer:
        """Seal the deal; hosts only, when all seats are taken and all other people are ready."""
        return await self._room_command(commands.start())

    async def add_bot(self, level: str, seat: int | None = None) -> Answer:
        """Seat a bot of that level, at the lowest free seat unless one is named; hosts only."""
        return await self._room_command(commands.add_bot(level, seat))

    async def remove_bot(self, seat: int) -> Answer:
        """Free the seat of a bot; hosts only."""
        return await self._room_command(commands.remove_bot(seat))

    async def kick(self, seat: int) -> Answer:
        """Send the person in that seat out of the room; hosts only."""
        return await self._room_command(commands.kick(seat))

    async def admit(self, person: str) -> Answer:
        """Let a person who was sent away in again, by id; hosts only."""
        return await self._room_command(commands.admit(person))

    async def invite(self, person: str) -> Answer:
        """Invite a person by their id in this room, such as a watcher; hosts only. By the id of a
        token, `Service.invite` does it."""
        return await self._room_command(commands.invite(person))

    async def mute(self, whom: int | str) -> Answer:
        """Mute a person, by seat or id, for the whole room; hosts only."""
        return await self._room_command(commands.mute(whom))

    async def unmute(self, whom: int | str) -> Answer:
        """Unmute that person for the whole room; hosts only."""
        return await self._room_command(commands.unmute(whom))

    async def set_options(
        self,
        options: Mapping[str, object] | None = None,
        *,
        turn_seconds: int | None = None,
        bot_delay_ms: int | None = None,
        beat_ms: int | None = None,
        bot_accounts: bool | None = None,
        rated: bool | None = None,
    ) -> Answer:
        """Change the given settings; all people must be ready again. Hosts only."""
        body = commands.set_options(
            options,
            turn_seconds=turn_seconds,
            bot_delay_ms=bot_delay_ms,
            beat_ms=beat_ms,
            bot_accounts=bot_accounts,
            rated=rated,
        )
        return await self._room_command(body)

    async def leave(self, level: str | None = None) -> Answer:
        """Let a bot play for this seat until it is taken back."""
        return await self._room_command(commands.leave(level))

    async def take_back(self) -> Answer:
        """Play again instead of the bot."""
        return await self._room_command(commands.take_back())

    async def call_bot(self, seat: int) -> Answer:
        """Let a bot play for an absent person."""
        return await self._room_command(commands.call_bot(seat))

    async def resign(self) -> Answer:
        """Lose the game, for good. It ends at once if one player is left, or only bots."""
        return await self._room_command(commands.resign())

    async def want_end(self, *, wanted: bool = True) -> Answer:
        """Agree to end the game without a result, or not to any more."""
        return await self._room_command(commands.want_end(wanted=wanted))

    async def rematch(self) -> str:
        """The code of the rematch of these people, new or already made."""
        try:
            await self._room_command(commands.rematch())
        except RefusedError as error:
            if error.code != "rematch_made":
                raise
            return str(error.params["room"])
        # The frame that answered it is in the view by now, and names the room.
        room = self.replay.view["room"]
        return str(room["rematch"]) if isinstance(room, dict) else ""
