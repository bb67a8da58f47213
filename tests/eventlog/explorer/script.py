"""Runs the real `append.lua` and `move.lua` on a store that is a plain value.

The scripts and the requests are those of the server: `append_call` and `move_call` pack a request,
and `answer_of` reads its answer. Only the engine is replaced, by the few commands that are used.
"""

from collections.abc import Callable
from importlib.resources import files
from typing import Any, Final, NamedTuple

from lupa.lua51 import LuaRuntime

from towerhall_server.eventlog.answers import Answer, Append, Appended
from towerhall_server.eventlog.append import answer_of, append_call, move_call
from towerhall_server.eventlog.entry import Entry, Stamps
from towerhall_server.store.errors import StoreError

_SCRIPTS: Final = files("towerhall_server.eventlog") / "lua"
TEXT: Final = (_SCRIPTS / "append.lua").read_text()
MOVE_TEXT: Final = (_SCRIPTS / "move.lua").read_text()
NODE: Final = "node"


class Store(NamedTuple):
    """All that matters of the store to one log."""

    log: tuple[Entry, ...] = ()
    time_ms: int = 1_000
    """Both clocks: the service clock runs as long as it is beaten."""


Run = Callable[[Store, Append], tuple[Answer | None, Store]]
"""The answer is `None` if no move can be made and the whole script has to be asked."""


def compiled(text: str = TEXT, move_text: str = MOVE_TEXT) -> Run:
    """The scripts as a function of the store and a request. Equal calls are run once."""
    lua = LuaRuntime(encoding=None, register_eval=False)

    def function(body: str) -> Any:
        return lua.eval(b"function(KEYS, ARGV, redis, cmsgpack)\n" + body.encode() + b"\nend")

    whole, move = function(text), function(move_text)
    known: dict[tuple[Store, bytes], tuple[Answer | None, Store]] = {}

    def run(store: Store, wanted: Append) -> tuple[Answer | None, Store]:
        if wanted.is_move:
            script, command = move, move_call(wanted, NODE).command
        else:
            script, command = whole, append_call(wanted, NODE).command
        if (store, command) not in known:
            known[store, command] = _run(lua, script, store, command)
        return known[store, command]

    return run


def _run(lua: Any, script: Any, store: Store, command: bytes) -> tuple[Answer | None, Store]:
    _, _, count, *rest = _arguments(command)
    keys, argv = rest[: int(count)], rest[int(count) :]
    engine = _Engine(lua, store)
    redis = lua.table_from({b"call": engine.call})
    pack = lua.table_from({b"pack": lambda _: b""})
    reply = script(lua.table_from(keys), lua.table_from(argv), redis, pack)
    return _answer(reply, engine), Store(tuple(engine.log), store.time_ms)


def _answer(reply: Any, engine: "_Engine") -> Answer | None:
    """As `EventLog` understands the reply of either script."""
    if isinstance(reply, int):
        return Appended(engine.log[-1].seq) if reply else None
    answer = answer_of([*reply.values()])
    if isinstance(answer, StoreError):
        raise answer
    return answer


def _arguments(command: bytes) -> list[bytes]:
    """The parts of a packed command: `*n`, then `$length` and the bytes of each."""
    found, at = [], command.index(b"\n") + 1
    while at < len(command):
        end = command.index(b"\r\n", at)
        length = int(command[at + 1 : end])
        found.append(command[end + 2 : end + 2 + length])
        at = end + 4 + length
    return found


class _Engine:
    """The commands of the engine that the script uses."""

    def __init__(self, lua: Any, store: Store) -> None:
        self._lua, self._time_ms = lua, store.time_ms
        self.log = list(store.log)

    def call(self, name: bytes, *given: Any) -> Any:
        return getattr(self, "_" + name.decode().lower())(*given)

    def _table(self, items: list[Any]) -> Any:
        nested = [self._table(item) if isinstance(item, list) else item for item in items]
        return self._lua.table_from(nested)

    def _xrevrange(self, *_: Any) -> Any:
        return self._table([_shown(entry) for entry in self.log[-1:]])

    def _xrange(self, _: bytes, first: bytes, last: bytes) -> Any:
        assert first == last
        wanted = int(first.partition(b"-")[0])
        return self._table([_shown(entry) for entry in self.log if entry.seq == wanted])

    def _xadd(self, _: bytes, name: bytes, *pairs: bytes) -> None:
        fields = dict(zip(pairs[::2], pairs[1::2], strict=True))
        seq = int(name.partition(b"-")[0])
        if seq != len(self.log) + 1:
            raise StoreError("an id of a stream has to be higher than those before")
        stamps = Stamps(int(fields[b"t"]), int(fields[b"u"]))
        self.log.append(Entry(seq, fields[b"i"], fields[b"c"], fields[b"b"], stamps))

    def _hget(self, *_: bytes) -> bool:
        # As the engine does it: nothing is `false` to a script.
        return False

    def _hset(self, _: bytes, field: bytes, value: bytes) -> None:
        # A probe whether the store is full: it writes what is there already.
        assert (field, int(value)) == (b"served", self._time_ms)

    def _hmget(self, *_: bytes) -> Any:
        now = b"%d" % self._time_ms
        return self._table([now, now])

    def _time(self) -> Any:
        seconds, ms = divmod(self._time_ms, 1000)
        return self._table([b"%d" % seconds, b"%d" % (1000 * ms)])

    def _pttl(self, *_: bytes) -> int:
        return 1 << 40

    def _nothing(self, *_: Any) -> int:
        return 0

    _zadd = _zrem = _sadd = _hdel = _hsetnx = _pexpire = _publish = _nothing


def _shown(entry: Entry) -> list[Any]:
    wall, served = b"%d" % entry.stamps.wall_ms, b"%d" % entry.stamps.served_ms
    fields = [b"i", entry.commit_id, b"c", entry.chain, b"b", entry.blob, b"t", wall, b"u", served]
    return [b"%d-0" % entry.seq, fields]
