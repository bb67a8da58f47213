"""One pipeline per loop tick: calls to the store that are made together travel together.

While one batch is on its way, the next one fills. So under load the engine gets few large writes,
and makes many commits durable with one fsync, and a lone call still leaves at once.

A call ends in one of three ways: its answer, `StoreRefusedError` if the engine answered with an
error, or another `StoreError` if no answer came. After an error a write may or may not have
happened: the caller repeats the same bytes until the script knows.
"""

import asyncio
from collections.abc import Sequence
from hashlib import sha1
from typing import Any, TypeAlias

import msgspec
from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError, ResponseError

Argument: TypeAlias = str | bytes | int


class StoreError(Exception):
    """No answer came: what was asked for may have happened or not."""


class StoreRefusedError(StoreError):
    """The engine answered with an error: full, loading, read-only, or a fault in a script."""


class Script(msgspec.Struct, frozen=True):
    """A script and the name that the engine knows it by once it has seen it."""

    text: str
    digest: str


def script(text: str) -> Script:
    return Script(text, sha1(text.encode(), usedforsecurity=False).hexdigest())


class _Call(msgspec.Struct):
    command: tuple[Argument, ...]
    script: Script | None
    answer: asyncio.Future[Any]


class Batch:
    """Collects calls of one loop tick and carries them to the store."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._waiting: list[_Call] = []
        self._carrier: asyncio.Task[None] | None = None

    async def run(self, script: Script, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:
        """The script's answer."""
        command = ("EVALSHA", script.digest, len(keys), *keys, *arguments)
        return await self._call(command, script)

    async def ask(self, *command: Argument) -> Any:
        """The answer to one plain command."""
        return await self._call(command, None)

    async def close(self) -> None:
        """Wait for what is on its way."""
        while self._carrier is not None:
            await asyncio.shield(self._carrier)

    async def _call(self, command: tuple[Argument, ...], script: Script | None) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Call(command, script, answer))
        if self._carrier is None:
            self._carrier = asyncio.create_task(self._carry())
        # The carrier is a task of its own: a caller that is cancelled takes no write with it.
        return await answer

    async def _carry(self) -> None:
        try:
            while self._waiting:
                calls, self._waiting = self._waiting, []
                await self._exchange(calls)
        finally:
            self._carrier = None

    async def _exchange(self, calls: list[_Call]) -> None:
        answers = await self._send([call.command for call in calls])
        unknown = [
            call
            for call, answer in zip(calls, answers, strict=True)
            if call.script is not None and isinstance(answer, NoScriptError)
        ]
        if unknown:
            # A restarted engine has forgotten its scripts; each item of a batch says so on its own.
            again = iter(await self._send([_with_text(call) for call in unknown]))
            answers = [
                next(again) if isinstance(answer, NoScriptError) else answer for answer in answers
            ]
        for call, answer in zip(calls, answers, strict=True):
            _settle(call.answer, answer)

    async def _send(self, commands: list[tuple[Argument, ...]]) -> list[Any]:
        """An answer or an exception for each command; never raises."""
        pipeline = self._redis.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        try:
            return list(await pipeline.execute(raise_on_error=False))
        except (RedisError, OSError, TimeoutError) as error:
            return [error] * len(commands)


def _with_text(call: _Call) -> tuple[Argument, ...]:
    text = "" if call.script is None else call.script.text
    return ("EVAL", text, *call.command[2:])


def _settle(future: asyncio.Future[Any], answer: Any) -> None:
    if future.done():
        return
    if isinstance(answer, ResponseError):
        future.set_exception(StoreRefusedError(str(answer)))
    elif isinstance(answer, Exception):
        future.set_exception(StoreError(str(answer) or type(answer).__name__))
    else:
        future.set_result(answer)
