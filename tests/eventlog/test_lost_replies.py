"""One reply is lost and all else goes well: just the case in which a library would repeat."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as ConnectionLost

from tests.proxy.store import Proxy
from towerhall_server.store.check import connect


class LosesOne(Proxy):
    """Loses the next reply after `armed` is set, and none after that."""

    armed = False

    @property
    def lose_share(self) -> float:
        return 1.0 if self.armed and not self.lost else 0.0

    @lose_share.setter
    def lose_share(self, share: float) -> None:
        """The share follows from what was lost."""


async def test_the_client_does_not_send_again_though_it_could(
    engine_url: str, redis: Redis
) -> None:
    with TemporaryDirectory() as folder:
        shaky = LosesOne(engine_url, Path(folder) / "s")
        async with shaky.running(), connect(shaky.url) as client:
            await client.ping()
            shaky.armed = True
            with pytest.raises(ConnectionLost):
                await client.incr("counter")
            assert shaky.lost == 1
            assert await client.incr("counter") == 2, "once each"
    assert await redis.get("counter") == b"2"
