"""The parameters of each room command, as a union of structs that `command` tags (P-50).

A parameter that a command does not have is refused: the log would keep it, and the sender
meant something by it. Parameters whose form depends on the game or the room are checked by the
handler; here they are `object`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec.structs import FieldInfo

from towerhall_server.game import Rejected

NAME_LENGTH: Final = 40
"""Characters of an unknown parameter's name that the refusal repeats."""

SeatNumber = Annotated[int, msgspec.Meta(description="a whole number")]
Truth = Annotated[bool, msgspec.Meta(description="true or false")]
Nonce = Annotated[
    str,
    # The last character holds 4 bits: the other two must be 0.
    msgspec.Meta(
        description="32 bytes as base64url", pattern=r"^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]\Z"
    ),
]
PersonId = Annotated[
    str,
    msgspec.Meta(
        description="11 characters, as the room names people", pattern=r"^[A-Za-z0-9_-]{11}\Z"
    ),
]


WholeId = Annotated[
    str,
    # As above: the last character holds 4 bits. Such an id can be turned into an alias and back.
    msgspec.Meta(
        description="8 bytes as base64url, as ids of people are",
        pattern=r"^[A-Za-z0-9_-]{10}[AEIMQUYcgkosw048]\Z",
    ),
]


class Parameters(msgspec.Struct, frozen=True, tag_field="command"):
    """`None` stands for a parameter that was left out, or that is null (P-10)."""


class Sit(Parameters, frozen=True, tag="sit"):
    seat: SeatNumber | None = None
    nonce: Nonce | None = None
    """The hash of a nonce for the next deal."""


class Stand(Parameters, frozen=True, tag="stand"):
    pass


class Rename(Parameters, frozen=True, tag="rename"):
    pass


class Ready(Parameters, frozen=True, tag="ready"):
    ready: Truth | None = None
    nonce: Nonce | None = None
    """The hash of another nonce for the next deal."""


class Start(Parameters, frozen=True, tag="start"):
    pass


class Open(Parameters, frozen=True, tag="open"):
    nonce: Nonce


class AddBot(Parameters, frozen=True, tag="add_bot"):
    level: object = None
    seat: SeatNumber | None = None


class RemoveBot(Parameters, frozen=True, tag="remove_bot"):
    seat: SeatNumber


class Kick(Parameters, frozen=True, tag="kick"):
    seat: SeatNumber


class SetOptions(Parameters, frozen=True, tag="set_options"):
    options: object = None
    turn_seconds: object = None
    bot_delay_ms: object = None
    beat_ms: object = None
    bot_accounts: object = None
    rated: object = None


class Admit(Parameters, frozen=True, tag="admit"):
    id: PersonId


class Invite(Parameters, frozen=True, tag="invite"):
    id: WholeId


class Mute(Parameters, frozen=True, tag="mute"):
    seat: SeatNumber | None = None
    id: PersonId | None = None


class Unmute(Parameters, frozen=True, tag="unmute"):
    seat: SeatNumber | None = None
    id: PersonId | None = None


class Leave(Parameters, frozen=True, tag="leave"):
    level: object = None


class TakeBack(Parameters, frozen=True, tag="take_back"):
    pass


class CallBot(Parameters, frozen=True, tag="call_bot"):
    seat: SeatNumber


class Resign(Parameters, frozen=True, tag="resign"):
    pass


class WantEnd(Parameters, frozen=True, tag="want_end"):
    wanted: Truth | None = None


class Rematch(Parameters, frozen=True, tag="rematch"):
    pass


P = TypeVar("P", bound=Parameters)


def name_of(kind: type[Parameters]) -> str:
    """The command that has these parameters."""
    return str(kind.__struct_config__.tag)


def read_parameters(kind: type[P], body: Mapping[str, Any], clause: str) -> P | Rejected:
    """The parameters in the body of a command. A wrong form is refused by the command's clause."""
    refusal = _wrong_names(kind, body)
    if refusal is not None:
        return refusal
    try:
        return msgspec.convert(body, kind)
    except msgspec.ValidationError:
        return _wrong_form(kind, body, clause)


@cache
def _fields(kind: type[Parameters]) -> tuple[FieldInfo, ...]:
    """The fields of a command. msgspec resolves their types anew at each call, which leaves cycles
    behind that only a garbage collection frees."""
    return msgspec.structs.fields(kind)


def _wrong_names(kind: type[Parameters], body: Mapping[str, Any]) -> Rejected | None:
    """The refusal of a parameter that is missing or unknown; `None` if there is none."""
    fields = _fields(kind)
    given = {name for name, value in body.items() if value is not None} - {"command"}
    for name in sorted({field.name for field in fields if field.required} - given):
        return _bad("P-50", f"{name} is missing")
    for name in sorted(given - {field.name for field in fields}):
        return _bad("P-50", f"{name_of(kind)} has no {name[:NAME_LENGTH]}")
    return None


def _wrong_form(kind: type[Parameters], body: Mapping[str, Any], clause: str) -> Rejected:
    """The refusal that names the first parameter of the wrong form, and the right form."""
    for field in _fields(kind):
        try:
            msgspec.convert(body.get(field.name, field.default), field.type)
        except msgspec.ValidationError:
            return _bad(clause, f"{field.name} is {_form(field.type)}")
    raise ValueError(f"{name_of(kind)} is refused without a wrong parameter")


def _form(kind: object) -> str:
    """The right form in words, from the description at the type."""
    parts = (kind, *getattr(kind, "__args__", ()))
    metas = [meta for part in parts for meta in getattr(part, "__metadata__", ())]
    return str(metas[0].description)


def _bad(clause: str, detail: str) -> Rejected:
    return Rejected("bad_command", clause, {"detail": detail})
