"""What tests that hold sockets themselves have to do about them."""

import asyncio
import random
import socket
from contextlib import suppress

HOST = "127.0.0.1"
FLUSH_SECONDS = 1.0


FREE_PORTS = range(15_000, 32_000)
"""Below those that the system gives out by itself, where any connection may have it soon after."""


def free_port(count: int = 1) -> int:
    """The first of several ports in a row that nobody has at the moment: for those who cannot tell
    which one they took."""
    while True:
        port = random.choice(FREE_PORTS)
        try:
            for number in range(port, port + count):
                socket.create_server((HOST, number)).close()
        except OSError:
            continue
        return port


async def part(writer: asyncio.StreamWriter) -> None:
    """Close a connection, and return when its socket is closed: the loop may end right after."""
    writer.close()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(FLUSH_SECONDS):
            await writer.wait_closed()
    writer.transport.abort()


async def end(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel what serves connections, and return when all of it has ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def serving(tasks: set[asyncio.Task[None]]) -> None:
    """Keep the task that runs among those, until it has ended."""
    task = asyncio.current_task()
    assert task is not None
    tasks.add(task)
    task.add_done_callback(tasks.discard)
