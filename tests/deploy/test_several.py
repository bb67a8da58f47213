"""The profiles of the compose file, as plain processes: the same flags and files, with places of
this machine. Engines follow each other, a sentinel replaces the primary, and nodes make a cluster,
as a user with few rights; rooms are written as the user of servers."""

import asyncio
import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import RedisError

from tests.deploy.files import SECRETS, make_secrets, placed, services
from tests.eventlog.logs import grow
from tests.sockets import HOST, free_port
from tests.store.several import Engine, until
from towerhall_server.eventlog.log import EventLog
from towerhall_server.store.errors import StoreError

STORES = ("store", "store-2", "store-3")
SENTINELS = ("sentinel-1", "sentinel-2", "sentinel-3")
NODES = ("node-1", "node-2", "node-3")
SHELL = ["sh", "-c"]
PATIENCE_SECONDS = 20.0


def words_of(name: str) -> list[str]:
    words: list[str] = [str(word) for word in services()[name]["command"]]
    return words


def members(profile: str) -> dict[str, dict[str, Any]]:
    return {n: each for n, each in services().items() if profile in each.get("profiles", ())}


def test_each_profile_has_its_engines_and_they_differ_in_nothing_but_names() -> None:
    assert set(members("sentinel")) == {*STORES[1:], *SENTINELS}
    assert set(members("cluster")) == {f"node-{n}" for n in range(1, 7)} | {"cluster"}
    for names in (STORES[1:], SENTINELS, [f"node-{n}" for n in range(1, 7)]):
        alike = []
        for name in names:
            service = dict(services()[name])
            assert service.pop("hostname") == name
            assert service.pop("volumes") == [f"{name}:/data"]
            alike.append(service)
        assert all(each == alike[0] for each in alike)
    assert words_of("cluster")[3:] == [f"node-{n}" for n in range(1, 7)]
    assert set(services()["cluster"]["depends_on"]) == {f"node-{n}" for n in range(1, 7)}


def test_all_engines_keep_what_they_say() -> None:
    for name in (*STORES, "node-1"):
        flags = words_of(name)
        for flag, value in {
            "--appendonly": "yes",
            "--appendfsync": "always",
            "--maxmemory-policy": "noeviction",
            "--save": "",
            "--aclfile": f"{SECRETS}/store_users",
        }.items():
            assert flags[flags.index(flag) + 1] == value, (name, flag)


