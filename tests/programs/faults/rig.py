"""Several nodes on one store as plain processes, each of which can be killed, paused and restarted.

The store is a real engine on a TCP port that makes every append durable before it answers. A proxy
may stand between each node and the store. Everything has an end: processes are ended by their id
when the rig is left, however that happens.
"""

import asyncio
import os
import re
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from tests.end_to_end.servers import LIMITS
from tests.programs.bench.usage import rss_bytes
from tests.proxy.faults import HOST, FaultProxy
from tests.sockets import free_port
from tests.store.engines import binary_of, client
from tests.store.several import Group

KEY: Final = "the-key-of-the-fault-suite-and-of-nothing-else"
SIGNING_KEY: Final = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 60.0
SERVE: Final = ("-m", "towerhall_server", "serve")
MANY: Final = {
    **LIMITS,
    "TOWERHALL_LIMIT_CONNECTIONS_PER_IP": "20000",
    "TOWERHALL_LIMIT_SOCKETS_PER_IP": "20000",
    "TOWERHALL_LIMIT_ROOMS_PER_IDENTITY": "10000/s burst 10000",
    "TOWERHALL_LIMIT_ROOMS_PER_IP": "10000/s burst 10000",
    "TOWERHALL_LIMIT_SPECTATORS_PER_ROOM": "5000",
}


class Running:
    """A process that can be sent signals, and that is gone after `end`."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._process: Process | None = None

    @property
    def process(self) -> Process:
        assert self._process is not None
        return self._process

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    async def kill(self) -> None:
        """As a power cut would, for this process alone. Nothing if it has ended."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await asyncio.wait_for(self._process.wait(), STOP_SECONDS)

    async def terminate(self) -> int:
        """As an operator would; its exit status."""
        self.process.terminate()
        return await asyncio.wait_for(self.process.wait(), STOP_SECONDS)


class Store(Running):
    """The engine, and the folder in which it keeps everything. It may follow another one."""

    def __init__(self, folder: Path, port: int = 0, *, follows: int = 0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(folder.with_name(f"{folder.name}.log"))
        self.folder = folder
        self.port = port or free_port()
        self.follows = follows
        """The port of the engine of which this one is a replica; 0: of none."""
        self.url = f"redis://{HOST}:{self.port}"

    async def start(self) -> None:
        settings = {
            "port": self.port,
            "bind": HOST,
            "dir": self.folder,
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
            "auto-aof-rewrite-percentage": 0,
            "maxmemory-policy": "noeviction",
            "repl-diskless-sync-delay": 0,
            "logfile": self._log.absolute(),
        }
        flags = [part for name, value in settings.items() for part in (f"--{name}", str(value))]
        if self.follows:
            flags += ["--replicaof", HOST, str(self.follows)]
        self._process = await asyncio.create_subprocess_exec(
            str(binary_of("redis")), *flags, stdout=DEVNULL, stderr=DEVNULL
        )
        async with asyncio.timeout(START_SECONDS), self.client() as redis:
            while True:
                try:
                    await redis.ping()
                    return
                except RedisError:
                    assert self._process.returncode is None, self.log[-2000:]
                    await asyncio.sleep(0.01)

    async def in_step(self) -> None:
        """Wait until this replica has all that its primary had when it began."""
        async with asyncio.timeout(START_SECONDS), self.client() as redis:
            while (await redis.info("replication"))["master_link_status"] != "up":  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def promote(self) -> None:
        """Be a primary from now on."""
        async with self.client() as redis:
            await redis.replicaof("NO", "ONE")
        self.follows = 0

    def client(self) -> Redis:
        return client(self.url)

    def copy_to(self, folder: Path) -> None:
        """What the engine has on disk now. Its last command may be there in part."""
        shutil.copytree(self.folder, folder)

    def become(self, folder: Path) -> None:
        """Take the files of that copy instead; the engine must not run."""
        shutil.rmtree(self.folder)
        shutil.copytree(folder, self.folder)


class Node(Running):
    """One `towerhall serve`. It keeps its port over restarts."""

    def __init__(self, name: str, folder: Path, store_url: str, launch: Sequence[str]) -> None:
        super().__init__(folder / f"{name}.log")
        self.name = name
        self.port = 0
        self.up = False
        self.environment: dict[str, str] = {}
        """What this node alone is told."""
        self._launch = launch
        self._store_url = store_url

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def rss(self) -> int:
        return rss_bytes(self.pid)

    async def start(self) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        told = {
            "TOWERHALL_TOKEN_KEYS": KEY,
            "TOWERHALL_SIGNING_KEYS": SIGNING_KEY,
            "TOWERHALL_DRAIN_SECONDS": "2",
        }
        flags = ("--port", str(self.port), "--redis-url", self._store_url)
        with self._log.open("a") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *self._launch,
                *flags,
                env=kept | MANY | told | self.environment,
                stdout=PIPE,
                stderr=log,
            )
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), START_SECONDS)
        found = re.search(rb"http://[^ ]+:(\d+)/", line)
        if found is None:
            await self.kill()
            raise AssertionError(f"{self.name} did not start: {self.log[-2000:]}")
        self.port, self.up = int(found[1]), True

    async def kill(self) -> None:
        self.up = False
        await super().kill()

    async def terminate(self) -> int:
        self.up = False
        return await super().terminate()


class Rig:
    """The store, the nodes, and the way from each node to the store."""

    def __init__(
        self,
        folder: Path,
        store: Store,
        nodes: list[Node],
        ways: list[FaultProxy],
        group: Group | None = None,
    ) -> None:
        self.folder = folder
        self.store = store
        """The one that nodes have to use now."""
        self._group = group
        self.nodes = nodes
        self.ways = ways
        """Empty if there is nothing in between."""

    @property
    def group(self) -> Group:
        assert self._group is not None
        return self._group

    @property
    def store_url(self) -> str:
        """Where all logs are."""
        return self.store.url if self._group is None else self._group.url

    @property
    def exceptions(self) -> int:
        """How often a node has logged a stack."""
        return sum(node.log.count("Traceback (most recent call last)") for node in self.nodes)


@asynccontextmanager
async def running(
    folder: Path,
    nodes: int = 3,
    *,
    proxied: bool = False,
    launch: Sequence[str] = SERVE,
    told: Mapping[int, Mapping[str, str]] = MappingProxyType({}),
    several: Callable[[str, Path], AbstractContextManager[Group]] | None = None,
) -> AsyncIterator[Rig]:
    """A store and its nodes, for as long as the block lasts. `told` is for single nodes. With
    `several`, nodes use a group of engines instead of one."""
    async with AsyncExitStack() as stack:
        store, group = Store(folder / "store"), None
        stack.push_async_callback(store.kill)
        if several is None:
            await store.start()
        else:
            made = several("redis", folder / "several")
            group = await asyncio.to_thread(made.__enter__)
            stack.push(made.__exit__)
        ways = [
            await stack.enter_async_context(FaultProxy(store.port))
            for _ in range(nodes if proxied else 0)
        ]
        url = store.url if group is None else group.url
        urls = [f"redis://{HOST}:{way.port}" for way in ways] or [url] * nodes
        made_nodes = [Node(f"node{at}", folder, url, launch) for at, url in enumerate(urls)]
        for at, node in enumerate(made_nodes):
            node.environment.update(told.get(at, {}))
            stack.push_async_callback(node.kill)
        await asyncio.gather(*(node.start() for node in made_nodes))
        rig = Rig(folder, store, made_nodes, ways, group)
        stack.push_async_callback(lambda: rig.store.kill())
        yield rig
