"""Each wrong use of a store is told with its remedy, by real engines; right uses are taken."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.pages import text
from tests.sockets import HOST, free_port
from tests.store.engines import KINDS
from tests.store.several import USUAL, Engine, authority_in, flags_of, sentinel, tls_of, until
from tests.store.wrong_uses import USES, WrongUse, table
from towerhall_server.eventlog.keys import SHARDS
from towerhall_server.eventlog.log import EventLog
from towerhall_server.store.check import UnfitStoreError
from towerhall_server.store.remedies import FULL_COVERAGE, OPEN_COVERAGE
from towerhall_server.store.startup import examine


class Engines(dict[str, Engine]):
    """By the names that `wrong_uses` uses."""

    authority: Path

    def filled(self, text: str) -> str:
        for name, each in self.items():
            text = text.replace(f"{name}.example", f"{HOST}:{each.port}")
        return text


@pytest.fixture(scope="module", params=KINDS)
def engines(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engines]:
    kind: str = request.param
    folder = tmp_path_factory.mktemp("engines")
    made = Engines()

    def add(name: str, **settings: str) -> Engine:
        made[name] = Engine(kind, folder / name, *flags_of(USUAL | settings))
        return made[name]

    plain = add("plain")
    add("guarded", requirepass="pw")
    add("replica", replicaof=f"{HOST} {plain.port}")
    for name in ("member", "slotless"):
        port = free_port(2)
        of_cluster = {"cluster-enabled": "yes", "cluster-port": str(port + 1)}
        made[name] = Engine(kind, folder / name, *flags_of(USUAL | of_cluster), port=port)
    add("evicting", **{"maxmemory-policy": "allkeys-lru"})
    made["sentinel"] = sentinel(kind, folder / "sentinel", plain.port)
    with ExitStack() as stack:
        for name, each in made.items():
            stack.callback(each.kill)
            each.start(password="pw" if name == "guarded" else None)
        made["member"].ask("CLUSTER", "ADDSLOTSRANGE", 0, 16_383)
        plain.ask("ACL", "SETUSER", "poor", "on", ">pw", "-@all")
        until(lambda: b"cluster_state:ok" in made["member"].ask("CLUSTER", "INFO"))
        until(lambda: made["replica"].ask("ROLE")[3] == b"connected")
        if kind == "redis":
            made.authority = authority_in(folder / "authority")
            made["tls"] = _with_tls(folder / "tls", made.authority)
            port = free_port(2)
            of_cluster = {"cluster-enabled": "yes", "cluster-port": str(port + 1)}
            of_cluster |= {"tls-cluster": "yes"}
            made["secured"] = _with_tls(folder / "secured", made.authority, port, **of_cluster)
            for name in ("tls", "secured"):
                stack.callback(made[name].kill)
                made[name].start()
            made["secured"].ask("CLUSTER", "ADDSLOTSRANGE", 0, 16_383)
            until(lambda: b"cluster_state:ok" in made["secured"].ask("CLUSTER", "INFO"))
        yield made


def _with_tls(folder: Path, authority: Path, port: int = 0, **more: str) -> Engine:
    """The bundled Valkey is built without TLS."""
    settings = USUAL | tls_of(authority) | more
    return Engine("redis", folder, *flags_of(settings), port=port, tls=authority)


@pytest.mark.parametrize("use", USES, ids=lambda use: use.done.replace(" ", "-"))
async def test_a_wrong_use_is_told_with_its_remedy(use: WrongUse, engines: Engines) -> None:
    if "tls.example" in use.url and "tls" not in engines:
        # Valkey's wheel has no TLS: the run on Redis tries it.
        assert engines["plain"].kind == "valkey"
        return
    with pytest.raises(UnfitStoreError) as refused:
        await examine(engines.filled(use.url))
    assert str(refused.value) == engines.filled(use.told)


def test_the_documentation_has_the_same_table() -> None:
    assert table() in text("docs/stores.md"), "python -m tests.store.wrong_uses prints it"


@pytest.mark.parametrize(
    "url",
    [
        "redis://plain.example",
        "redis://plain.example/3",
        "redis://:pw@guarded.example",
        "redis+cluster://member.example",
        "redis+cluster://slotless.example,member.example/0",
        "redis+sentinel://sentinel.example/towers",
        "redis+sentinel://plain.example,sentinel.example/towers/2",
        "rediss://tls.example?ssl_ca_certs=AUTHORITY",
        "rediss+cluster://secured.example?ssl_ca_certs=AUTHORITY",
    ],
)
async def test_each_right_form_is_taken(url: str, engines: Engines) -> None:
    if url.startswith("rediss"):
        if "tls" not in engines:
            return
        url = url.replace("AUTHORITY", str(engines.authority))
    assert (await examine(engines.filled(url))).split()[0] == engines["plain"].kind
    async with EventLog(engines.filled(url)) as log:
        assert set(await log.beat_all()) == set(range(SHARDS))


async def test_what_a_lost_primary_stops_is_told_of_a_cluster(
    engines: Engines, caplog: pytest.LogCaptureFixture
) -> None:
    member = engines["member"]
    for value, told in (("yes", FULL_COVERAGE), ("no", OPEN_COVERAGE)):
        member.ask("CONFIG", "SET", "cluster-require-full-coverage", value)
        caplog.clear()
        with caplog.at_level(logging.INFO):
            await examine(engines.filled("redis+cluster://member.example"))
        assert told in caplog.text
    caplog.clear()
    with caplog.at_level(logging.INFO):
        await examine(engines.filled("redis://plain.example"))
    assert "coverage" not in caplog.text
