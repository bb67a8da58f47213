"""Connections that end, and how a client goes on."""

from collections.abc import Callable
from functools import partial
from typing import Final

from towerhall_conformance.case import NotTriedError, expect
from towerhall_conformance.cases.all_cases import ALL, EVERY_BYTE
from towerhall_conformance.guest import Guest, Refusal
from towerhall_protocol.errors import CLOSES

PLACES: Final[tuple[tuple[str, Callable[[int], int]], ...]] = (
    ("its first byte", lambda size: 1),
    ("its head", lambda size: 2),
    ("its middle", lambda size: size // 2),
    ("its last byte", lambda size: size - 1),
)
LONGEST_FRAME: Final = 90
GOING_SECONDS: Final = 4.0
PAUSES: Final = 4
CALM_SECONDS: Final = 1.2
LEAST_PAUSES: Final = 0.1
"""Seconds. Random waits that double from 0.25 s are shorter once in thousands of times."""


@ALL("resume", "P-20 P-21 P-101", "After a break: the cursor, the missed frames, and new offers.")
async def resume(guest: Guest) -> None:
    link = await guest.enter()
    await guest.turn(link)
    await link.cut()
    link = await guest.come_back()
    await link.send(*(guest.table.frame(None, [1]) for _ in range(3)))
    await guest.turn(link)
    await link.cut()
    await guest.finish(await guest.come_back())


@ALL("cursor of empty frames", "P-20", "Every frame moves the cursor, empty ones too.")
async def empty_frames(guest: Guest) -> None:
    link = await guest.enter()
    await link.send(guest.table.frame({}), guest.table.frame({"room": {"deal": 1}}))
    await link.ping(guest.patience.answer)
    await link.cut()
    await guest.finish(await guest.come_back())


@ALL("cut while sending", "P-26 P-42", "A command without an answer comes again, as it was.")
async def cut_while_sending(guest: Guest) -> None:
    link = await guest.enter()
    await guest.turn(link)
    command = await guest.asked(link)
    for _ in range(2):
        await link.cut()
        link = await guest.come_back()
        await guest.again(link, command)
    await guest.do(link, command)
    await guest.finish(link)


@ALL(
    "done before the break",
    "P-21 P-26 P-46",
    "The missed frame is the answer.",
)
async def done_before(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    await link.cut()
    link = await guest.return_to_now()
    await guest.welcome(link, whole=False)
    await link.send(guest.table.frame(None, [0, guest.conduct.origin, command.n]))
    # A client that reads on before it sends has nothing to send again.
    copy = await guest.perhaps(link, guest.patience.answer)
    expect(copy is None or copy == command, "P-26", "another command came than the unanswered one")
    await link.send(guest.duplicate(command))
    await guest.turn(link)
    await guest.finish(link)


@ALL("answered before the break", "P-26", "What was answered is not sent again.")
async def answered_before(guest: Guest) -> None:
    link = await guest.enter()
    for _ in range(3):
        await guest.turn(link)
    await link.ping(guest.patience.answer)
    await link.cut()
    link = await guest.come_back()
    await guest.silent(link, "P-26", "it sent a command that was answered")
    await guest.finish(link)


@ALL("no welcome", "P-16 P-26", "A connection without a welcome: nothing is sent on it.")
async def no_welcome(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    await link.cut()
    link = await guest.return_to_now()
    await guest.silent(link, "P-16", "it sent a command before welcome")
    await link.cut()
    link = await guest.come_back()
    await guest.again(link, command)
    await guest.do(link, command)
    await guest.finish(link)


@ALL("snapshot instead of frames", "P-22 P-20", "A welcome with a view replaces view and cursor.")
async def snapshot(guest: Guest) -> None:
    link = await guest.enter()
    await guest.turn(link)
    await link.ping(guest.patience.answer)
    await link.cut()
    link = await guest.return_to_now()
    for _ in range(7):
        guest.table.frame(None, [1])
    guest.table.base = "conformance.3"
    guest.table.view["game"].pop("gone")
    await guest.welcome(link, whole=True)
    await guest.turn(link)
    await link.cut()
    await guest.finish(await guest.come_back())


@ALL("whole view at once", "P-22 P-26", "A whole view with a command under way: it comes again.")
async def whole_view(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    await link.cut()
    link = await guest.come_back(whole=True)
    await guest.again(link, command)
    await link.send(guest.duplicate(command))
    await guest.turn(link)
    await link.cut()
    await guest.finish(await guest.come_back())


@ALL("reset", "P-27 P-26 P-20", "In the middle: another view and cursor, and commands come again.")
async def reset(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    for _ in range(4):
        guest.table.frame(None, [1])
    guest.table.base = "conformance.4"
    guest.conduct.is_synced()
    await link.send(guest.table.reset())
    await guest.again(link, command)
    await guest.do(link, command)
    await guest.turn(link)
    await link.cut()
    await guest.finish(await guest.come_back())


@ALL(
    "lost in the middle",
    "P-23 P-27",
    "The log goes on from an earlier seq.",
)
async def lost_in_the_middle(guest: Guest) -> None:
    link = await guest.enter()
    for _ in range(3):
        await guest.turn(link)
    guest.table.move_back(2)
    guest.conduct.is_synced()
    await link.send(guest.table.reset(2))
    await guest.turn(link)
    await link.cut()
    await guest.finish(await guest.come_back())


@ALL("lost over a break", "P-23 P-22", "A welcome with `lost`: the past of the client is void.")
async def lost_over_a_break(guest: Guest) -> None:
    link = await guest.enter()
    for _ in range(3):
        await guest.turn(link)
    await link.ping(guest.patience.answer)
    await link.cut()
    link = await guest.return_to_now()
    guest.table.move_back(2)
    await guest.welcome(link, whole=True, lost=2)
    await guest.turn(link)
    await link.cut()
    await guest.finish(await guest.come_back())


async def cut_a_frame(guest: Guest, at: Callable[[int], int]) -> None:
    """A frame of which only a part arrives never counts."""
    link = await guest.enter()
    await guest.turn(link)
    await link.ping(guest.patience.answer)
    frame = link.bytes_of(guest.table.peek())
    if at(len(frame)) >= len(frame):
        raise NotTriedError("the frame has fewer bytes")
    await link.write(frame[: at(len(frame))])
    await link.cut()
    link = await guest.come_back()
    await link.send(guest.table.frame(None, [1]))
    await guest.finish(link)


def cut_after(size: int, byte: int) -> int:
    return byte


for place, at in PLACES:
    ALL.add(
        f"frame cut at {place}",
        "P-6 P-20 P-21",
        "A frame that was cut off did not come: the cursor is that of the frame before.",
        partial(cut_a_frame, at=at),
    )
for byte in range(1, LONGEST_FRAME):
    EVERY_BYTE.add(
        f"frame cut after {byte} bytes",
        "P-6 P-20 P-21",
        "The same at every byte.",
        partial(cut_a_frame, at=partial(cut_after, byte=byte)),
    )


@ALL("go", "P-96 P-21", "The server is about to stop: the client comes back by itself, in time.")
async def go(guest: Guest) -> None:
    link = await guest.enter()
    await guest.turn(link)
    await link.send(["go", 300])
    try:
        await link.gone(GOING_SECONDS)
    except TimeoutError:
        guest.notes.append("P-96 (SHOULD): it stayed until the server closed")
        await link.close(CLOSES["restart"].code, "restart")
    await guest.finish(await guest.come_back())


@ALL("refused over HTTP", "P-101 P-72", "A refused handshake with `Retry-After`, and then none.")
async def refused(guest: Guest) -> None:
    guest.refusals += [Refusal(503, 1), Refusal(429, 1)]
    link = await guest.enter()
    await guest.finish(link)


@ALL("backoff", "P-101", "A server that hangs up again and again is not asked without a pause.")
async def backoff(guest: Guest) -> None:
    pauses = 0.0
    link = await guest.arrive()
    # Cases that run at the same time shall not look like pauses.
    await guest.silent(link, "P-16", "it did not wait for welcome", seconds=CALM_SECONDS)
    for _ in range(PAUSES):
        await link.cut()
        cut = guest.now()
        link = await guest.arrive()
        pauses += guest.handshakes[-1] - cut
    why = f"it came back {PAUSES} times after {pauses * 1000:.0f} ms in all"
    expect(pauses >= LEAST_PAUSES, "P-101", why)
    await guest.welcome(link, whole=True)
    await guest.finish(link)


@ALL("slow server", "P-16 P-3", "A welcome that takes its time, and a frame byte by byte.")
async def slow(guest: Guest) -> None:
    link = await guest.arrive()
    await guest.silent(link, "P-16", "it did not wait for welcome", seconds=1)
    await guest.welcome(link, whole=True)
    for byte in link.bytes_of(guest.table.frame(None, [1])):
        await link.write(bytes((byte,)))
    await guest.finish(link)
