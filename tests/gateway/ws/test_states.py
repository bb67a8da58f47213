"""The tables of states and events: each leads somewhere, and none leads back from the end."""

from typing import get_args

import pytest

from towerhall_protocol.codec import FROM_CLIENT
from towerhall_protocol.lobby import LobbyClientMessage
from towerhall_protocol.messages import ClientMessage
from towerhall_server.access.rates import Limits
from towerhall_server.gateway.ws.lobby_session import LobbySession
from towerhall_server.gateway.ws.session import Session
from towerhall_server.gateway.ws.states import LOBBY, ROOM, BudgetSpent, Closed, State, Transitions

STATES: tuple[State, ...] = get_args(State)
each_table = pytest.mark.parametrize(
    ("table", "messages"),
    [(ROOM, get_args(ClientMessage)), (LOBBY, get_args(LobbyClientMessage))],
    ids=["room", "lobby"],
)


@each_table
def test_each_message_has_one_state_in_which_it_happens(
    table: Transitions, messages: tuple[type[object], ...]
) -> None:
    for message in messages:
        assert sum(message in events for events in table.values()) == 1, message
    assert {event for events in table.values() for event in events} == {
        *messages,
        BudgetSpent,
        Closed,
    }


@each_table
def test_no_state_leads_back(table: Transitions, messages: tuple[type[object], ...]) -> None:
    assert tuple(table) == STATES
    for state, events in table.items():
        assert all(STATES.index(after) >= STATES.index(state) for after in events.values())
    assert not table["over"]


@each_table
def test_each_state_ends_by_a_close_and_by_bad_messages(
    table: Transitions, messages: tuple[type[object], ...]
) -> None:
    for state in STATES[:-1]:
        assert table[state][Closed] == table[state][BudgetSpent] == "over"


@pytest.mark.parametrize("kind", [Session, LobbySession])
@pytest.mark.parametrize("state", STATES)
def test_a_session_may_be_closed_twice(
    kind: type[Session] | type[LobbySession], state: State
) -> None:
    made = kind(Limits(), FROM_CLIENT, text=False)
    made.state = state
    made.close()
    made.close()
    assert made.state == "over"
