"""One sample of every message in all its forms, named, for tests and vectors."""

from towerhall_protocol import events, lobby
from towerhall_protocol import messages as m
from towerhall_protocol.commands import base64url
from towerhall_protocol.offers import Choice, Offer, Range

PERSON = "cGVyc29uMDE"
CURSOR = m.Cursor("AAAAAAAAAAAAAAAAAAAAAA.all.1.1", 41, "k3J9x_Pq0aE")
CHAIN = base64url(bytes(range(32)))
SIGNATURE = base64url(bytes(range(32)) * 2)
VIEW = {
    "room": {"code": "QJXKZB", "status": "playing", "seats": {"0": {"name": "Ada"}}},
    "game": {"round": 3, "calls": {"0": 2}},
}
FRAME = m.ServerFrame(
    42, "Zz0_-aaaaaa", (0, "b3JpZ2luMTE", 7), (("bid_made", 0, 3, False),), {"game": {"turn": 1}}
)
OFFERS = (
    Offer("bid", {"number": Range(3, 5)}),
    Offer("pass"),
    Offer("build", choices=(Choice({"cards": ["sand:7"]}, {"score": 4}), Choice({})), unsure=True),
)

FROM_CLIENT: tuple[tuple[str, m.ClientMessage], ...] = (
    ("the first hello", m.ClientHello(m.Greeting("token", 1, "b3JpZ2luMTE"))),
    (
        "hello again, to a private room",
        m.ClientHello(m.Greeting("token", 1, "b3JpZ2luMTE", CURSOR, "key")),
    ),
    ("a game's command", m.ClientCommand(7, "k3J9x_Pq0aE", {"command": "bid", "number": 3})),
    ("a command to the room", m.ClientCommand(1, "", {"command": "sit", "seat": 2})),
    ("a dry run", m.ClientCommand(8, "k3J9x_Pq0aE", {"command": "pass"}, True)),
    ("history", m.ClientHistory(1, 41)),
    ("chat", m.ClientChat("good evening ☺")),
    ("emote", m.ClientEmote("well_played")),
    ("sign", m.ClientSign()),
    ("ping", m.ClientPing(41)),
    ("sandbox: drop me", m.ClientSandbox("drop", 0)),
    ("sandbox: lose the tail", m.ClientSandbox("lose", 3)),
)
FROM_SERVER: tuple[tuple[str, m.ServerMessage], ...] = (
    (
        "welcome with the whole view",
        m.ServerWelcome(
            m.Arrival(
                PERSON,
                "Ada",
                1,
                (1_700_000_000_000, 5_000),
                CURSOR,
                VIEW,
                0,
                2,
                (0, 2),
                3,
                True,
                (42, CHAIN),
                True,
                True,
            )
        ),
    ),
    (
        "welcome back: frames follow",
        m.ServerWelcome(m.Arrival(PERSON, "Ada", 1, (1_700_000_000_000, 5_000), CURSOR)),
    ),
    ("frame caused by a command", FRAME),
    (
        "frame caused by a bot or a timer",
        m.ServerFrame(43, "mmmmmmmmmmm", (1,), (("passed", 1),), {"game": {"turn": 2}}),
    ),
    (
        "frame caused by the room",
        m.ServerFrame(44, "nnnnnnnnnnn", (), (), {"game": None, "room": {"status": "over"}}),
    ),
    ("chain", m.ServerChain(48, CHAIN)),
    ("chain, signed", m.ServerChain(49, CHAIN, "k3J9x_Pq0aE", SIGNATURE)),
    ("offers", m.ServerOffers(42, "Zz0_-aaaaaa", OFFERS)),
    ("rejected", m.ServerRejected(7, "bid_too_low", "5", {"highest": 3}, "name more")),
    ("duplicate", m.ServerDuplicate(7, 42)),
    ("accepted dry run", m.ServerAccepted(8, {"score": 12})),
    ("searching, with others before it", m.ServerSearching(9, 2)),
    ("history", m.ServerHistory((FRAME,), 42)),
    ("reset", m.ServerReset(CURSOR, VIEW, 1)),
    ("a seat", m.ServerSeat(2)),
    ("no seat", m.ServerSeat(-1)),
    ("presence", m.ServerPresence((0, 2), 5, (0, 45_000, 0))),
    ("chat", m.ServerChat("1-0", "Ada", 0, "good evening ☺", 1_700_000_000_000, "cGVyc29uMDE")),
    ("emote", m.ServerEmote("Ada", 0, "well_played", "cGVyc29uMDE")),
    ("paused", m.ServerPaused(True)),
    ("go", m.ServerGo(5000)),
    ("pong", m.ServerPong(41, (1_700_000_000_000, 5_000))),
    ("error", m.ServerError("too_many", {"retry_ms": 500}, "too much at once", "P-72")),
)

LIST = {
    "rooms": {
        "QJXKZB": {
            "code": "QJXKZB",
            "game": "five_towers",
            "status": "waiting",
            "seats": 3,
            "taken": 1,
            "names": ["Ada"],
        }
    }
}
FILTER = lobby.Filter("five_towers", "waiting", 1)
TO_LOBBY: tuple[tuple[str, lobby.LobbyClientMessage], ...] = (
    ("hello, to see everything", lobby.LobbyHello(lobby.LobbyGreeting("token", 1))),
    ("hello with a filter", lobby.LobbyHello(lobby.LobbyGreeting("token", 1, FILTER))),
    ("another filter", lobby.LobbyFilter(lobby.Filter(status="playing"))),
    ("the next page", lobby.LobbyFilter(lobby.Filter(free=1, after="0QJXKZB", limit=100))),
    ("ping", m.ClientPing(1)),
)
TO_EVENTS: tuple[tuple[str, events.EventsClientMessage], ...] = (
    ("hello", events.EventsHello(events.EventsGreeting("token", 6))),
    ("ping", m.ClientPing(1)),
)
FROM_LOBBY: tuple[tuple[str, lobby.LobbyServerMessage], ...] = (
    (
        "welcome",
        lobby.LobbyWelcome(lobby.LobbyArrival(PERSON, "Ada", 1, (1_700_000_000_000, 0), LIST)),
    ),
    (
        "patch",
        lobby.LobbyPatch({"rooms": {"QJXKZB": {"taken": 2, "names": ["Ada", "Bob"]}, "X": None}}),
    ),
    ("reset", lobby.LobbyReset({"rooms": {}, "more": 3})),
    ("paused", m.ServerPaused(True)),
    ("go", m.ServerGo(5000)),
    ("pong", m.ServerPong(1, (1_700_000_000_000, 0))),
    ("error", m.ServerError("too_many", {"retry_ms": 500}, "too much at once", "P-72")),
)
