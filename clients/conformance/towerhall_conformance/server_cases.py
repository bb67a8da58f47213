"""The cases for servers, in order. Limits are tried only where no one else notices."""

import hashlib
from typing import Any, Final

from websockets.exceptions import InvalidHandshake

from towerhall_conformance.case import BrokenError, Cases, expect
from towerhall_conformance.host import Host, Peer, any_of
from towerhall_conformance.merge import merged, same
from towerhall_protocol import codec
from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.errors import CLOSES
from towerhall_protocol.fairness import nonce_hash
from towerhall_protocol.level import JSON, LEVEL, MSGPACK

ALL: Final = Cases[Host]()
MOVES: Final = 4
NOWHERE: Final = "ZZZZZZ"
OTHER: Final = "b3JpZ2luMTI"
"""The origin of a second client in a room."""


@ALL("games", "P-113 P-130", "The list of games, and the levels that the server speaks.")
async def games(host: Host) -> None:
    answer = await host.ask("GET", "/v1/games")
    expect(answer.status == 200, "P-113", f"GET /v1/games answers {answer.status}")
    expect(answer.document.get("games"), "P-113", "there is no game")
    levels = answer.document.get("level", {})
    low, high = levels.get("oldest"), levels.get("newest")
    expect(type(low) is int and type(high) is int, "P-113", f"the levels are {levels}")
    expect(low <= LEVEL, "P-130", f"it serves no level below {low}")


@ALL("refusals over HTTP", "P-102 P-110 P-111", "Each has its status, a code and a hint.")
async def refusals(host: Host) -> None:
    token = await host.token()
    for status, code, method, path, body, its_token in (
        (401, "unauthorized", "POST", "/v1/rooms", {"game": "x"}, ""),
        (401, "unauthorized", "POST", "/v1/rooms", {"game": "x"}, "none"),
        (404, "not_found", "GET", "/v1/of_a_later_level", None, ""),
        (405, "method_not_allowed", "DELETE", "/v1/games", None, ""),
        (400, "bad_request", "POST", "/v1/guests", b"{", ""),
        (400, "bad_request", "POST", "/v1/guests", b'{"name":"A","name":"B"}', ""),
        (404, "unknown_game", "POST", "/v1/rooms", {"game": "of_a_later_level"}, token),
    ):
        answer = await host.ask(method, path, body, its_token)
        what = f"{method} {path} answers {answer}"
        expect(answer.status == status, "P-111", f"{what}, not {status}")
        expect(isinstance(answer.document, dict), "P-111", what)
        error = answer.document.get("error", {})
        expect(error.get("code") == code, "P-102", f"{what}, not {code}")
        expect(set(error) >= {"code", "params", "hint"}, "P-111", what)


@ALL("subprotocols", "P-1 P-2", "The first of the client's list is taken.")
async def subprotocols(host: Host) -> None:
    code = (await host.room())["code"]
    for offered in ((MSGPACK, JSON), (JSON, MSGPACK), ("of.a.later.level", JSON)):
        async with host.socket(code, offered) as peer:
            wanted = next(each for each in offered if each in (MSGPACK, JSON))
            expect(peer.subprotocol == wanted, "P-1", f"it took {peer.subprotocol} of {offered}")
    try:
        async with host.socket(code, ("of.a.later.level",)) as peer:
            expect(peer.subprotocol is None, "P-1", "it took a subprotocol that was not offered")
    except InvalidHandshake:
        return


@ALL("hello and welcome", "P-13 P-16 P-17 P-20 P-22 P-99", "A newcomer gets the whole view.")
async def welcome(host: Host) -> None:
    room = await host.room()
    async with host.socket(room["code"]) as peer:
        await peer.hello(await host.token())
        message = await peer.receive()
        expect(message[0] == "welcome", "P-17", f"{message[0]} came before welcome")
        arrival = message[1]
        for key, kind in {
            "you": str, "name": str, "level": int, "now": list, "cursor": list, "view": dict,
        }.items():  # fmt: skip
            expect(type(arrival.get(key)) is kind, "P-17", f"{key} is {arrival.get(key)!r}")
        view = arrival["view"]["room"]
        expect(view["uid"] == room["uid"], "P-61", "the view has another uid")
        expect(view["commitment"] == room["commitment"], "P-80", "another commitment")
        if min(LEVEL, arrival["level"]) >= 4:
            expect(arrival["chain"][0] >= arrival["cursor"][1], "P-17", "an older chain")


@ALL("hello expected", "P-16 P-71", "A message before hello, and a second hello.")
async def hello_expected(host: Host) -> None:
    code = (await host.room())["code"]
    async with host.socket(code) as peer:
        await peer.send(["chat", "too early"])
        await peer.error("hello_expected", "P-16")
        await peer.hello(await host.token())
        await peer.until("welcome", clause="P-16")
        await peer.hello(await host.token())
        await peer.error("hello_expected", "P-16")


