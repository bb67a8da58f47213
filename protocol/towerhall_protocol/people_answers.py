"""The answers about people who come back (section 21 of the specification), as types.

As in `answers`: a key with a default may be left out, and later levels add keys.
"""

import msgspec

from towerhall_protocol.account_answers import AccountAnswer


class StatisticsEntry(msgspec.Struct, frozen=True):
    """Finished games of one kind and number of seats (P-204)."""

    game: str
    seats: int
    games: int
    places: tuple[int, ...]
    best: int
    sum: int


class RatingEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    game: str
    points: int
    games: int
    change: int
    rank: int | None = None
    provisional: bool = False


class ProfileAnswer(msgspec.Struct, frozen=True):
    """A person as others see them (P-204)."""

    handle: str
    name: str
    since: int
    statistics: tuple[StatisticsEntry, ...]
    ratings: tuple[RatingEntry, ...]


class OwnProfileAnswer(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The own profile (P-203)."""

    id: str
    name: str
    statistics: tuple[StatisticsEntry, ...]
    ratings: tuple[RatingEntry, ...]
    hidden: bool
    chat: bool
    handle: str = ""
    since: int = 0


class OperatorProfileAnswer(ProfileAnswer, frozen=True):
    """A person of an operator (P-210)."""

    id: str
    external_id: str


class PastSeat(msgspec.Struct, frozen=True, omit_defaults=True):
    place: int
    score: int
    name: str = ""
    handle: str = ""
    own: bool = False
    bot: str = ""
    stand_in: bool = False
    resigned: bool = False


class PastGame(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finished game in a history (P-205)."""

    number: int
    code: str
    game: str
    version: int
    ended: int
    replay: str
    seats: tuple[PastSeat, ...]
    rated: bool = False
    private: bool = False


class PastGamesAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    games: tuple[PastGame, ...]
    before: int | None = None


class Ranked(msgspec.Struct, frozen=True):
    rank: int
    handle: str
    name: str
    points: int
    games: int


class LeaderboardAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A page of a leaderboard (P-206)."""

    game: str
    people: tuple[Ranked, ...]
    total: int
    next: int | None = None


class OtherPerson(msgspec.Struct, frozen=True, omit_defaults=True):
    handle: str
    name: str = ""


class PeopleAnswer(msgspec.Struct, frozen=True):
    """The lists of a person (P-207)."""

    friends: tuple[OtherPerson, ...]
    asked: tuple[OtherPerson, ...]
    asking: tuple[OtherPerson, ...]
    blocked: tuple[OtherPerson, ...]
    met: tuple[OtherPerson, ...]


class BlockedIdsAnswer(msgspec.Struct, frozen=True):
    """The people whom the caller has blocked, by their ids in one room (P-207)."""

    ids: tuple[str, ...]


class ReportedAnswer(msgspec.Struct, frozen=True):
    lines: int


class ReportedLine(msgspec.Struct, frozen=True):
    id: str
    time: int
    text: str


class OwnReport(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A report by the person who asks."""

    number: str
    time: int
    room: str
    name: str
    reason: str
    text: str = ""
    lines: tuple[ReportedLine, ...] = ()


class ReportAnswer(OwnReport, frozen=True, kw_only=True):
    """A report in the queue of an operator (P-210)."""

    by: str
    person: str


class ReportsAnswer(msgspec.Struct, frozen=True):
    reports: tuple[ReportAnswer, ...]


class SettledAnswer(msgspec.Struct, frozen=True):
    number: str


class PushKeyAnswer(msgspec.Struct, frozen=True):
    """The key of web push (P-217)."""

    key: str


class SubscribedAnswer(msgspec.Struct, frozen=True):
    expires: int


class KeptSubscription(msgspec.Struct, frozen=True):
    """A device of the person who asks."""

    endpoint: str
    language: str
    since: int


class ExportAnswer(OwnProfileAnswer, frozen=True, omit_defaults=True, kw_only=True):
    """All that is kept of a person (P-209)."""

    games: tuple[PastGame, ...] | None = None
    people: PeopleAnswer | None = None
    reports: tuple[OwnReport, ...] | None = None
    rooms: tuple[str, ...] | None = None
    account: AccountAnswer | None = None
    subscriptions: tuple[KeptSubscription, ...] | None = None
