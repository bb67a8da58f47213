"""The specification says what the code does: numbers, tables, shapes and examples agree."""

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from string import Formatter
from typing import Any, get_args

import msgspec
import pytest

from towerhall_protocol import commands, level
from towerhall_protocol import messages as m
from towerhall_protocol.answers import ListedRoom
from towerhall_protocol.codec import FROM_CLIENT, FROM_SERVER, decode_json
from towerhall_protocol.errors import CLOSES, HINTS
from towerhall_protocol.events import EventsClientMessage, EventsGreeting, PlaceOfPerson
from towerhall_protocol.fairness import SECRET_BYTES, UID_BYTES, nonce_hash
from towerhall_protocol.lobby import (
    MOST_FREE,
    MOST_SHOWN,
    Filter,
    LobbyArrival,
    LobbyClientMessage,
    LobbyGreeting,
    LobbyServerMessage,
)
from towerhall_protocol.merge_patch import apply
from towerhall_protocol.messages import Arrival, ClientMessage, Greeting, ServerMessage
from towerhall_protocol.offers import Offer
from towerhall_protocol.public_log import Dropped, Ended, Logged, Opened, read_leaf
from towerhall_protocol.record import FORMAT, Deal, Hand, Proof, Record
from towerhall_protocol.replay import MOST_UNANSWERED
from towerhall_protocol.wire import (
    read_client,
    read_events_client,
    read_lobby_client,
    read_lobby_server,
    read_server,
)
from towerhall_server.access import names, tokens
from towerhall_server.access.rates import Limits
from towerhall_server.config.settings import LIMIT, READERS
from towerhall_server.eventlog.lobby import MOST_INVITED
from towerhall_server.game import LEVELS, AnyGame, discover
from towerhall_server.gateway.http.account_requests import NewRecovery
from towerhall_server.gateway.http.account_routes import AccountRoutes
from towerhall_server.gateway.http.live_routes import LiveRoutes
from towerhall_server.gateway.http.lobby_routes import (
    LINK_MS,
    LobbyRoutes,
    NewLink,
    NewQuickplay,
    NewRevocation,
    UsedLink,
)
from towerhall_server.gateway.http.log_routes import LogRoutes, NewCosignature
from towerhall_server.gateway.http.push_routes import PushRoutes
from towerhall_server.gateway.http.regular_requests import NewReport
from towerhall_server.gateway.http.regular_routes import RegularRoutes
from towerhall_server.gateway.http.routes import NewGuest, NewInvitation, NewRoom
from towerhall_server.gateway.responses import STATUS
from towerhall_server.gateway.ws.session import MOST_UNANSWERED as MOST_UNANSWERED_THERE
from towerhall_server.gateway.ws.socket import MAX_FRAGMENTS
from towerhall_server.live import chat, history
from towerhall_server.live.absence import ABSENT_SECONDS, HOST_AWAY_SECONDS
from towerhall_server.lobby.arrivals import COMING_MS
from towerhall_server.lobby.events import MOST_PLACES
from towerhall_server.lobby.games import describe_game
from towerhall_server.lobby.my_rooms import MOST_ROOMS as MOST_MINE
from towerhall_server.room import pace, state, steps
from towerhall_server.room.closing import abandon_step
from towerhall_server.room.commands import GAME, ROOM_COMMANDS
from towerhall_server.room.commits import Cause
from towerhall_server.room.decision import manage
from towerhall_server.room.during import TIMEOUTS_TO_CALL, TIMEOUTS_TO_GO
from towerhall_server.room.events import (
    PUBLIC_FIELDS,
    BotAccountMarked,
    EndWanted,
    PersonInvited,
    PersonMuted,
    PersonSat,
    SeatKicked,
    Settings,
    TimedOut,
    facts,
)
from towerhall_server.room.rematch import rematch_plan
from towerhall_server.room.seats import BOT_DELAY_MS, TURN_SECONDS, Known, Person
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Plan, Step
from towerhall_server.room.view import SHARED, view
from towerhall_server.signing.history import PublishedKey
from towerhall_server.transparency.store import LONG_DAYS, RoomCounts

