"""The outcomes of a command: done, refused, a duplicate, or nothing yet."""

from towerhall_conformance.case import expect
from towerhall_conformance.cases.all_cases import ALL
from towerhall_conformance.conduct import Command
from towerhall_conformance.guest import Guest
from towerhall_conformance.link import Link


async def after_refusal(guest: Guest, link: Link, refused: Command) -> None:
    """A refused client may try another number at once, or wait for new offers."""
    another = await guest.perhaps(link)
    if another is None:
        await link.send(guest.table.frame(None, [0]))
        another = await guest.asked_later(link)
    expect(another.n > refused.n, "P-42", "the number of a refused command was used again")
    await guest.do(link, another)
    await guest.finish(link)


@ALL("rejected", "P-45 P-42", "A refusal: the next command has a new number.")
async def rejected(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    await link.send(guest.rejected(command, "not_playing"))
    await after_refusal(guest, link, command)


@ALL("unknown code", "P-103", "A refusal and an error whose codes are of a later level.")
async def unknown_code(guest: Guest) -> None:
    link = await guest.enter()
    await link.send(["error", "of_a_later_level", {"what": 1}, "Something is different."])
    command = await guest.asked(link)
    await link.send(guest.rejected(command, "of_a_later_level"))
    await after_refusal(guest, link, command)


@ALL("duplicate after frame", "P-46 P-132", "A second answer, and answers to no command.")
async def duplicate_after_frame(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    await link.send(
        guest.done(command),
        guest.duplicate(command),
        ["duplicate", 900, 1],
        ["accepted", 901, {}],
        ["rejected", 902, "stale", "P-42", {}, "This came too late."],
    )
    await guest.turn(link)
    await guest.finish(link)


@ALL("duplicate before frame", "P-46 P-26", "A duplicate means success: no command is sent again.")
async def duplicate_before_frame(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    seq = guest.table.seq + 1
    await link.send(guest.duplicate(command, seq), guest.done(command))
    await guest.do(link, await guest.asked_later(link))
    await link.cut()
    await guest.finish(await guest.come_back())


@ALL("duplicate frame", "P-25", "A frame that comes twice is a fault of the server.")
async def duplicate_frame(guest: Guest) -> None:
    link = await guest.enter()
    frame = guest.table.frame(None, [1])
    await link.send(frame, frame)
    await guest.faulted(link, "P-25", "it went on after a frame that came twice")


@ALL("paused", "P-95 P-26", "A room that is paused keeps the command, and answers it later.")
async def paused(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    await link.send(["paused", True])
    await link.send(["error", "store_unavailable", {}, "keep the commands and try again soon"])
    await guest.silent(link, "P-95", "it sent while the room was paused")
    await link.send(["paused", False])
    await guest.silent(link, "P-95", "it sent again after a pause")
    await guest.do(link, command)
    await guest.finish(link)


@ALL("searching", "P-48", "A command that waits in a queue is not answered.")
async def searching(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    await link.send(["searching", command.n, 2], ["searching", command.n, 0])
    await guest.silent(link, "P-48", "it took `searching` for an answer")
    await link.cut()
    link = await guest.come_back()
    await guest.again(link, command)
    await guest.do(link, command)
    await guest.finish(link)


@ALL("turned away as too many", "P-44", "The command waits for a pong, and is then sent again.")
async def too_many(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    guest.conduct.must_wait_above = command.n
    n = {"most": 8, "n": command.n}
    await link.send(["error", "too_many_unanswered", n, "wait for answers"])
    await guest.silent(link, "P-44", "it sent before another answer or a pong")
    guest.conduct.sent_here.clear()
    guest.conduct.must_wait_above = None
    await link.send(["pong", guest.table.seq, [1700000000000, 6000]])
    await guest.again(link, command)
    await guest.do(link, command)
    await guest.finish(link)


@ALL("answer in another's frame", "P-31", "A frame of another origin is no answer.")
async def of_another(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    other = "AAAAAAAAAAA"
    await link.send(guest.table.frame(None, [1, other, command.n]))
    await link.cut()
    link = await guest.come_back()
    await guest.again(link, command)
    await link.send(guest.rejected(command))
    await guest.finish(link)
