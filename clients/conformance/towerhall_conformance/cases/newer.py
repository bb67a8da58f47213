"""Servers of later and earlier levels, and messages as large as they may be."""

from typing import Any

from towerhall_conformance.cases.all_cases import ALL
from towerhall_conformance.guest import Guest

LARGE = 900_000
"""Bytes of a view that a client should read (P-70)."""


@ALL("unknown message", "P-5 P-132", "Messages that no client knows yet.")
async def unknown_message(guest: Guest) -> None:
    link = await guest.enter()
    await link.send(["of_a_later_level", {"a": [1, None]}], ["another"])
    await guest.turn(link)
    await guest.finish(link)


@ALL("unknown fact", "P-32", "Facts that no client knows yet, and one without fields.")
async def unknown_fact(guest: Guest) -> None:
    link = await guest.enter()
    await link.send(guest.table.frame(None, [1], ["of_a_later_level", {"a": 1}, [2]], ["another"]))
    command = await guest.asked(link)
    await guest.do(link, command, ["of_a_later_level", 1])
    await guest.finish(link)


@ALL("unknown field", "P-5 P-132", "Further items of arrays, and further keys of maps.")
async def unknown_field(guest: Guest) -> None:
    more: dict[str, Any] = {"of_a_later_level": {"a": 1}}
    link = await guest.enter(**more)
    await link.send([*guest.table.frame(None, [1]), "more", more])
    await link.send(["presence", [0], 2, [0, 0], more], ["paused", False, more])
    await link.send(["pong", 1, [1700000000000, 6000], 1], ["chain", 16, "A" * 43, "", "", more])
    offers = guest.table.offers([{"command": "pass", **more}])
    await link.send([*offers, more])
    command = await guest.move(link)
    await link.send([*guest.done(command), more])
    await link.cut()
    await guest.finish(await guest.come_back(**more))


@ALL("longer cause", "P-5 P-31", "A cause with a further item still answers the command.")
async def longer_cause(guest: Guest) -> None:
    link = await guest.enter()
    command = await guest.asked(link)
    guest.conduct.is_answered(command.n)
    await link.send(guest.table.frame(None, [0, guest.conduct.origin, command.n, "more"]))
    await guest.turn(link)
    await link.cut()
    await guest.finish(await guest.come_back())


@ALL("talk", "P-91 P-92 P-93 P-98 P-99", "Presence, chat, emotes and chains change nothing.")
async def talk(guest: Guest) -> None:
    link = await guest.enter()
    chat = ["chat", "1-0", "Ada", 0, "<b>good</b> evening ☺", 1700000000000, "cGVyc29uMDE"]
    await link.send(chat, chat, ["emote", "Ada", 0, "of_a_later_level", "cGVyc29uMDE"])
    await link.send(["presence", [], 0], ["chain", 16, "A" * 43])
    await guest.turn(link)
    await link.cut()
    await guest.finish(await guest.come_back())


@ALL("earlier level", "P-130", "A server of level 1: no later messages, and chat without an id.")
async def earlier_level(guest: Guest) -> None:
    link = await guest.enter(level=1)
    await link.send(["chat", "1-0", "Ada", 0, "hello", 1700000000000], ["presence", [0], 1])
    await guest.silent(link, "P-130", "it moved without offers")
    await guest.finish(link)


@ALL("later level", "P-130", "A server of a level that the client does not speak.")
async def later_level(guest: Guest) -> None:
    link = await guest.enter(level=99)
    await guest.turn(link)
    await guest.finish(link)


@ALL("large view", "P-70", "A view of 900 kB, and deep maps in it.")
async def large_view(guest: Guest) -> None:
    link = await guest.arrive()
    game = guest.table.view["game"]
    game["large"] = {f"k{n}": ["x" * 1000] * 9 for n in range(LARGE // 9000)}
    deep: object = 1
    for _ in range(11):
        deep = {"d": deep}
    game["deep"] = deep
    await guest.welcome(link, whole=True)
    await link.send(guest.table.frame({"game": {"large": None}}))
    await guest.turn(link)
    await guest.finish(link)


@ALL("history unasked", "P-90", "A large page of history moves neither view nor cursor.")
async def history(guest: Guest) -> None:
    link = await guest.enter()
    await guest.turn(link)
    page = [
        ["frame", seq, f"9{seq:010}", [1], [["passed", 1]], {"game": {"count": 900 + seq}}]
        for seq in range(1, 101)
    ]
    await link.send(["history", page, 250])
    await guest.turn(link)
    await link.cut()
    await guest.finish(await guest.come_back())