ROOT = Path(__file__).resolve().parent.parent.parent
SPEC = (ROOT / "protocol/SPEC.md").read_text()
README = (ROOT / "protocol/README.md").read_text()
CHANGELOG = (ROOT / "protocol/CHANGELOG.md").read_text()

CLAUSE = re.compile(r"^### P-([0-9]+) (.+)$", re.MULTILINE)
CITED = re.compile(r"\bP-([0-9]+)\b")
SHAPE = re.compile(
    r"^\*\*(Client|Server|Lobby) sends( to the lobby| to the events)?\*\* "
    r'`\["(\w+)"(?:, ([^\]]+))?\]`$',
    re.MULTILINE,
)
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
READ = {".py", ".md", ".json", ".ts", ".svelte"}
NOT_OURS = {"node_modules", "dist", "__pycache__"}
NO_CLAUSE = 0
"""What tests cite where it does not matter which clause it is."""
Side = tuple[str, Any]
SIDES: tuple[Side, ...] = (
    ("Client", ClientMessage),
    ("Server", ServerMessage),
    ("Client to the lobby", LobbyClientMessage),
    ("Lobby", LobbyServerMessage),
    ("Client to the events", EventsClientMessage),
)


def clause(number: int) -> str:
    """The text of one clause, without its heading."""
    heading = re.search(rf"^### P-{number} .+\n", SPEC, re.MULTILINE)
    assert heading is not None, number
    return re.split(r"^##", SPEC[heading.end() :], maxsplit=1, flags=re.MULTILINE)[0]


def table(number: int, which: int = 0) -> list[tuple[str, ...]]:
    """The rows of a table in a clause, without its head; code marks are taken off."""
    found = re.findall(r"(?:^\|.*\|\n)+", clause(number), re.MULTILINE)[which]
    rows = [
        tuple(cell.strip().strip("`") for cell in line.strip("|").split(" | "))
        for line in found.splitlines()
    ]
    return rows[2:]


def meanings(number: int) -> dict[str, str]:
    """The first table of a clause, if it has two columns."""
    return {row[0]: row[1] for row in table(number)}


def blocks(text: str, label: str) -> Iterator[str]:
    return (body for name, body in BLOCK.findall(text) if name == label)


def fields_of(shape: Any) -> list[str]:
    """The fields of a struct, marked like the specification marks what may be left out."""
    return [
        field.name if field.required else f"{field.name}?"
        for field in msgspec.structs.fields(shape)
    ]


def keys_of(text: str) -> list[str]:
    """The keys of a map that is written as `{"a", "b"?}`, or with values."""
    return [name + mark for name, mark in re.findall(r'"(\w+)"(\??)', text)]


# Clauses


def test_clauses_are_numbered_upwards_and_none_twice() -> None:
    numbers = [int(number) for number, _ in CLAUSE.findall(SPEC)]
    assert len(numbers) > 50
    assert numbers == sorted(set(numbers))


def citations() -> Iterator[tuple[str, int]]:
    folders = ("protocol", "server", "clients", "tests")
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in READ and NOT_OURS.isdisjoint(path.parts) and path.is_file():
                for number in CITED.findall(path.read_text()):
                    yield str(path.relative_to(ROOT)), int(number)


def test_every_clause_that_is_cited_exists() -> None:
    there = {int(number) for number, _ in CLAUSE.findall(SPEC)} | {NO_CLAUSE}
    cited = list(citations())
    assert {number for name, number in cited if name.endswith("decision.py")} >= {43, 56}
    assert [(name, number) for name, number in cited if number not in there] == []


# Messages


def shapes() -> Iterator[tuple[str, str, str]]:
    """Who sends it, the name of the message, and its fields."""
    return ((who + where, name, rest) for who, where, name, rest in SHAPE.findall(SPEC))


@pytest.mark.parametrize(("side", "union"), SIDES)
def test_the_shape_of_every_message_is_that_of_the_code(side: str, union: Any) -> None:
    written = {name: re.findall(r"[^, ]+", rest) for who, name, rest in shapes() if who == side}
    coded = {shape.__struct_config__.tag: fields_of(shape) for shape in get_args(union)}
    assert written == coded


