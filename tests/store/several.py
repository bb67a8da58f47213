"""Real engines in groups: a primary with replicas and sentinels, and a cluster.

Everything is on loopback ports, and is ended by its process id when the block is left.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from redis import Redis
from redis.asyncio import RedisCluster
from redis.asyncio import Sentinel as AsyncSentinel
from redis.asyncio.cluster import ClusterNode
from redis.exceptions import RedisError

from tests.deploy.files import make_secrets
from tests.operators.certificates import Authority
from tests.proxy.lag import RELAYS, Relays
from tests.sockets import HOST, free_port
from tests.store.engines import binary_of, client
from towerhall_server.store.address import read_address

NAME: Final = "towers"
"""The name that sentinels know the primary by."""
SHARDS: Final = 3
SOON_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 0.02
ANNOUNCED: Final = {
    "cluster-announce-ip": RELAYS,
    "cluster-announce-hostname": HOST,
    "cluster-preferred-endpoint-type": "hostname",
}
"""Other engines come by a relay, and clients do not."""
DOWN_MS: Final = 700
"""Milliseconds of silence after which a cluster elects another primary."""
SENTINELS_DOWN_MS: Final = 1250
"""The same of sentinels. They try to connect once a second at most: with 1000 ms they often take a
new primary for dead before they have reached it, and elect again."""
AGAIN_MS: Final = 3000
"""Milliseconds after a vote until the sentinels who voted start another failover."""
USUAL: Final = {
    "bind": HOST,
    "save": "",
    "appendonly": "yes",
    "appendfsync": "always",
    "repl-diskless-sync-delay": "0",
    "repl-ping-replica-period": "1",
}


class Engine:
    """One engine process, which may be killed, paused and started again."""

    def __init__(
        self, kind: str, folder: Path, *flags: str, port: int = 0, tls: Path | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.kind = kind
        self.folder = folder
        self.port = port or free_port()
        self._flags = flags
        self._tls = tls
        self._password: str | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def place(self) -> tuple[str, int]:
        return HOST, self.port

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self, password: str | None = None, *more: str) -> None:
        self._password = password
        port = "port" if self._tls is None else "tls-port"
        rest = [] if self._tls is None else ["--port", "0"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    str(binary_of(self.kind)),
                    *self._flags,
                    *rest,
                    f"--{port}",
                    str(self.port),
                    *more,
                ],
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        until(self._answers)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "log").read_text()[-2000:]
        try:
            return bool(self.ask("PING"))
        except RedisError:
            return False

    def ask(self, *command: str | int) -> Any:
        """The answer as it came, without the library's reading of it."""
        options: dict[str, Any] = {"socket_timeout": 5, "protocol": 2, "password": self._password}
        if self._tls is not None:
            options |= {"ssl": True, "ssl_ca_certs": str(self._tls)}
        with Redis(host=HOST, port=self.port, **options) as client:
            client.response_callbacks.clear()
            return client.execute_command(*command)

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """Nothing if it has ended."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def is_primary(self) -> bool:
        try:
            return bool(self.ask("ROLE")[0] == b"master")
        except RedisError:
            return False


class Group:
    """Engines that stand in for each other, as one store."""

    def __init__(
        self,
        url: str,
        engines: Sequence[Engine],
        others: Sequence[Engine] = (),
        host: str = HOST,
    ) -> None:
        self.url = url
        self.engines = engines
        self.others = others
        self.host = host
        """Where engines find each other."""
        self.cut: Callable[[int], None] = lambda port: None
        """Loses what is on its way from the engine at a port to its replicas."""

    @property
    def primaries(self) -> list[Engine]:
        return [each for each in self.engines if each.is_primary]

    def flush(self) -> None:
        for each in self.primaries:
            each.ask("FLUSHALL")

    async def whole(self) -> None:
        """Wait until dead engines are back, and every primary has its replicas in step."""
        await asyncio.to_thread(self._make_whole)

    def _make_whole(self) -> None:
        # Sentinels take 8 s to make a replica of an old primary that came back.
        follow = ["--replicaof", f"{self.host} {self.elected}"] if self.others else []
        for each in self.engines:
            if not each.is_running:
                each.start(None, *follow)
            elif self.others and each.port != self.elected and each.is_primary:
                each.ask("REPLICAOF", self.host, self.elected)
        until(self._is_whole)

    @property
    def elected(self) -> int:
        """The port of the newest primary that sentinels name. Some hear of it later than others."""
        newest = max(self.others, key=lambda each: int(_known(each)["config-epoch"]))
        (_, port) = newest.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)
        return int(port)

    def _is_whole(self) -> bool:
        roles = [each.ask("ROLE") for each in self.engines]
        replicas = [role for role in roles if role[0] == b"slave"]
        masters = [role for role in roles if role[0] == b"master"]
        return (
            len(replicas) + len(masters) == len(roles)
            and all(role[3] == b"connected" for role in replicas)
            and sum(len(role[2]) for role in masters) == len(replicas)
            and len(masters) == (1 if self.others else SHARDS)
        )


@asynccontextmanager
async def client_of(url: str) -> AsyncIterator[Any]:
    """A client on all that a store holds, by the URL that servers get."""
    address = read_address(url)
    if address.kind == "single":
        made: Any = client(url)
    elif address.kind == "sentinel":
        hosts = [*address.nodes]
        sentinel = AsyncSentinel(hosts)  # type: ignore[no-untyped-call]
        made = sentinel.master_for(address.name)
    else:
        nodes = [ClusterNode(host, port) for host, port in address.nodes]
        made = RedisCluster(startup_nodes=nodes)
    async with made:
        yield made


def until(condition: Callable[[], bool]) -> None:
    end = monotonic() + SOON_SECONDS
    while not condition():
        assert monotonic() < end, "it did not come up"
        sleep(LOOK_SECONDS)


def flags_of(settings: dict[str, str]) -> list[str]:
    return [word for name, value in settings.items() for word in (f"--{name}", value)]


@contextmanager
def together(engines: Sequence[Engine]) -> Iterator[None]:
    with ExitStack() as stack, ThreadPoolExecutor(len(engines)) as starters:
        for each in engines:
            stack.callback(each.kill)
        list(starters.map(Engine.start, engines))
        yield


@contextmanager
def behind_sentinels(
    kind: str, folder: Path, *, replicas: int = 2, lag_seconds: float = 0.0
) -> Iterator[Group]:
    """A primary, its replicas, and three sentinels. With a lag, everybody comes to the engines by
    relays, and what goes to replicas is late."""
    host = RELAYS if lag_seconds else HOST
    usual = USUAL | ({"replica-announce-ip": host} if lag_seconds else {})
    first = Engine(kind, folder / "0", *flags_of(usual))
    follow = flags_of(usual | {"replicaof": f"{host} {first.port}"})
    engines = [first, *(Engine(kind, folder / str(n), *follow) for n in range(1, replicas + 1))]
    relays = Relays([each.port for each in engines], lag_seconds)
    with relays.running() if lag_seconds else nullcontext(), together(engines):
        sentinels = [sentinel(kind, folder / f"s{n}", first.port, host) for n in range(3)]
        with together(sentinels):
            hosts = ",".join(f"{HOST}:{each.port}" for each in sentinels)
            group = Group(f"redis+sentinel://{hosts}/{NAME}", engines, sentinels, host)
            if lag_seconds:
                group.cut = relays.end
            until(group._is_whole)
            until(lambda: all(_knows_all(each, replicas) for each in sentinels))
            yield group


def sentinel(kind: str, folder: Path, port: int, host: str = HOST) -> Engine:
    folder.mkdir()
    file = folder / "sentinel.conf"
    file.write_text(
        f"bind {HOST}\n"
        f"sentinel monitor {NAME} {host} {port} 2\n"
        f"sentinel down-after-milliseconds {NAME} {SENTINELS_DOWN_MS}\n"
        f"sentinel failover-timeout {NAME} {AGAIN_MS // 2}\n"
    )
    return Engine(kind, folder, str(file), "--sentinel")


def _known(sentinel: Engine) -> dict[str, str]:
    """What a sentinel tells of the primary."""
    told = sentinel.ask("SENTINEL", "MASTER", NAME)
    return dict(zip(map(bytes.decode, told[::2]), map(bytes.decode, told[1::2]), strict=True))


def _knows_all(sentinel: Engine, replicas: int) -> bool:
    found = _known(sentinel)
    return found["num-other-sentinels"] == "2" and found["num-slaves"] == str(replicas)


@contextmanager
def cluster_of(
    kind: str,
    folder: Path,
    *,
    replicas: int = 1,
    authority: Path | None = None,
    lag_seconds: float = 0.0,
    down_ms: int = DOWN_MS,
) -> Iterator[Group]:
    """Three primaries, each with that many replicas. With an authority, they speak TLS alone. With
    a lag, replication goes by relays."""
    ports = [free_port(2) for _ in range(SHARDS * (1 + replicas))]
    more = (ANNOUNCED if lag_seconds else {}) | {"cluster-node-timeout": str(down_ms)}
    if authority is not None:
        more |= tls_of(authority) | {"tls-cluster": "yes", "tls-replication": "yes"}
    engines = [_member(kind, folder / str(n), p, authority, more) for n, p in enumerate(ports)]
    relays = Relays([each for port in ports for each in (port, port + 1)], lag_seconds)
    with relays.running() if lag_seconds else nullcontext(), _joined(engines, replicas) as group:
        if authority is not None:
            group.url = f"{group.url.replace('redis', 'rediss')}?ssl_ca_certs={authority}"
        if lag_seconds:
            group.cut = relays.end
        yield group


@contextmanager
def _joined(engines: Sequence[Engine], replicas: int) -> Iterator[Group]:
    count = len(engines)
    with together(engines):
        primaries, others = engines[:SHARDS], engines[SHARDS:]
        step = 16_384 // SHARDS + 1
        for number, each in enumerate(primaries):
            last = min(16_383, (number + 1) * step - 1)
            each.ask("CLUSTER", "ADDSLOTSRANGE", number * step, last)
            each.ask("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for each in engines[1:]:
            each.ask("CLUSTER", "MEET", HOST, engines[0].port, engines[0].port + 1)
        until(lambda: all(_members(each) == count for each in engines))
        for number, each in enumerate(others):
            primary = primaries[number % SHARDS]
            each.ask("CLUSTER", "REPLICATE", primary.ask("CLUSTER", "MYID").decode())
        hosts = ",".join(f"{HOST}:{each.port}" for each in primaries)
        group = Group(f"redis+cluster://{hosts}", engines)
        until(group._is_whole)
        until(lambda: all(_is_sound(each, replicas) for each in engines))
        yield group


@contextmanager
def guarded_cluster_of(kind: str, folder: Path) -> Iterator[Group]:
    """The same by TLS, for a user who has the rights of servers and no others."""
    folder.mkdir(parents=True, exist_ok=True)
    make_secrets(folder / "secrets")
    *_, line = (folder / "secrets/store_users").read_text().splitlines()
    password = (folder / "secrets/store_password").read_text().strip()
    _, user, *rights = line.split()
    with cluster_of(kind, folder, authority=authority_in(folder / "authority")) as group:
        for each in group.engines:
            each.ask("ACL", "SETUSER", user, *rights)
        group.url = group.url.replace("://", f"://{user}:{password}@")
        yield group


def authority_in(folder: Path) -> Path:
    """An authority, with a certificate for this machine beside it."""
    authority = Authority(folder)
    authority.server(f"IP:{HOST}")
    return authority.path


def tls_of(authority: Path) -> dict[str, str]:
    """The settings of an engine that has that certificate."""
    return {
        "tls-cert-file": str(authority.with_name(f"IP-{HOST}.pem")),
        "tls-key-file": str(authority.with_name(f"IP-{HOST}.key")),
        "tls-ca-cert-file": str(authority),
        "tls-auth-clients": "no",
    }


def move_slot(group: Group, slot: int, source: Engine, target: Engine) -> None:
    """Move a slot with its keys as `redis-cli --cluster reshard` does."""
    ids = [each.ask("CLUSTER", "MYID").decode() for each in (source, target)]
    target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
    source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])
    while keys := source.ask("CLUSTER", "GETKEYSINSLOT", slot, 1):
        source.ask("MIGRATE", HOST, target.port, keys[0].decode(), 0, 5000)
    for each in (target, source, *group.primaries):
        each.ask("CLUSTER", "SETSLOT", slot, "NODE", ids[1])


def migrate_slot(group: Group, slot: int, source: Engine, target: Engine) -> None:
    """Move it as a whole, which Valkey 9 does by itself."""
    to = target.ask("CLUSTER", "MYID").decode()
    source.ask("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", to)
    until(lambda: all(_owner(each, slot) == target.port for each in group.primaries))


def primary_of(group: Group, slot: int) -> Engine:
    """The engine that has a slot, as a sound one sees it."""
    port = _owner(group.primaries[0], slot)
    return next(each for each in group.engines if each.port == port)


def _owner(engine: Engine, slot: int) -> int:
    slots = engine.ask("CLUSTER", "SLOTS")
    return int(next(node[1] for first, last, node, *_ in slots if first <= slot <= last))


def _member(
    kind: str, folder: Path, port: int, authority: Path | None, more: dict[str, str]
) -> Engine:
    settings = (
        USUAL
        | more
        | {
            "cluster-enabled": "yes",
            "cluster-port": str(port + 1),
            "cluster-require-full-coverage": "no",
            "cluster-replica-validity-factor": "0",
        }
    )
    return Engine(kind, folder, *flags_of(settings), port=port, tls=authority)


def _members(engine: Engine) -> int:
    lines: list[bytes] = engine.ask("CLUSTER", "NODES").splitlines()
    return len([line for line in lines if b"handshake" not in line])


def _is_sound(engine: Engine, replicas: int) -> bool:
    info, slots = engine.ask("CLUSTER", "INFO"), engine.ask("CLUSTER", "SLOTS")
    is_whole = len(slots) == SHARDS and all(len(each) == 3 + replicas for each in slots)
    return b"cluster_state:ok" in info and is_whole