async def turned_away(host: Host, code: str, name: str, token: str, **more: Any) -> None:
    async with host.socket(code) as peer:
        await peer.hello(token, **more)
        await peer.error(name, "P-18")
        await peer.closed(CLOSES[name].code, name, "P-101")


@ALL(
    "turned away",
    "P-18 P-24 P-101",
    "No token, no room, no level, a wrong cursor.",
)
async def no_welcome(host: Host) -> None:
    token, code = await host.token(), (await host.room())["code"]
    await turned_away(host, code, "unauthorized", "none")
    await turned_away(host, NOWHERE, "unauthorized", "none")
    await turned_away(host, NOWHERE, "room_gone", token)
    await turned_away(host, code, "level_too_old", token, level=0)
    async with host.inside((await host.room())["code"]) as peer:
        elsewhere = peer.cursor
    await turned_away(host, code, "room_gone", token, cursor=elsewhere)


@ALL("private room", "P-18 P-115", "A wrong key is answered as if there were no such room.")
async def private(host: Host) -> None:
    room = await host.room(private=True)
    await turned_away(host, room["code"], "room_gone", await host.token("Ben"), key="wrong")
    async with host.inside(room["code"], "Ben", key=room["key"]) as peer:
        expect(peer.view, "P-17", "the right key does not open the room")


@ALL("messages that make no sense", "P-2 P-5 P-11 P-42 P-70 P-71 P-102", "Each has its code.")
async def nonsense(host: Host) -> None:
    deep: Any = 1
    for _ in range(12):
        deep = [deep]
    async with host.inside((await host.room())["code"]) as peer:
        for code, data in (
            ("malformed_message", b"\xc1"),
            ("malformed_message", codec.encode({"name": "hello"})),
            ("malformed_message", codec.encode(["chat", 1])),
            ("unknown_message", codec.encode(["of_a_later_level", 1])),
            ("number_out_of_range", b"\x92\xa4ping\xcf" + b"\xff" * 8),
            ("nested_too_deep", codec.encode(["chat", deep])),
            ("wrong_frame_type", '["ping",1]'),
            ("bad_number", codec.encode(["command", 0, "", {"command": "sit"}])),
        ):
            await peer.send_raw(data)
            await peer.error(code, "P-102")


@ALL("too much nonsense", "P-71 P-101", "Many invalid messages close the connection.")
async def too_much(host: Host) -> None:
    async with host.inside((await host.room())["code"], "Ben") as peer:
        for _ in range(60):
            await peer.send(["of_a_later_level"])
        await peer.closed(CLOSES["bad_message"].code, "bad_message", "P-71")


@ALL("too large a message", "P-70 P-101", "A message beyond the limit closes the connection.")
async def too_large(host: Host) -> None:
    async with host.inside((await host.room())["code"], "Ben") as peer:
        await peer.send_raw(b"x" * 5000)
        await peer.closed(CLOSES["message_too_large"].code, "message_too_large", "P-70")


@ALL("further items", "P-5", "A server passes over items and keys that it does not know.")
async def further(host: Host) -> None:
    code = (await host.room())["code"]
    async with host.socket(code) as peer:
        await peer.hello(await host.token(), of_a_later_level={"a": 1})
        await peer.until("welcome")
        await peer.send(["ping", 1, "more", {"a": 1}])
        pong = await peer.until("pong", clause="P-94")
        expect(pong[1] == 1, "P-94", f"a ping of 1 was answered {pong}")
        answer = await peer.command(1, "", {"command": "sit", "of_a_later_level": 1})
        expect(answer[2] == "bad_command", "P-50", f"an unknown parameter: {answer}")


@ALL(
    "refused commands",
    "P-40 P-45 P-50 P-56 P-102",
    "Each has its code, and a clause.",
)
async def refused(host: Host) -> None:
    code = (await host.room())["code"]
    async with host.inside(code) as ada, host.inside(code, "Ben") as ben:
        await ada.command(1, "", {"command": "sit", "seat": 1})
        for peer, n, name, body in (
            (ada, 2, "already_seated", {"command": "sit"}),
            (ada, 3, "no_such_seat", {"command": "add_bot", "seat": 9}),
            (ada, 4, "seats_free", {"command": "start"}),
            (ada, 5, "bad_command", {"command": "add_bot", "seat": "0"}),
            (ada, 6, "not_playing", {"command": "of_a_game"}),
            (ada, 7, "not_sealed", {"command": "open", "nonce": "A" * 43}),
            (ben, 50, "origin_taken", {"command": "sit"}),
        ):
            answer = await peer.command(n, "", body)
            expect(answer[:3] == ["rejected", n, name], "P-102", f"{body}: {answer}, not {name}")
            expect(
                isinstance(answer[3], str) and isinstance(answer[4], dict),
                "P-45",
                f"{answer} has not code, rule, params and hint",
            )