def test_no_message_is_specified_twice() -> None:
    found = [(side, name) for side, name, _ in shapes()]
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    ("number", "shape"),
    [
        (16, Greeting),
        (17, Arrival),
        (37, Offer),
        (141, LobbyGreeting),
        (142, Filter),
        (143, LobbyArrival),
        (154, EventsGreeting),
    ],
)
def test_the_keys_of_a_map_are_those_of_the_code(number: int, shape: Any) -> None:
    assert [row[0] for row in table(number)] == fields_of(shape)


@pytest.mark.parametrize(
    ("label", "limits", "read", "union"),
    [
        ("json client", FROM_CLIENT, read_client, ClientMessage),
        ("json server", FROM_SERVER, read_server, ServerMessage),
        ("json to lobby", FROM_CLIENT, read_lobby_client, LobbyClientMessage),
        ("json from lobby", FROM_SERVER, read_lobby_server, LobbyServerMessage),
        ("json to events", FROM_CLIENT, read_events_client, EventsClientMessage),
    ],
)
def test_every_example_is_a_message_and_every_message_has_one(
    label: str, limits: Any, read: Any, union: Any
) -> None:
    examples = [line for block in blocks(SPEC, label) for line in block.splitlines()]
    messages = [read(decode_json(line, limits)) for line in examples]
    assert {type(message) for message in messages} == set(get_args(union))


def test_other_examples_are_json() -> None:
    others = list(blocks(SPEC, "json"))
    assert others
    for example in others:
        json.loads(example)


def test_blocks_of_json_say_who_sends_them() -> None:
    labels = {name for name, _ in BLOCK.findall(SPEC)}
    assert labels == {
        "json",
        "json client",
        "json server",
        "json to lobby",
        "json from lobby",
        "json to events",
        "text",
    }


# Tables


def test_the_closes_are_those_of_the_code() -> None:
    coded = [
        (name, str(close.code), "yes" if close.may_reconnect else "no", close.meaning)
        for name, close in CLOSES.items()
    ]
    assert table(101) == coded


def test_the_codes_and_their_params_are_those_of_the_code() -> None:
    coded = {
        code: [field for _, field, _, _ in Formatter().parse(text) if field]
        for code, text in HINTS.items()
    }
    rows = table(102)
    assert len(rows) == len(coded)
    assert {code: re.findall(r"\w+", params) for code, _, params, _ in rows} == coded


def test_codes_with_a_status_of_their_own_occur_over_http() -> None:
    over_http = {code for code, where, _, _ in table(102) if "H" in where}
    assert set(STATUS) <= over_http
    written = {
        code: int(status) for status, codes in table(111) for code in re.findall(r"\w+", codes)
    }
    assert written == STATUS


def test_the_limits_are_the_defaults_of_the_code() -> None:
    written = {name: READERS[LIMIT + name](value) for name, value, _ in table(73)}
    assert written == msgspec.structs.asdict(Limits())


def test_the_limits_of_a_message_are_those_of_the_codec() -> None:
    written = {name: int(value) for name, value, _ in table(70)}
    assert written == msgspec.structs.asdict(FROM_CLIENT)


