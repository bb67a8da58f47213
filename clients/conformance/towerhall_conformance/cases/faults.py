"""Servers that break the protocol: a client connects again without a cursor (P-25)."""

from towerhall_conformance.cases.all_cases import ALL
from towerhall_conformance.guest import Guest


@ALL("gap", "P-25 P-26", "A frame is missing: the client asks for everything.")
async def gap(guest: Guest) -> None:
    link = await guest.enter()
    await guest.turn(link)
    command = await guest.asked(link)
    guest.table.frame(None, [1])
    await link.send(guest.table.frame(None, [1]))
    link = await guest.faulted(link, "P-25", "it went on over a missing frame", play_on=False)
    await guest.again(link, command)
    await guest.do(link, command)
    await guest.finish(link)


@ALL("frame of the past", "P-25", "A frame with an earlier seq.")
async def past(guest: Guest) -> None:
    link = await guest.enter()
    for _ in range(3):
        await guest.turn(link)
    old = ["frame", 2, guest.table.mark, [1], [], {"game": {"count": 1}}]
    await link.send(old)
    await guest.faulted(link, "P-25", "it went on after a frame of the past")


@ALL("second welcome", "P-25", "A welcome in the middle of a connection.")
async def second_welcome(guest: Guest) -> None:
    link = await guest.enter()
    await guest.turn(link)
    await link.send(guest.table.welcome(whole=True))
    await guest.faulted(link, "P-25", "it took a second welcome")


@ALL("frame before welcome", "P-25", "A frame before the welcome.")
async def frame_before_welcome(guest: Guest) -> None:
    link = await guest.enter()
    await guest.turn(link)
    await link.ping(guest.patience.answer)
    await link.cut()
    link = await guest.return_to_now()
    await link.send(guest.table.frame(None, [1]))
    await guest.faulted(link, "P-25", "it took a frame before welcome")


@ALL("offers before welcome", "P-25", "Offers before the welcome.")
async def offers_before_welcome(guest: Guest) -> None:
    link = await guest.enter()
    await guest.turn(link)
    await link.ping(guest.patience.answer)
    await link.cut()
    link = await guest.return_to_now()
    await link.send(guest.table.offers())
    await guest.faulted(link, "P-25", "it took offers before welcome")


@ALL("welcome from elsewhere", "P-21 P-25", "A welcome without a view that names another cursor.")
async def elsewhere(guest: Guest) -> None:
    link = await guest.enter()
    await guest.turn(link)
    await link.ping(guest.patience.answer)
    await link.cut()
    link = await guest.return_to_now()
    guest.table.frame(None, [1])
    guest.conduct.is_synced()
    await link.send(guest.table.welcome(whole=False))
    await guest.faulted(link, "P-25", "it went on from a cursor that was not its own")


@ALL("welcome to nowhere", "P-21 P-25", "A welcome without a view to a client that has none.")
async def nowhere(guest: Guest) -> None:
    link = await guest.arrive()
    guest.conduct.is_synced()
    await link.send(guest.table.welcome(whole=False))
    await guest.faulted(link, "P-25", "it went on without a view")


@ALL("early errors", "P-25", "`error` and `pong` before the welcome are no faults.")
async def early(guest: Guest) -> None:
    link = await guest.arrive()
    await link.send(["error", "malformed_message", {"detail": "x"}, "send an array"])
    await link.send(["pong", 0, [1700000000000, 5000]])
    await guest.welcome(link, whole=True)
    await guest.finish(link)