@ALL("duplicates and numbers", "P-42 P-43 P-46", "A command is done once, and old numbers never.")
async def duplicates(host: Host) -> None:
    async with host.playing() as (_, peer):
        offers = await host.turn(peer)
        body = any_of(offers)
        late = await peer.command(10, "wrong tag", body)
        expect(late[:3] == ["rejected", 10, "stale"], "P-43", f"a wrong tag: {late}")
        done = await peer.command(11, offers[2], body)
        expect(done[0] == "frame", "P-37", f"an offered command was answered {done}")
        again = await peer.command(11, offers[2], body)
        expect(again == ["duplicate", 11, done[1]], "P-46", f"a second copy: {again}")
        old = await peer.command(5, "", {"command": "ready"})
        expect(old[:3] == ["rejected", 5, "stale"], "P-42", f"an old number: {old}")


@ALL("dry run", "P-47", "A dry run is accepted, and changes nothing.")
async def dry(host: Host) -> None:
    async with host.playing() as (_, peer):
        offers = await host.turn(peer)
        seq = peer.cursor[1]
        answer = await peer.command(20, offers[2], any_of(offers), True)
        expect(answer[:2] == ["accepted", 20], "P-47", f"a dry run was answered {answer}")
        expect(peer.cursor[1] == seq, "P-47", "a dry run made a commit")


@ALL("resume at every cursor", "P-20 P-21 P-22 P-33 P-90", "From each commit to the same view.")
async def resume(host: Host) -> None:
    async with host.playing() as (code, peer):
        for n in range(30, 30 + MOVES):
            offers = await host.turn(peer)
            await peer.command(n, offers[2], any_of(offers))
            await host.turn(peer)
        cursors = [[peer.cursor[0], *frame[1:3]] for frame in peer.frames]
        last, frames = peer.cursor[1], {frame[1]: frame for frame in peer.frames}
        views = await _views(peer, last)
        for cursor in cursors:
            await _resume(host, code, cursor, views, frames, last)


async def _views(peer: Peer, last: int) -> dict[int, dict[str, Any]]:
    """The view after each commit, from history."""
    views: dict[int, dict[str, Any]] = {0: {}}
    while max(views) < last:
        first = max(views) + 1
        await peer.send(["history", first, last])
        page = (await peer.until("history", clause="P-90"))[1]
        expect(page and page[0][1] == first, "P-90", f"a page from {first} is {page!r:.80}")
        for frame in page:
            views[frame[1]] = merged(views[frame[1] - 1], frame[5])
    expect(same(views[last], peer.view), "P-33", "history leads to another view than frames")
    return views


async def _resume(
    host: Host,
    code: str,
    cursor: list[Any],
    views: dict[int, dict[str, Any]],
    frames: dict[int, Any],
    last: int,
) -> None:
    async with host.socket(code) as peer:
        peer.view = views[cursor[1]]
        await peer.hello(await host.token(), cursor=cursor)
        arrival = (await peer.until("welcome", clause="P-17"))[1]
        expect("lost" not in arrival, "P-23", f"{arrival.get('lost')} commits are lost")
        if "view" not in arrival:
            expect(arrival["cursor"] == cursor, "P-21", f"it goes on from {arrival['cursor']}")
        while peer.cursor[1] < last:
            frame = await peer.until("frame", clause="P-21")
            if frame[1] in frames:
                expect(frame == frames[frame[1]], "P-21", f"frame {frame[1]} is another one now")
        expect(same(peer.view, views[last]), "P-33", f"from {cursor[1]} on there is another view")
        offers = await peer.until("offers", clause="P-17")
        expect(offers[1] == last, "P-36", f"the offers follow {offers[1]}, not {last}")


@ALL("twins", "P-2 P-30 P-97", "Both subprotocols tell the same.")
async def twins(host: Host) -> None:
    code = (await host.room())["code"]
    async with host.inside(code) as one, host.socket(code, (JSON,)) as other:
        await other.hello(await host.token("Ben"))
        await other.until("welcome")
        expect(same(one.view, other.view), "P-2", "the views differ")
        await one.command(1, "", {"command": "sit"})
        expect(await other.until("frame") == one.frames[-1], "P-2", "the frames differ")


@ALL("one connection for a seat", "P-91 P-101", "The newest one has the seat.")
async def replaced(host: Host) -> None:
    code = (await host.room())["code"]
    async with host.inside(code) as old:
        await old.command(1, "", {"command": "sit"})
        async with host.inside(code):
            await old.closed(CLOSES["replaced"].code, "replaced", "P-91")