def test_fixed_numbers_are_those_of_the_code() -> None:
    assert {name: int(value) for name, value, _ in table(73, 1)} == {
        "unanswered commands": MOST_UNANSWERED,
        "remembered commands": state.MOST_REMEMBERED,
        "remembered origins": state.MOST_ORIGINS,
        "remembered senders": state.MOST_SENDERS,
        "changes at once": pace.MOST_AT_ONCE,
        "change ms": pace.RETURNS_MS,
        "history frames": history.MOST_FRAMES,
        "history bytes": history.MOST_BYTES,
        "chat characters": names.CHAT_CHARACTERS_MAX,
        "chat lines": chat.BACKLOG,
        "name characters": names.NAME_GRAPHEMES_MAX,
        "token bytes": tokens.TOKEN_BYTES_MAX,
        "opening ms": steps.OPEN_MS,
        "empty room ms": steps.EMPTY_MS,
        "idle room ms": steps.IDLE_MS,
        "idle game ms": steps.ABANDONED_MS,
        "ended room ms": steps.KEPT_MS,
    }
    assert MOST_UNANSWERED == MOST_UNANSWERED_THERE
    assert (TIMEOUTS_TO_CALL, TIMEOUTS_TO_GO) == (2, 3)
    assert "twice in a row" in clause(58)
    assert "three times in a row" in clause(58)
    assert (ABSENT_SECONDS, HOST_AWAY_SECONDS) == (60, 60)
    assert "for one minute" in clause(58)
    assert "for a minute" in clause(56)
    assert [(span[0], span[-1]) for span in TURN_SECONDS] == [(0, 0), (5, 600), (3600, 1209600)]
    assert "0 (no clock), 5 to 600 (a clock for one sitting), or 3600 to 1209600" in clause(57)
    assert f"`bot_delay_ms` is 0 to {BOT_DELAY_MS[-1]}" in clause(57)
    assert f"`beat_ms` is 0 to {BOT_DELAY_MS[-1]}" in clause(57)
    assert f"`{discover()['five_towers'].stand_in}` if left out" in clause(58)
    assert re.findall(r"`(\w+)`", clause(98).split("one of")[1].split(";")[0]) == list(m.EMOTES)
    assert f"{MAX_FRAGMENTS} fragments" in clause(3)


def test_the_facts_of_the_room_are_those_of_the_code() -> None:
    coded = {facts_name(kind): list(public) for kind, public in PUBLIC_FIELDS.items()}
    assert {name: re.findall(r"\w+", public) for name, public in table(32)} == coded


def test_the_stored_events_of_the_room_are_those_of_the_code() -> None:
    coded = {
        facts_name(kind): [
            (field.name, "" if field.name in PUBLIC_FIELDS[kind] else "*")
            for field in msgspec.structs.fields(kind)
        ]
        for kind in PUBLIC_FIELDS
    }
    written = {name: re.findall(r"(\w+)`?(\*?)", fields) for name, fields in table(123)}
    assert written == coded


def facts_name(kind: type[Any]) -> str:
    """The name that the facts of such an event have."""
    empty: dict[str, Any] = {field.name: 0 for field in msgspec.structs.fields(kind)}
    return str(facts(kind(**empty))[0])


def test_rights_are_those_of_the_gate() -> None:
    written = {command: frozenset(re.findall(r"\w+", who)) for command, who in table(56)}
    roles = {name: frozenset({right.role}) for name, right in ROOM_COMMANDS.items()}
    assert written == {**roles, "game": {GAME.role}}


def test_the_commands_to_the_room_are_listed() -> None:
    listed = clause(50).partition(".")[0]
    assert tuple(re.findall(r"`(\w+)`", listed)) == commands.ROOM_COMMANDS
    described = "".join(clause(number) for number in range(51, 60))
    assert set(re.findall(r'"command": "(\w+)"', described)) == set(commands.ROOM_COMMANDS)
    for bot_level in LEVELS:
        assert f"`{bot_level}`" in clause(55)


# The view


def rooms() -> Iterator[Room]:
    """A room in every status that it can have."""
    rules, ada, nonce = discover()["five_towers"], Person("ada", "Ada"), bytes(32)
    for settings in (Settings(), Settings(turn_seconds=30, bot_delay_ms=0, beat_ms=1)):
        plan = Plan(rules, rules.presets["standard"], 2, settings, ada.id)
        room = steps.found(plan, "ABCDEF", bytes(UID_BYTES), bytes(SECRET_BYTES)).after
        yield abandon_step(room).after
    for body in (
        commands.sit(0, nonce_hash(bytes(UID_BYTES), nonce)),
        commands.add_bot("easy"),
        commands.ready(),
        commands.start(),
        commands.open_nonce(nonce),
        commands.resign(),
    ):
        yield room
        step = manage(room, ada, Cause(0, ada.id, "origin", 1), body)
        assert isinstance(step, Step), step
        room = step.after
    while room.playing:
        yield room
        bot = steps.bot_to_act(room)
        step = steps.timeout_step(room) if bot is None else steps.bot_step(room, bot)
        assert isinstance(step, Step), step
        room = step.after
    yield room
    rematch = rematch_plan(room, ada.id, {})
    made = Known(rematch="ABCDEG")
    step = manage(room, ada, Cause(0, ada.id, "origin", 2), commands.rematch(), made)
    assert isinstance(step, Step), step
    yield step.after
    yield moderated(rules)
    quick = msgspec.structs.replace(rematch, quick=True)
    yield steps.found(quick, "ABCDEG", bytes(UID_BYTES), bytes(SECRET_BYTES)).after


