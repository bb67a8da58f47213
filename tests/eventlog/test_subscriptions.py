"""A subscription begins with reading, at once and not only when its silence becomes suspicious."""

import asyncio
from contextlib import aclosing

import pytest

from towerhall_server.eventlog import notifications
from towerhall_server.eventlog.notifications import Missed, listen


async def test_a_new_subscription_does_not_wait_for_silence_to_advise_reading(
    engine_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "DOUBT_SECONDS", 3600.0)
    async with aclosing(listen(engine_url, "me")) as heard:
        assert await asyncio.wait_for(anext(heard), timeout=5) == Missed()
