"""Stores for pushes, and a push service that is believed."""

from collections.abc import AsyncIterator

import pytest

from tests.eventlog.conftest import engine_url, log, redis
from tests.operators.certificates import Authority
from tests.push.double import PushService, push_service

__all__ = ["engine_url", "log", "redis"]


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("push") / "ours")


@pytest.fixture
async def service(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PushService]:
    """A push service with a certificate that this process believes."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.path))
    async with push_service(authority.server("DNS:localhost")) as running:
        yield running
