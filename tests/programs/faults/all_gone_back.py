"""The store comes back as an older copy of itself, with everything: not the logs of rooms alone.

Right before each fault, and after the copy, rooms are made, links used, requests answered, people
banned and sent to quick matches. Nodes live on. Afterwards each of these is asked for once more, at
every node: nothing is used twice, nothing that a live node knows is lost.
"""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from time import monotonic
from typing import Any, Final

import msgspec

from tests.end_to_end.raw import Answer, ask, bearer
from tests.operators.processes import ACME_KEY
from tests.operators.receiver import SECRET, Receiver, receiver
from tests.programs.bench.report import Figure
from tests.programs.faults.crowd import Size
from tests.programs.faults.habits import Habits
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, Stage, stage

TITLE: Final = "an older copy of everything is restored under load"
USUAL: Final = "1 minute"
PUT_BACK: Final = 3
"""Rooms that are made for each fault besides those of players: an operator's, a guest's, and one
for a quick match."""
RETRIES: Final = 40
RETRY_SECONDS: Final = 0.1
TOLD_SECONDS: Final = 5.0
BACK_SECONDS: Final = 0.5
"""The least for players who were dropped to be in their rooms again."""
PATIENCE_SECONDS: Final = 20.0


class Facts(msgspec.Struct):
    """What was done between the copy and the fault."""

    number: int
    made: dict[str, Any]
    """The answer to the operator's request."""
    guest: str
    """The code of the guest's room."""
    quick: str
    """The code of the room to which a person was sent."""
    links: tuple[str, ...]
    """Used before the fault. The copy holds the first one as it was before."""
    banned: str
    lifted: str


class Outside:
    """Those who ask by HTTP: an operator and guests. Each request is made at one of the nodes."""

    def __init__(self, on: Stage) -> None:
        self._on = on
        self.nodes = range(len(on.rig.nodes))
        self.wrong: Counter[str] = Counter()
        """What was used twice or lost."""

    async def ask(
        self, at: int, method: str, path: str, body: object = None, **headers: str
    ) -> Answer:
        """Ask until the store answers."""
        url = f"http://{self._on.rig.nodes[at].address}"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        for _ in range(RETRIES):
            answer = await asyncio.to_thread(ask, url, method, path, body, named)
            if answer.status < 500:
                break
            await asyncio.sleep(RETRY_SECONDS)
        return answer

    async def operator(
        self, at: int, method: str, path: str, body: object = None, **headers: str
    ) -> Answer:
        named = bearer(ACME_KEY) | headers
        return await self.ask(at, method, f"/v1/operator{path}", body, **named)

    async def order(self, at: int, number: int) -> Answer:
        """A room under an idempotency key."""
        seats = [{"external_id": f"{name} {number}", "name": name} for name in ("Ada", "Ben")]
        body = {"game": "five_towers", "seats": seats}
        return await self.operator(
            at, "POST", "/rooms", body, idempotency_key=f"order {number}".replace(" ", "-")
        )

    async def link(self, at: int) -> str:
        made = await self.ask(at, "POST", "/v1/me/links", {}, **bearer(self._on.crowd.token()))
        return str(made.document["link"]).rpartition("/")[2]

    async def use(self, at: int, link: str) -> bool:
        return (await self.ask(at, "POST", "/v1/links", {"code": link})).status == 201

    async def quick(self, at: int) -> str:
        body = {"game": "five_towers", "seats": 2, "turn_seconds": 600}
        token = self._on.crowd.token()
        found = await self.ask(at, "POST", "/v1/quickplay", body, **bearer(token))
        return str(found.document["code"])

    async def guest_room(self, at: int) -> str:
        token = self._on.crowd.token()
        made = await self.ask(at, "POST", "/v1/rooms", {"game": "five_towers"}, **bearer(token))
        return str(made.document["code"])

    async def ban(self, at: int, name: str) -> str:
        answer = await self.operator(at, "POST", "/bans", {"external_id": name})
        return str(answer.document["id"])

    async def room(self, at: int, code: str) -> Answer:
        """A room that was closed, at the latest after some seconds. One node has made it, and puts
        that back; another one has closed it, and puts this back a little later."""
        deadline = monotonic() + TOLD_SECONDS
        while True:
            state = await self.operator(at, "GET", f"/rooms/{code}")
            right = state.status == 200 and "closed" in state.document
            if right or monotonic() > deadline:
                return state
            await asyncio.sleep(RETRY_SECONDS)

    async def knows_bans(self, at: int, facts: Facts) -> bool:
        """Whether a node lists the ban and not the lifted one, at the latest after some seconds."""
        deadline = monotonic() + TOLD_SECONDS
        while True:
            listed = (await self.operator(at, "GET", "/bans")).document["bans"]
            banned = {ban["id"] for ban in listed}
            right = facts.banned in banned and facts.lifted not in banned
            if right or monotonic() > deadline:
                return right
            await asyncio.sleep(RETRY_SECONDS)

    def expect(self, what: str, *, right: bool) -> None:
        self.wrong[what] += not right


