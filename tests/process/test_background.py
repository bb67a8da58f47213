"""What lasts as long as the server begins again after a fault."""

import asyncio

import pytest

from towerhall_server.process import background as module
from towerhall_server.process.background import in_background


async def test_a_fault_is_noted_and_what_met_it_begins_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.0)
    begun, third = 0, asyncio.Event()

    async def run() -> None:
        nonlocal begun
        begun += 1
        if begun < 3:
            raise ValueError("unheard of")
        third.set()
        await asyncio.Event().wait()

    task = in_background("beat", run)
    await asyncio.wait_for(third.wait(), 5)
    assert task.get_name() == "beat"
    assert [record.message for record in caplog.records] == ["beat failed and is restarted"] * 2
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_has_nothing_to_do_may_end() -> None:
    async def run() -> None:
        pass

    await asyncio.wait_for(in_background("webhooks", run), 5)