def moderated(rules: AnyGame) -> Room:
    """A sandbox room with aliases: one person was sent away, another silenced, a third invited."""
    settings = Settings(bot_accounts=True, rated=True, sandbox=1)
    plan = Plan(rules, rules.presets["standard"], 2, settings, "", aliased=True)
    room = steps.found(plan, "ABCDEH", bytes(UID_BYTES), bytes(SECRET_BYTES)).after
    sat = PersonSat(0, "ada", "Ada")
    host_did = (PersonMuted("ada", True), PersonInvited("ben"))
    return state.happen(room, (sat, SeatKicked(0), sat, BotAccountMarked(0), *host_did), ())


def test_the_keys_of_the_view_are_those_of_the_code() -> None:
    told = list(rooms())
    wanted = state.happen(told[-4], (EndWanted(0, True), TimedOut(0)), ())
    views: list[Any] = [view(room, SHARED) for room in (*told, wanted)]
    tables = [document["room"] for document in views]
    holders = [holder for shown in tables for holder in shown["seats"].values()]
    for number, maps in ((61, tables), (62, holders)):
        always = set.intersection(*map(set, maps))
        found = {key if key in always else f"{key}?" for shown in maps for key in shown}
        assert found == {key for key, _ in table(number)}, number
    assert {key for document in views for key in document} == set(
        re.findall(r"`(\w+)`", clause(60))
    )
    statuses = set(re.findall(r"`(\w+)`", meanings(61)["status"]))
    assert {shown["status"] for shown in tables} <= statuses | {"waiting"}


# The lobby


def test_games_are_described_as_written() -> None:
    game = describe_game(discover()["five_towers"])
    assert list(game) == [key for key, _ in table(113)]
    options: Any = game["options"]
    for option in options.values():
        assert list(option) == keys_of(meanings(113)["options"])


def test_the_numbers_of_the_lobby_are_those_of_the_code() -> None:
    assert f"At most {MOST_SHOWN} rooms" in clause(144)
    assert f"0 to {MOST_FREE};" in meanings(142)["free?"]
    asked = next(field for field in msgspec.structs.fields(Filter) if field.name == "status")
    assert f"up to {MOST_MINE} rooms" in clause(148)
    assert f"At most {MOST_PLACES} places" in clause(155)
    assert f"up to {MOST_INVITED} invitations" in clause(156)
    places = {row[0] for row in table(155)}
    plain = set(fields_of(ListedRoom))
    assert places == {name for name in fields_of(PlaceOfPerson) if name not in plain}
    assert f"not connected {COMING_MS // 1000} s later" in " ".join(clause(147).split())
    made, used = (keys_of(f'"{text}') for text in clause(149).split('with `{"')[1:])
    assert made[: len(fields_of(NewLink))] == fields_of(NewLink)
    assert used[: len(fields_of(UsedLink))] == fields_of(UsedLink)
    assert f"{LINK_MS // 60_000} minutes" in clause(149)
    (revoked,) = (keys_of(f'"{text}') for text in clause(151).split('with `{"')[1:])
    assert revoked[: len(fields_of(NewRevocation))] == fields_of(NewRevocation)
    statuses = set(re.findall(r"`(\w+)`", meanings(142)["status?"]))
    assert statuses == set(get_args(asked.type)) - {""}


# HTTP and the record