async def run(order: Order) -> Outcome:
    faults = order.of(1, 10)
    async with AsyncExitStack() as stack:
        hook = await stack.enter_async_context(receiver())
        told = {
            "TOWERHALL_OPERATOR_KEYS": f"acme:{ACME_KEY}",
            "TOWERHALL_WEBHOOKS": f"acme:{hook.url}",
            "TOWERHALL_WEBHOOK_SECRETS": f"acme:{SECRET.decode()}",
            "TOWERHALL_LIMIT_OPERATOR_REQUESTS": "1000/s burst 1000",
        }
        size = Size(rooms=order.of(3, 6), keep=True)
        habits = Habits(think_seconds=0.3, retry_seconds=0.02, retry_most_seconds=0.2)
        on = await stack.enter_async_context(
            stage(
                "all_gone_back", order, size=size, habits=habits, told=dict.fromkeys(range(3), told)
            )
        )
        shown, outside = on.progress(faults), Outside(on)
        for number in range(1, faults + 1):
            await _fault(on, outside, hook, number)
            shown.show(number)
        shown.done()
        put_back = "".join(node.log for node in on.rig.nodes).count("which is put back")
        wrong = ", ".join(f"{count} {what}" for what, count in outside.wrong.items() if count)
        figures = (
            Figure("rooms that were put back", put_back, "", at_least=PUT_BACK * faults),
            Figure("facts used twice or lost", sum(outside.wrong.values()), "", at_most=0,
                   note=wrong or f"of {', '.join(outside.wrong)}"),
        )  # fmt: skip
        return await on.finish(figures)


async def _fault(on: Stage, outside: Outside, hook: Receiver, number: int) -> None:
    store = on.rig.store
    copy, discarded = on.rig.folder / f"copy{number}", on.rig.folder / f"discarded{number}"
    here, there = outside.nodes[0], outside.nodes[-1]
    first = await outside.link(here)
    lifted = await outside.ban(here, f"lifted {number}")
    store.copy_to(copy)
    await on.crowd.open(1)
    facts = await _do(outside, number, first, lifted)
    await outside.operator(there, "POST", f"/rooms/{facts.made['code']}/close", {})
    _drop_all(on)
    await asyncio.sleep(BACK_SECONDS)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not all(player.up or player.sent_away for player in on.crowd):  # noqa: ASYNC110
            await asyncio.sleep(RETRY_SECONDS)
    tick = await on.hit("go_back")
    await store.kill()
    store.copy_to(discarded)
    store.become(copy)
    on.losses.append(tick)
    on.discarded.append(discarded)
    await store.start()
    _drop_all(on)
    await _judge(outside, facts)
    await _judge_webhook(outside, hook, facts.made["uid"])


def _drop_all(on: Stage) -> None:
    """Every player comes back on a new connection, which has to be newer than the old one."""
    for player in tuple(on.crowd):
        player.drop()


async def _do(outside: Outside, number: int, first: str, lifted: str) -> Facts:
    """All of it happens after the copy was made."""
    here, there = outside.nodes[0], outside.nodes[-1]
    second = await outside.link(there)
    facts = Facts(
        number=number,
        made=(await outside.order(here, number)).document,
        guest=await outside.guest_room(there),
        quick=await outside.quick(here),
        links=(first, second),
        banned=await outside.ban(here, f"banned {number}"),
        lifted=lifted,
    )
    await outside.operator(there, "DELETE", f"/bans/{lifted}")
    for link in facts.links:
        assert await outside.use(here, link)
    # Each node reads the list of bans once a second.
    await asyncio.sleep(1.2)
    for at in outside.nodes:
        await outside.knows_bans(at, facts)
    return facts


async def _judge(outside: Outside, facts: Facts) -> None:
    """Everything is asked for once more."""
    for at in outside.nodes:
        for link in facts.links:
            outside.expect("links", right=not await outside.use(at, link))
        again = await outside.order(at, facts.number)
        outside.expect("answers", right=again.document == facts.made)
        state = await outside.room(at, facts.made["code"])
        outside.expect("rooms", right=state.status == 200 and "closed" in state.document)
        names = {seat.get("external_id") for seat in state.document.get("seats", ())}
        expected = {f"{name} {facts.number}" for name in ("Ada", "Ben")}
        outside.expect("accounts", right=names == expected)
        guest = await outside.ask(at, "GET", f"/v1/rooms/{facts.guest}")
        outside.expect("rooms", right=guest.status == 200)
    await asyncio.sleep(1.2)
    for at in outside.nodes:
        outside.expect("bans", right=await outside.knows_bans(at, facts))
    outside.expect("quick matches", right=await outside.quick(outside.nodes[-1]) == facts.quick)


async def _judge_webhook(outside: Outside, hook: Receiver, uid: str) -> None:
    """The end of the room is told, however often: always as the same delivery."""

    def told() -> list[Any]:
        rooms = [each.document for each in hook.taken]
        return [each for each in rooms if each["room"]["uid"] == uid]

    await hook.until(told, TOLD_SECONDS)
    ids = {(each["kind"], each["id"]) for each in told()}
    outside.expect("deliveries", right=[kind for kind, _ in ids] == ["abandoned"])