@ALL("chat and emotes", "P-93 P-98", "They come to all, the sender too; others are refused.")
async def chat(host: Host) -> None:
    code = (await host.room())["code"]
    async with host.inside(code) as ada, host.inside(code, "Ben") as ben:
        await ada.send(["chat", "  good \n evening ☺ "])
        for peer in (ada, ben):
            line = await peer.until("chat", clause="P-93")
            expect(line[4] == "good evening ☺", "P-93", f"the line came as {line[4]!r}")
        await ada.send(["chat", " "])
        await ada.error("bad_chat", "P-93")
        await ada.send(["emote", "of_a_later_level"])
        await ada.error("bad_emote", "P-98")
        await ada.send(["history", 900, 901])
        await ada.error("bad_range", "P-90")


@ALL("nonce", "P-54 P-80 P-81 P-82", "A deal waits for the nonce, and takes no other one.")
async def nonce(host: Host) -> None:
    room = await host.room()
    uid, drawn = from_base64url(room["uid"]), hashlib.sha256(room["uid"].encode()).digest()
    shown = base64url(nonce_hash(uid, drawn))
    async with host.inside(room["code"]) as peer:
        await peer.command(1, "", {"command": "sit", "nonce": shown})
        await peer.command(2, "", {"command": "add_bot"})
        sealed = await peer.command(3, "", {"command": "start"})
        expect(sealed[4][0][:1] == ["sealed"], "P-82", f"`start` led to {sealed}")
        expect(shown in sealed[4][0][2], "P-82", "the hash is not among those that were sealed")
        expect(peer.view["room"]["status"] == "sealed", "P-65", "the status is not sealed")
        wrong = await peer.command(4, "", {"command": "open", "nonce": "A" * 43})
        expect(wrong[2:3] == ["wrong_nonce"], "P-54", f"another nonce was answered {wrong}")
        opened = await peer.command(5, "", {"command": "open", "nonce": base64url(drawn)})
        if opened[0] != "frame":
            raise BrokenError("P-54", f"the nonce was answered {opened}")
        expect(peer.view["room"]["status"] == "playing", "P-54", "the last nonce did not deal")


@ALL("bot accounts", "P-57 P-102 P-157", "They sit where the host lets them, and are marked.")
async def bot_accounts(host: Host) -> None:
    account = await host.account()
    closed, opened = await host.room("Ben"), await host.room("Ben", bot_accounts=True)
    async with host.inside(closed["code"], "Deep") as deep:
        refused = await deep.command(1, "", {"command": "sit"})
        expect(refused[2:3] == ["no_bot_accounts"], "P-157", f"sitting led to {refused}")
    async with host.inside(opened["code"], "Deep") as deep:
        await deep.command(1, "", {"command": "sit"})
        holder = deep.view["room"]["seats"]["0"]
        expect(holder.get("bot_account") is True, "P-62", f"the seat is {holder}")
    body = {"game": host.game["name"]}
    quick = await host.ask("POST", "/v1/quickplay", body, account["token"])
    expect(quick.status == 403, "P-157", f"POST /v1/quickplay answers {quick}")


@ALL("events", "P-153 P-154 P-155 P-156", "Invitation, seat, turn and end, over one socket.")
async def events(host: Host) -> None:
    account = await host.account()
    code = (await host.room("Ben", private=True, bot_accounts=False))["code"]
    path, token = f"/v1/rooms/{code}/invitations", await host.token("Ben")
    async with (
        host.following(account["token"]) as told,
        host.inside(code, "Ben", origin=OTHER) as ben,
    ):
        expect(code not in told.list["rooms"], "P-155", f"a place came too early: {told.list}")
        invited = await host.ask("POST", path, {"id": account["id"]}, token)
        expect(invited.status == 201, "P-156", f"POST {path} answers {invited}")
        await told.shows(code, "P-155", invited=True)
        async with host.inside(code, "Deep") as deep:
            await deep.command(1, "", {"command": "sit"})
            await told.shows(code, "P-155", seat=0, status="waiting")
            await deep.command(2, "", {"command": "ready"})
            await ben.command(1, "", {"command": "sit"})
            await ben.command(2, "", {"command": "start"})
            await told.shows(code, "P-155", status="playing")
            await ben.command(3, "", {"command": "resign"})
            await told.shows(code, "P-155", status="over", closed="resigned")
    async with host.following(account["token"]) as told:
        await told.shows(code, "P-154", status="over")
        await told.send(["filter", {}])
        await told.error("unknown_message", "P-153")
        await told.send(["ping", 7])
        pong = await told.until("pong", clause="P-154")
        expect(pong[1] == 7, "P-154", f"a ping of 7 was answered {pong}")
