"""The parts of regulars, joined on one store."""

import msgspec

from towerhall_server.accounts.store import AccountStore
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.pushes import PushStore
from towerhall_server.live.directory import Directory
from towerhall_server.regulars.bonds import Bonds
from towerhall_server.regulars.consumer import Consumer
from towerhall_server.regulars.ends import End, end_of
from towerhall_server.regulars.erasure import Erasure, ReadRoom, no_room
from towerhall_server.regulars.journal import Journal
from towerhall_server.regulars.people import PeopleStore
from towerhall_server.regulars.profiles import Profiles
from towerhall_server.regulars.reports import Reports
from towerhall_server.room.state import Room


class Regulars(msgspec.Struct, frozen=True):
    """All that a server knows of people who come back."""

    journal: Journal
    people: PeopleStore
    profiles: Profiles
    bonds: Bonds
    reports: Reports
    erasure: Erasure
    chat_from_the_start: bool = True
    """Whether a person may chat who has not chosen."""

    async def may_chat(self, identity: str) -> bool:
        """Whether a person may chat. Nothing is read unless the operator wants people to choose."""
        return self.chat_from_the_start or await self.people.chat_of(identity) == "on"


def open_regulars(
    log: EventLog,
    lobby: LobbyStore,
    accounts: AccountStore,
    read_room: ReadRoom = no_room,
    *,
    chat_from_the_start: bool = True,
) -> Regulars:
    """Join the parts. Nothing is called."""
    journal, people = Journal(log), PeopleStore(log)
    profiles, bonds, reports = Profiles(journal, people), Bonds(log, people), Reports(log)
    pushes = PushStore(log)
    erasure = Erasure(log, lobby, people, profiles, bonds, reports, accounts, pushes, read_room)
    return Regulars(journal, people, profiles, bonds, reports, erasure, chat_from_the_start)


def regulars_of(
    directory: Directory, lobby: LobbyStore, accounts: AccountStore, newcomers_chat: bool
) -> tuple[Regulars, Consumer]:
    """The parts on the store of this node, and their consumer."""
    log = directory.node.log

    async def read_room(code: str) -> Room | None:
        replica = await directory.read(code)
        return None if replica is None else replica.room

    regulars = open_regulars(log, lobby, accounts, read_room, chat_from_the_start=newcomers_chat)
    return regulars, consumer_of(regulars, directory)


def consumer_of(regulars: Regulars, directory: Directory) -> Consumer:
    """The consumer of this node."""
    log = directory.node.log

    async def read(code: str) -> End | None:
        replica = await directory.read(code)
        if replica is None or replica.room.table.result is None:
            return None
        # Later commits, such as a rematch, do not move the end.
        entry = await log.entry(code, replica.room.began_seq)
        return None if entry is None else end_of(replica.room, entry.stamps.wall_ms)

    return Consumer(regulars.journal, regulars.people, read, directory.node.name)
