"""People whom a player has muted: by their ids in the room (P-19), not by their names.

A player names people as they are shown, by seat or by name; what is kept is the id behind it. So a
namesake is heard, and another name or seat changes nothing. The other people are not told.
"""

from collections.abc import Iterator, Mapping

from towerhall_protocol.updates import ChatSaid, EmoteCame


class Muted:
    """The muted people of one room, as one player has chosen."""

    def __init__(self) -> None:
        self._speakers: dict[str, str] = {}
        """The names of all who have said something, by id."""
        self._muted: dict[str, str] = {}

    @property
    def names(self) -> list[str]:
        return sorted(self._muted.values())

    def hears(self, said: ChatSaid | EmoteCame) -> bool:
        """Whether the player wants to hear this."""
        if said.who:
            self._speakers[said.who] = said.name
        return said.who not in self._muted

    def mute(self, whom: str, room: object) -> bool:
        """Mute all people whom the player may mean. Returns whether there are any."""
        found = dict(self._named(whom, room))
        self._muted |= found
        return bool(found)

    def unmute(self, whom: str, room: object) -> None:
        """Hear them again, also if they have gone."""
        meant = {person for person, _ in self._named(whom, room)}
        meant |= {person for person, name in self._muted.items() if _same(name, whom)}
        self._muted = {who: name for who, name in self._muted.items() if who not in meant}

    def _named(self, whom: str, room: object) -> Iterator[tuple[str, str]]:
        """Id and name of those in that seat, or of that name."""
        seats = room.get("seats") if isinstance(room, Mapping) else None
        for seat, holder in seats.items() if isinstance(seats, Mapping) else ():
            person, name = str(holder.get("id", "")), str(holder.get("name", ""))
            if person and (whom == seat or _same(name, whom)):
                yield person, name
        for person, name in self._speakers.items():
            if _same(name, whom):
                yield person, name


def _same(name: str, whom: str) -> bool:
    return name.casefold() == whom.casefold()