class Place:
    """A folder with the secrets, and ports of this machine for the names of the file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.made = folder, folder / "secrets"
        self.password = make_secrets(self.made)
        self.ports = {name: free_port(2) for name in (*STORES, *SENTINELS, *NODES)}

    def engine(self, name: str) -> Engine:
        """An engine or a sentinel, with the flags of its service. It is known by its port."""
        words = words_of(name)
        if words[:2] == SHELL:
            _, _, script, *given = words
            # A name of the network is an address here: it needs no announcement.
            assert re.search(r'"\$\$0" "\$\$@" --\S+ "\$\$HOSTNAME"$', script), script
            words = ["valkey-server", *given]
        flags = [placed(word, self.made) for word in words[1:]]
        if "--replica-announce-ip" in flags:
            at = flags.index("--replica-announce-ip")
            del flags[at : at + 2]
        flags = [
            f"{HOST} {self.ports['store']}" if flag == "store 6379" else flag for flag in flags
        ]
        if "--cluster-enabled" in flags:
            flags[flags.index("hostname")] = "ip"
            flags += ["--cluster-port", str(self.ports[name] + 1)]
        flags += ["--bind", HOST, "--repl-diskless-sync-delay", "0"]
        return Engine("redis", self.folder / name, *flags, port=self.ports[name])

    def sentinel(self, name: str) -> Engine:
        *shell, script = words_of(name)
        assert shell == SHELL
        file = self.folder / f"{name}.conf"
        text = (self.made / "sentinel_config").read_text()
        assert "cp /run/secrets/sentinel_config /data/sentinel.conf" in script
        text = text.replace("store 6379", f"{HOST} {self.ports['store']}")
        file.write_text(text.replace("dir /data", f"dir {self.folder}"))
        return Engine("redis", self.folder / name, str(file), "--sentinel", port=self.ports[name])

    def url(self, kind: str, names: tuple[str, ...], path: str = "") -> str:
        hosts = ",".join(f"{HOST}:{self.ports[name]}" for name in names)
        return f"redis+{kind}://towerhall:{self.password}@{hosts}{path}"

    def ask(self, name: str, *words: str) -> Any:
        """Ask as the keeper of the engines."""
        keeper = (self.made / "keeper_password").read_text().strip()
        with Redis(host=HOST, port=self.ports[name], username="keeper", password=keeper) as client:
            client.response_callbacks.clear()
            return client.execute_command(*words)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def started(stack: ExitStack, engines: list[Engine]) -> None:
    for engine in engines:
        stack.callback(engine.kill)
        engine.start()


async def test_a_sentinel_replaces_the_primary_with_few_rights(place: Place) -> None:
    with ExitStack() as stack:
        started(stack, [place.engine(name) for name in STORES[:2]])
        until(lambda: place.ask("store-2", "ROLE")[3] == b"connected")
        (sentinel,) = watching = [place.sentinel(SENTINELS[0])]
        started(stack, watching)
        async with EventLog(place.url("sentinel", SENTINELS[:1], "/towers")) as log:
            await grow(log, 3, room="ROOMA")
            await asyncio.to_thread(until, lambda: replaces(sentinel))
            is_primary = lambda: place.ask("store-2", "ROLE")[0] == b"master"  # noqa: E731
            await asyncio.to_thread(until, is_primary)
            await asyncio.to_thread(until, lambda: place.ask("store", "ROLE")[0] == b"slave")
            await answers(log)
            await grow(log, 3, room="ROOMB")


def replaces(sentinel: Engine) -> bool:
    """Whether the sentinel has begun to; first it has to know a replica."""
    try:
        return bool(sentinel.ask("SENTINEL", "FAILOVER", "towers") == b"OK")
    except RedisError:
        return False


async def answers(log: EventLog) -> None:
    """Wait until the log has found the new primary."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            with suppress(StoreError):
                return await log.probe()
            await asyncio.sleep(0.05)


async def test_nodes_become_a_cluster_by_the_command_of_the_file(place: Place) -> None:
    with ExitStack() as stack:
        started(stack, [place.engine(name) for name in NODES])
        make_cluster(place)
        until(lambda: b"cluster_state:ok" in place.ask("node-3", "CLUSTER", "INFO"))
        make_cluster(place)  # a second time it does nothing
        async with EventLog(place.url("cluster", NODES)) as log:
            for room in ("ROOMA", "ROOMB", "ROOMC", "ROOMD"):
                await grow(log, 2, room=room)
        assert len({*map(str, place.ask("node-1", "CLUSTER", "SLOTS"))}) == 3


def make_cluster(place: Place) -> None:
    """The service `cluster`, with three nodes and no replicas."""
    _, flags, script, *_ = words_of("cluster")
    changes: dict[str, str | Callable[[re.Match[str]], str]] = {
        r"\$\$": "$",
        r"/run/secrets": str(place.made),
        r"valkey-cli": shutil.which("redis-cli") or "redis-cli",
        r"-h node-1": f"-h {HOST} -p {place.ports['node-1']}",
        r"\$\(getent hosts \$name \| cut -d' ' -f1\):6379": f"{HOST}:$name",
        r"--cluster-replicas 1": "--cluster-replicas 0",
    }
    for pattern, new in changes.items():
        assert re.search(pattern, script), pattern
        script = re.sub(pattern, new, script)
    ports = [str(place.ports[name]) for name in NODES]
    done = subprocess.run(
        ["sh", flags, script, *ports], capture_output=True, text=True, check=False, timeout=50
    )
    assert done.returncode == 0, done.stdout + done.stderr
