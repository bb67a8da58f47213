"""Commands (NT 12): their shapes, and the phases in which a seat may give them (NT 6)."""

from typing import TypeAlias

import msgspec

from towerhall_protocol.plain_faults import said
from towerhall_server.game import BAD_COMMAND, DETAIL_LENGTH, Rejected, Seat
from towerhall_server.games.nikitin_towers.rejections import rejected
from towerhall_server.games.nikitin_towers.state import State, to_act


class _Command(msgspec.Struct, frozen=True, tag_field="command", forbid_unknown_fields=True):
    pass


class Roll(_Command, frozen=True, tag="roll"):
    pass


class Choose(_Command, frozen=True, tag="choose"):
    block: str


class Place(_Command, frozen=True, tag="place"):
    shape: str
    x: int
    y: int
    z: int | msgspec.UnsetType = msgspec.UNSET
    """The expected resting height of the block. A command with another height is refused."""


class GiveBack(_Command, frozen=True, tag="give_back"):
    pass


class RunOut(_Command, frozen=True, tag="run_out"):
    """The time of the seat is up."""


CLOCK_COMMANDS = frozenset({"run_out"})

Command: TypeAlias = Roll | Choose | Place | GiveBack | RunOut
_COMMANDS: dict[str, tuple[type[Command], tuple[str, ...]]] = {
    "roll": (Roll, ("roll",)),
    "choose": (Choose, ("choose",)),
    "place": (Place, ("place",)),
    "give_back": (GiveBack, ("place",)),
    "run_out": (RunOut, ("choose", "place")),
}
"""The shape of each command, and the phases in which it may be given."""


def read(state: State, seat: Seat, command: object) -> Command | Rejected:
    """The command, if this seat may give one of its kind now."""
    name = command.get("command") if isinstance(command, dict) else None
    known = _COMMANDS.get(name) if isinstance(name, str) else None
    if known is None:
        return rejected(BAD_COMMAND, detail=f"its name must be one of {', '.join(_COMMANDS)}")
    shape, phases = known
    try:
        wanted: Command = msgspec.convert(command, type=shape)
    except (msgspec.ValidationError, UnicodeError) as error:
        return rejected(BAD_COMMAND, detail=said(error)[:DETAIL_LENGTH])
    if state.phase not in phases:
        return rejected("wrong_phase", phase=state.phase)
    acting = to_act(state)[0]
    if type(seat) is not int or seat != acting:  # `True` and `1.0` equal 1, but are no seats
        return rejected("not_your_turn", turn=acting)
    return wanted