def test_the_addresses_are_those_of_the_routes() -> None:
    served: set[str] = set()
    lobby, log = LobbyRoutes.__new__(LobbyRoutes), LogRoutes.__new__(LogRoutes)
    people = RegularRoutes.__new__(RegularRoutes)
    accounts, live = AccountRoutes.__new__(AccountRoutes), LiveRoutes.__new__(LiveRoutes)
    push = PushRoutes.__new__(PushRoutes)
    others = (each.table(lobby.reading) for each in (log, people, accounts, push, live))
    for route in chain(lobby.table(), *others):
        path: str = getattr(route, "path", "").replace(":path", "")
        methods = set(getattr(route, "methods", None) or ()) - {"HEAD"}
        served |= {f"{method} {path}" for method in methods}
    assert {address for address, _, _ in table(110)} == served


@pytest.mark.parametrize(
    ("number", "shape"),
    [
        (112, NewGuest),
        (115, NewRoom),
        (147, NewQuickplay),
        (156, NewInvitation),
        (185, NewCosignature),
        (208, NewReport),
        (214, NewRecovery),
    ],
)
def test_the_bodies_of_requests_are_those_of_the_code(number: int, shape: Any) -> None:
    body = clause(number).partition(" → ")[0]
    assert keys_of(body) == fields_of(shape)


def test_the_record_is_that_of_the_code() -> None:
    rows = meanings(120)
    assert list(rows) == fields_of(Record)
    assert rows["format"].startswith(f"{FORMAT}:")
    assert keys_of(rows["proof"]) == fields_of(Proof)
    maps = [keys_of(found) for found in re.findall(r"`\{([^}]+)\}`", clause(120))]
    assert fields_of(Deal) in maps
    assert fields_of(Hand) in maps


# The public log


def test_the_public_log_is_that_of_the_code() -> None:
    assert list(meanings(186)) == fields_of(Logged)
    leaves = [keys_of(re.sub(r'"kind":"\w+"', '"kind"', form)) for form, _ in table(182)]
    for kind, written in zip((Opened, Ended, Dropped), leaves, strict=True):
        assert sorted(written) == sorted(["kind", *fields_of(kind)])
    numbers = meanings(183)
    assert set(fields_of(RoomCounts)) <= set(numbers)
    assert numbers["long_days"] == str(LONG_DAYS)
    (key,) = (keys_of(found) for found in re.findall(r"`\{([^}]+)\}` each", clause(180)))
    assert key == fields_of(PublishedKey)
    (example,) = blocks(clause(182), "json")
    assert read_leaf(example.strip().encode()) is not None


# The pages beside it


def test_the_level_is_that_of_the_code_and_every_level_has_an_entry() -> None:
    assert f"**Level {level.LEVEL}.**" in SPEC
    entries = [int(number) for number in re.findall(r"^## Level (\d+)$", CHANGELOG, re.MULTILINE)]
    assert entries == list(range(level.LEVEL, 0, -1))
    for subprotocol in level.SUBPROTOCOLS:
        assert f"`{subprotocol}`" in clause(1)


def test_the_client_of_the_readme_is_short_and_compiles() -> None:
    (client,) = blocks(README, "python")
    compile(client, "protocol/README.md", "exec")
    assert len(client.splitlines()) <= 120
    assert "towerhall_" not in client


def test_the_transcript_of_the_readme_holds_together() -> None:
    said = "".join(blocks(README, "text")).replace("\n    ", "").splitlines()
    sent = [read_client(json.loads(line[2:])) for line in said if line.startswith("> ")]
    got = [read_server(json.loads(line[2:])) for line in said if line.startswith("< ")]
    seq, answers, seen = 0, set(), dict[str, object]()
    for message in got:
        match message:
            case m.ServerWelcome(arrival):
                seq, seen = arrival.cursor.seq, dict(arrival.view or seen)
            case m.ServerFrame(after, _, cause, _, patch):
                assert after == seq + 1
                seq, seen = after, apply(seen, patch)
                answers |= set(cause[2:])
            case m.ServerRejected(n) | m.ServerDuplicate(n):
                answers.add(n)
            case None:
                pytest.fail("the transcript has a message that is none")
    assert {type(message) for message in sent} == {m.ClientHello, m.ClientCommand}
    assert {type(message) for message in got} >= {
        m.ServerOffers,
        m.ServerDuplicate,
        m.ServerRejected,
    }
    assert answers == {message.n for message in sent if isinstance(message, m.ClientCommand)}
    assert set(seen) == {"room", "game"}
