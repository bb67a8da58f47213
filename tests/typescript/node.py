"""Node and npm for tests of the TypeScript client, with everything installed that it needs.

The page's build script knows how to find and prepare them, so it is asked where there is one.
"""

import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

CLIENTS: Final = Path(__file__).parents[2] / "clients"
SDK: Final = CLIENTS / "typescript"
LOCK: Final = CLIENTS / "package-lock.json"
INSTALLED: Final = CLIENTS / "node_modules" / ".package-lock.json"
"""Npm writes it when it has installed what the lock names."""
LEAST_NODE: Final = 20
TOGETHER: Final = ("--no-isolate", "--pool=threads", "--maxWorkers=1")
"""For vitest: all files in one process, which takes half of the time."""
FIX: Final = f"install node {LEAST_NODE} or newer with npm; on Debian: apt-get install nodejs npm"


def npm() -> tuple[list[str], dict[str, str]]:
    """How npm is called, and in which environment. A test that cannot have it fails."""
    # Several workers may come here at once, and two installations would spoil each other.
    with LOCK.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        builder = _builder()
        return _npm_on_path() if builder is None else _npm_of(builder)


def _builder() -> ModuleType | None:
    try:
        return import_module("clients.web.build")
    except ModuleNotFoundError:
        return None


def _npm_of(builder: ModuleType) -> tuple[list[str], dict[str, str]]:
    try:
        node = builder.need_node()
        builder.install(node)
    except builder.BuildError as error:
        pytest.fail(str(error), pytrace=False)
    return list(node.npm), _environment(Path(node.node).parent)


def _npm_on_path() -> tuple[list[str], dict[str, str]]:
    node, found = shutil.which("node"), shutil.which("npm")
    if node is None or found is None:
        pytest.fail(f"node or npm is missing: {FIX}", pytrace=False)
    environment = _environment(Path(node).parent)
    version = _said([node, "--version"], environment)
    digits = re.match(r"v(\d+)\.", version)
    if digits is None or int(digits[1]) < LEAST_NODE:
        pytest.fail(f"node {version.strip()} is too old: {FIX}", pytrace=False)
    if not INSTALLED.is_file() or INSTALLED.stat().st_mtime < LOCK.stat().st_mtime:
        _said([found, "ci", "--loglevel", "error"], environment)
    return [found], environment


def _environment(folder: Path) -> dict[str, str]:
    # Scripts of packages look for `node` in PATH.
    return os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"}


def _said(command: Sequence[str], environment: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=CLIENTS, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}", pytrace=False)
    return done.stdout
