"""The program of a client: started by the kit, once for all cases or once for each."""

import asyncio
import json
import shlex
from collections.abc import Sequence
from typing import Final

from towerhall_conformance.stage import Stage

ALL_URLS: Final = "{urls}"
ONE_URL: Final = "{url}"
PARTING_SECONDS: Final = 3.0
LINE_BYTES: Final = 1 << 22


async def run_program(stage: Stage, command: str, jobs: int) -> None:
    """Play all cases by that command, in which `{urls}` or `{url}` stands for addresses."""
    if ALL_URLS in command:
        await _run(stage, command, ALL_URLS, list(stage.rooms))
        return
    slots = asyncio.Semaphore(jobs)

    async def one(code: str) -> None:
        async with slots:
            await _run(stage, command, ONE_URL, [code])

    await asyncio.gather(*(one(code) for code in stage.rooms))


async def _run(stage: Stage, command: str, place: str, codes: Sequence[str]) -> None:
    urls = [stage.url + code for code in codes]
    words = [
        each
        for word in shlex.split(command)
        for each in (urls if word == place else [word.replace(place, urls[0])])
    ]
    for code in codes:
        stage.begin(code)
    process = await asyncio.create_subprocess_exec(
        *words, stdout=asyncio.subprocess.PIPE, limit=LINE_BYTES
    )
    reading = asyncio.create_task(_read(stage, process))
    watching = asyncio.create_task(_leave(stage, process, codes))
    try:
        for code in codes:
            await stage.verdict(code)
        async with asyncio.timeout(PARTING_SECONDS):
            await process.wait()
    except TimeoutError:
        process.terminate()
    finally:
        if process.returncode is None:
            process.kill()
        await asyncio.gather(reading, watching)


async def _leave(stage: Stage, process: asyncio.subprocess.Process, codes: Sequence[str]) -> None:
    await process.wait()
    stage.leave(codes)


async def _read(stage: Stage, process: asyncio.subprocess.Process) -> None:
    """Lines such as `{"code": "CFAAAB", "view": {...}}` show the last view of a room."""
    while process.stdout is not None and (text := await process.stdout.readline()):
        try:
            shown = json.loads(text)
        except ValueError:
            continue
        if isinstance(shown, dict) and "code" in shown and "view" in shown:
            stage.shown[str(shown["code"])] = shown["view"]
