"""Sitting down and the shuffle: for clients that take part in them."""

from typing import Any, Final

from towerhall_conformance.case import NotTriedError, expect
from towerhall_conformance.cases.all_cases import ALL
from towerhall_conformance.conduct import Command
from towerhall_conformance.guest import Guest
from towerhall_conformance.link import Link
from towerhall_conformance.table import UID, YOU
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.fairness import nonce_hash

SITTING_SECONDS: Final = 3.0


async def seated(guest: Guest) -> tuple[Link, Command]:
    """A waiting room, in which the client has taken a seat by itself."""
    link = await guest.enter("waiting")
    sit = await guest.perhaps(link, SITTING_SECONDS)
    if sit is None:
        raise NotTriedError("it plays from offers, and sits down in no waiting room")
    expect(sit.name == "sit", "P-56", f"a watcher gave the command {sit.name}")
    expect(sit.tag == "", "P-43", "a command to the room has a tag")
    holder: dict[str, Any] = {"name": "Ada", "id": YOU}
    if "nonce" in sit.body:
        holder["nonce"] = "sealed"
    patch = {"room": {"seats": {"0": holder}, "host": 0}}
    await answer(guest, link, sit, patch, seat=-1)
    guest.table.seat = 0
    await link.send(["seat", 0])
    return link, sit


async def answer(
    guest: Guest, link: Link, command: Command, patch: dict[str, Any], seat: int = 0
) -> None:
    guest.conduct.is_answered(command.n)
    cause = [seat, guest.conduct.origin, command.n]
    await link.send(guest.table.frame(patch, cause))


async def sealed(guest: Guest, link: Link, shown: str) -> str:
    """The deal is sealed; the client opens the nonce of that hash, which is returned."""
    deal = guest.table.view["room"].get("deal", 0) + 1
    patch = {"room": {"status": "sealed", "deal": deal, "seats": {"0": {"ready": None}}}}
    await link.send(guest.table.frame(patch, [1], ["sealed", deal, [shown, ""]]))
    opening = await next_named(guest, link, "open", "P-54")
    nonce = opening.body.get("nonce")
    expect(isinstance(nonce, str), "P-54", "`open` has no nonce")
    found = base64url(nonce_hash(UID, from_base64url(str(nonce))))
    expect(found == shown, "P-81", "the nonce does not belong to the hash that it gave")
    patch = {"room": {"seats": {"0": {"nonce": "open"}}}}
    await answer(guest, link, opening, patch)
    return str(nonce)


async def next_named(guest: Guest, link: Link, name: str, clause: str) -> Command:
    """The next command of that name. Others before it are done as they are."""
    while True:
        command = await guest.command(link, clause)
        if command.name == name:
            return command
        expect(command.name == "ready", "P-50", f"{command.name} came where {name} is due")
        await answer(guest, link, command, {"room": {"seats": {"0": {"ready": True}}}})


@ALL("join", "P-51 P-43 P-56", "A waiting room: the client sits down and plays.")
async def join(guest: Guest) -> None:
    link, _ = await seated(guest)
    ready = await guest.perhaps(link, guest.patience.answer)
    if ready is not None:
        expect(ready.name == "ready", "P-50", f"{ready.name} came after `sit`")
        await answer(guest, link, ready, {"room": {"seats": {"0": {"ready": True}}}})
    status = {"room": {"status": "playing"}, "game": {"count": 0, "kept": {}}}
    await link.send(guest.table.frame(status, [1], ["dealt", 1]))
    await guest.turn(link)
    await guest.finish(link)


@ALL("nonce", "P-54 P-81 P-82", "A sealed nonce is opened when the deal is sealed, and not before.")
async def nonce(guest: Guest) -> None:
    link, shown = await hashed(guest)
    await sealed(guest, link, shown)
    status = {"room": {"status": "playing"}, "game": {"count": 0, "kept": {}}}
    await link.send(guest.table.frame(status, [], ["dealt", 1]))
    await guest.turn(link)
    await guest.finish(link)


@ALL("nonce over a break", "P-54 P-81 P-26", "The connection breaks while the deal is sealed.")
async def nonce_over_a_break(guest: Guest) -> None:
    link, shown = await hashed(guest)
    await link.cut()
    link = await guest.come_back()
    await sealed(guest, link, shown)
    status = {"room": {"status": "playing"}, "game": {"count": 0, "kept": {}}}
    await link.send(guest.table.frame(status, [], ["dealt", 1]))
    await guest.finish(link)


@ALL("second deal", "P-81 P-83", "After a cancelled deal: another nonce, given with `ready`.")
async def second_deal(guest: Guest) -> None:
    link, shown = await hashed(guest)
    first = await sealed(guest, link, shown)
    gone = {"0": {"nonce": None, "ready": None}}
    cancelled = {"room": {"status": "waiting", "seats": gone}}
    await link.send(guest.table.frame(cancelled, [], ["deal_cancelled", 1, [1]]))
    ready = await guest.perhaps(link, guest.patience.answer)
    if ready is None or "nonce" not in ready.body:
        raise NotTriedError("it gives no nonce for the second deal")
    expect(ready.body["nonce"] != shown, "P-81", "it showed the hash of the first deal again")
    given = {"room": {"seats": {"0": {"ready": True, "nonce": "sealed"}}}}
    await answer(guest, link, ready, given)
    second = await sealed(guest, link, ready.body["nonce"])
    expect(second != first, "P-81", "it used a nonce for two deals")
    status = {"room": {"status": "playing"}, "game": {"count": 0, "kept": {}}}
    await link.send(guest.table.frame(status, [], ["dealt", 2]))
    await guest.finish(link)


async def hashed(guest: Guest) -> tuple[Link, str]:
    """A seat that takes part in the shuffle, and the hash that it gave last."""
    link, sit = await seated(guest)
    shown = sit.body.get("nonce", "")
    ready = await guest.perhaps(link, guest.patience.answer)
    if ready is not None:
        expect(ready.name == "ready", "P-81", f"{ready.name} came before the deal was sealed")
        shown = ready.body.get("nonce", shown)
        holder: dict[str, Any] = {"ready": True} | ({"nonce": "sealed"} if shown else {})
        await answer(guest, link, ready, {"room": {"seats": {"0": holder}}})
    if not shown:
        raise NotTriedError("it plays without a nonce, which it may")
    expect(len(str(shown)) == 43, "P-12", f"the hash of its nonce is {shown!r}")
    return link, str(shown)
