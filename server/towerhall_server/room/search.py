"""One slow decision as a job for any process: plain data in, events or a refusal out.

`do_job` is pure. The rest encodes jobs and answers for the way between a server and its search
processes. No queue, process or room may be known here.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from towerhall_server.game import BAD_COMMAND, AnyGame, Rejected, Seat


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A command of a person to decide, or a move for a bot to choose."""

    rules: AnyGame
    state: Any
    seat: Seat
    command: Mapping[str, Any] | None = None
    """A person's command. `None`: a bot chooses one."""
    level: str = ""
    """The level of that bot."""
    entropy: bytes = b""
    """For the bot."""


class JobAnswer(msgspec.Struct, frozen=True):
    """The command that was decided, and its outcome."""

    command: Mapping[str, Any]
    events: tuple[Any, ...] | Rejected


class JobFailedError(Exception):
    """The rules or a bot raised an exception; the message holds its traceback."""


def do_job(job: Job) -> JobAnswer:
    """The answer to a job. The same job always has the same answer."""
    rules, state, seat = job.rules, job.state, job.seat
    if job.command is not None:
        return JobAnswer(job.command, rules.decide(state, seat, job.command))
    choose = rules.bots[job.level]
    command = choose(rules.view(state, seat), rules.offers(state, seat), job.entropy)
    if command.get("command") in rules.clock_commands:
        return JobAnswer(command, clock_only(rules, command["command"]))
    return JobAnswer(command, rules.decide(state, seat, command))


def clock_only(rules: AnyGame, name: object) -> Rejected:
    """The refusal of a command that only the clock gives, one of `clock_commands`."""
    detail = {"detail": f"{name} is given by the clock only"}
    return Rejected(BAD_COMMAND, rules.reasons[BAD_COMMAND].rule, detail)


class _SentJob(msgspec.Struct, frozen=True, array_like=True):
    game: str
    version: int
    state: bytes
    seat: int
    command: dict[str, Any] | None
    level: str
    entropy: bytes


class _SentAnswer(msgspec.Struct, frozen=True, array_like=True):
    command: dict[str, Any] = {}
    events: bytes = b""
    refusal: Rejected | None = None
    fault: str = ""
    """The traceback of an exception; empty if there was none."""


def pack_job(job: Job) -> bytes:
    command = None if job.command is None else dict(job.command)
    state, rules = msgspec.msgpack.encode(job.state), job.rules
    sent = _SentJob(rules.name, rules.version, state, job.seat, command, job.level, job.entropy)
    return msgspec.msgpack.encode(sent)


def unpack_job(data: bytes, rules_of: Callable[[str, int], AnyGame]) -> Job:
    sent = msgspec.msgpack.decode(data, type=_SentJob)
    rules = rules_of(sent.game, sent.version)
    return Job(
        rules=rules,
        state=msgspec.msgpack.decode(sent.state, type=rules.state_type),
        seat=Seat(sent.seat),
        command=sent.command,
        level=sent.level,
        entropy=sent.entropy,
    )


def pack_answer(answer: JobAnswer) -> bytes:
    command, events = dict(answer.command), answer.events
    if isinstance(events, Rejected):
        return msgspec.msgpack.encode(_SentAnswer(command, refusal=events))
    return msgspec.msgpack.encode(_SentAnswer(command, msgspec.msgpack.encode(events)))


def pack_fault(traceback: str) -> bytes:
    return msgspec.msgpack.encode(_SentAnswer(fault=traceback))


def unpack_answer(data: bytes, rules: AnyGame) -> JobAnswer:
    """The answer to a job of these rules. Raises `JobFailedError` if the job raised."""
    sent = msgspec.msgpack.decode(data, type=_SentAnswer)
    if sent.fault:
        raise JobFailedError(sent.fault)
    if sent.refusal is not None:
        return JobAnswer(sent.command, sent.refusal)
    return JobAnswer(sent.command, rules.read_events(sent.events))
