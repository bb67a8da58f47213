"""What tests that hold sockets themselves have to do about them."""

import asyncio
from contextlib import suppress

FLUSH_SECONDS = 1.0


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
