"""Every close: may the client come back?"""

from functools import partial

from towerhall_conformance.cases.all_cases import ALL
from towerhall_conformance.guest import Guest
from towerhall_protocol.errors import CLOSES

UNLISTED = 4999


async def may_return(guest: Guest, code: int, name: str) -> None:
    """It comes back by itself, with its cursor, and plays on."""
    link = await guest.enter()
    await guest.turn(link)
    await link.ping(guest.patience.answer)
    await link.close(code, name)
    await guest.finish(await guest.come_back())


async def may_not_return(guest: Guest, code: int, name: str) -> None:
    """It stays away."""
    link = await guest.enter()
    await guest.turn(link)
    if code >= 4000 and name != "replaced":
        await link.send(["error", name, {}, "for people"])
    await link.close(code, name)
    await guest.nobody_comes("P-101", f"it came back by itself after {code} {name}")


for name, close in CLOSES.items():
    ALL.add(
        f"close {close.code} {name}",
        "P-91 P-101" if name == "replaced" else "P-24 P-101" if name == "room_gone" else "P-101",
        f"May reconnect: {'yes' if close.may_reconnect else 'no'}.",
        partial(may_return if close.may_reconnect else may_not_return, code=close.code, name=name),
    )
ALL.add(
    f"close {UNLISTED}",
    "P-101",
    "A number that is not listed counts as going_away.",
    partial(may_return, code=UNLISTED, name="of_a_later_level"),
)


@ALL("refused at the door", "P-18 P-101", "No welcome, but an error and a close: it stays away.")
async def refused_at_the_door(guest: Guest) -> None:
    link = await guest.arrive()
    await link.send(["error", "level_too_old", {"oldest": 90, "newest": 99}, "update this client"])
    await link.close(CLOSES["level_too_old"].code, "level_too_old")
    await guest.nobody_comes("P-101", "it came back though its level is too old")


@ALL("busy at the door", "P-18 P-101", "`busy` with `retry_ms` before the welcome: it comes back.")
async def busy_at_the_door(guest: Guest) -> None:
    link = await guest.arrive()
    await link.send(["error", "busy", {"retry_ms": 200}, "too many connections"])
    await link.close(CLOSES["busy"].code, "busy")
    await guest.finish(await guest.enter())
