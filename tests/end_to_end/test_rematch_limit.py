"""Rooms by rematch and rooms over HTTP are counted together, whichever server makes them."""

import secrets
from pathlib import Path

from tests.end_to_end.raw import Raw, ask, bearer, inside, new_guest, new_room
from tests.end_to_end.servers import LIMITS, running
from tests.eventlog.conftest import engine_url, redis

__all__ = ["engine_url", "redis"]

TWO = {"TOWERHALL_LIMIT_ROOMS_PER_IDENTITY": "2/h burst 2"}


async def begin_and_end(raw: Raw) -> None:
    """A game against a bot that the only person in it gives up at once."""
    await raw.done("sit")
    await raw.done("add_bot")
    await raw.done("start")
    await raw.done("want_end")


async def test_a_rematch_counts_like_any_other_room(
    engine_url: str, redis: object, tmp_path: Path
) -> None:
    limits = LIMITS | TWO | {"TOWERHALL_TOKEN_KEYS": secrets.token_urlsafe(32)}
    store = ("--redis-url", engine_url)
    with (
        running(tmp_path / "a", *store, limits=limits) as a,
        running(tmp_path / "b", *store, limits=limits) as b,
    ):
        token = new_guest(a.url)
        code = new_room(a.url, token, seats=2, bot_delay_ms=10_000)["code"]
        async with inside(b.url, code, token) as raw:
            await begin_and_end(raw)
            frame = await raw.done("rematch")
        again = frame[5]["room"]["rematch"]
        refused = ask(a.url, "POST", "/v1/rooms", {"game": "five_towers"}, bearer(token))
        assert (refused.status, refused.code) == (429, "too_many")
        async with inside(a.url, again, token) as raw:
            await raw.done("sit")
            await raw.done("start")
            await raw.done("want_end")
            name, _, code, rule, params, hint = await raw.answer(await raw.command("rematch"))
            assert (name, code, rule) == ("rejected", "too_many", "P-59")
            assert 0 < params["retry_ms"] <= 1_800_000
            assert str(params["retry_ms"]) in hint
