"""A game of others, which has to go on undisturbed whatever strangers send."""

import asyncio
import random
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tests.end_to_end.games import seated
from towerhall_client.bot import play_bot, random_policy
from towerhall_client.http import Service
from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer

THINK_SECONDS = 0.01


class GameBeside:
    """Three people who play one game after the other, in a loop and a thread of their own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._enough = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._play()))
        self._fault: BaseException | None = None
        self.games = 0

    def __enter__(self) -> "GameBeside":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._thread.join()
        if self._fault is not None:
            raise self._fault

    async def _play(self) -> None:
        try:
            while not self.games or not self._enough.is_set():
                async with seated(Service(self._url), 3, keep_frames=True) as (_, tables):
                    await tables[0].start()
                    views = await asyncio.gather(
                        *(play_bot(table, self._policy(seat)) for seat, table in enumerate(tables))
                    )
                    assert all(view == views[0] for view in views)
                    assert [table.replay.view_at(table.seq) for table in tables] == views
                    self.games += 1
        except BaseException as fault:  # noqa: BLE001 - it is raised again where somebody looks
            self._fault = fault

    def _policy(self, seat: int) -> Any:
        choose = random_policy(random.Random(seat))

        def thoughtful(view: Document, offers: Sequence[Offer]) -> Mapping[str, Any]:
            # The loop is theirs alone, so they may all sleep; in the end they hurry.
            time.sleep(0 if self._enough.is_set() else THINK_SECONDS)
            return choose(view, offers)

        return thoughtful
