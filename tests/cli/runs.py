"""Runs of the command line: in a process of its own, or here, which costs far less."""

import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from towerhall_server.cli.main import main

SECONDS = 50


class Told(NamedTuple):
    """One run, and all that it said."""

    status: int
    out: str
    err: str


def in_a_process(
    *arguments: str, given: str = "", cwd: Path | None = None, environ: dict[str, str] | None = None
) -> Told:
    """As people run it."""
    done = subprocess.run(
        [sys.executable, "-m", "towerhall_server", *arguments],
        env=plain_environ() | (environ or {}),
        cwd=cwd,
        input=given,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Told(done.returncode, done.stdout, done.stderr)


def here(
    *arguments: str, given: str = "", cwd: Path | None = None, environ: dict[str, str] | None = None
) -> Told:
    """The same arguments, input, folder and variables, without the start of a process."""
    raw_out, raw_err = BytesIO(), BytesIO()
    out, err = (TextIOWrapper(raw, "utf-8", write_through=True) for raw in (raw_out, raw_err))
    with (
        patch.dict(os.environ, plain_environ() | (environ or {}), clear=True),
        patch.object(sys, "stdin", StringIO(given)),
        chdir(cwd or Path.cwd()),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            status = main(arguments)
        except SystemExit as wanted:
            status = int(wanted.code or 0)
    return Told(status, raw_out.getvalue().decode(), raw_err.getvalue().decode())


def plain_environ() -> dict[str, str]:
    """Nothing that somebody has set for a server of their own, nor asyncio's debug mode: that one
    complains on standard error where a machine is slow."""
    names = ("PATH", "HOME", "XDG_DATA_HOME")
    return {name: os.environ[name] for name in names if name in os.environ}
