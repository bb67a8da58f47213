"""Greeting, playing from offers, and when offers end."""

from towerhall_conformance.case import expect
from towerhall_conformance.cases.all_cases import ALL
from towerhall_conformance.guest import Guest
from towerhall_conformance.table import FORMS


@ALL("hello", "P-1 P-2 P-5 P-13 P-16 P-130", "A first hello, and nothing more before welcome.")
async def hello(guest: Guest) -> None:
    link = await guest.arrive()
    expect(link.cursor is None, "P-16", "the first hello has a cursor")
    await guest.silent(link, "P-16", "it did not wait for welcome")
    await guest.welcome(link, whole=True)
    await guest.finish(link)


@ALL("offers", "P-37 P-38 P-42 P-43 P-11", "A command from offers of every form.")
async def offers(guest: Guest) -> None:
    link = await guest.enter()
    for offered in FORMS:
        await guest.turn(link, offered)
    await guest.turn(link, [offer for form in FORMS for offer in form])
    await guest.finish(link)


@ALL("numbers", "P-42 P-43", "Ten moves in a row, numbered upwards from 1.")
async def numbers(guest: Guest) -> None:
    link = await guest.enter()
    first = await guest.turn(link)
    expect(first <= 1, "P-42", f"the first command has the number {first}")
    for _ in range(9):
        await guest.turn(link)
    await guest.finish(link)


@ALL("watching", "P-36 P-39", "Frames without offers, and an empty list: there is nothing to do.")
async def watching(guest: Guest) -> None:
    link = await guest.enter()
    await link.send(guest.table.frame(None, [1]), guest.table.frame(None, [1]))
    await guest.silent(link, "P-36", "it moved without offers")
    await guest.offer(link, [])
    await guest.silent(link, "P-36", "it moved though the list was empty")
    await guest.finish(link)


@ALL("offers that became void", "P-39 P-43", "A frame of the game ends offers; a refusal follows.")
async def void_by_frame(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    await link.send(guest.table.frame(None, [0]), guest.rejected(command))
    await guest.silent(link, "P-39", "it played from offers that a frame had ended")
    await guest.finish(link)


@ALL("offers void by seat", "P-39 P-91", "The seat is lost, and comes back: offers end.")
async def void_by_seat(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    await link.send(["seat", -1], guest.rejected(command))
    await guest.silent(link, "P-39", "it played without a seat")
    await link.send(["seat", 0])
    await guest.finish(link)


@ALL("offers void by reset", "P-27 P-39", "A reset ends offers.")
async def void_by_reset(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    guest.conduct.is_synced()
    await link.send(guest.table.reset())
    await guest.again(link, command)
    await link.send(guest.rejected(command))
    await guest.silent(link, "P-39", "it played from offers that a reset had ended")
    await guest.finish(link)


@ALL("offers void by welcome", "P-22 P-39", "A welcome with a view ends offers.")
async def void_by_welcome(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    await link.cut()
    link = await guest.come_back(whole=True)
    await guest.again(link, command)
    await link.send(guest.rejected(command))
    await guest.silent(link, "P-39", "it played from offers of an earlier connection")
    await guest.finish(link)


@ALL("late offers", "P-39 P-132", "Offers that are older than the last change of the game.")
async def late_offers(guest: Guest) -> None:
    link = await guest.enter()
    late = guest.table.offers()
    await link.send(guest.table.frame(None, [1]), late)
    await guest.silent(link, "P-39", "it played from offers that came too late")
    await guest.finish(link)


@ALL("offers that last", "P-39", "A frame without a game part leaves offers and their tag valid.")
async def lasting(guest: Guest) -> None:
    link = await guest.enter()
    offered = guest.table.offers()
    await link.send(offered, guest.table.frame({"room": {"seats": {"1": {"name": "Ben"}}}}))
    command = await guest.move(link)
    await guest.do(link, command)
    await guest.finish(link)


@ALL("offers that are replaced", "P-36 P-43", "New offers take the place of an empty list.")
async def replaced(guest: Guest) -> None:
    link = await guest.enter()
    await link.send(guest.table.offers([]), guest.table.frame({"room": {"quick": True}}))
    command = await guest.asked(link, FORMS[1])
    await guest.do(link, command)
    await guest.finish(link)


@ALL("pings", "P-4 P-94", "The connection is asked for a sign of life.")
async def pings(guest: Guest) -> None:
    link = await guest.enter()
    for _ in range(3):
        try:
            await link.ping(guest.patience.answer)
        except TimeoutError:
            expect(False, "P-4", "a WebSocket ping got no pong")
    await link.send(["pong", 1, [1700000000000, 6000]])
    await guest.finish(link)
