"""What holds for every test: asyncio in debug mode, and no property fails for slowness alone.

Fixtures of one area live in that area's own folder.
"""

import asyncio.constants
import atexit
import gc
import itertools
import os
import shutil
import tempfile
import traceback
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import settings

from tests.examples import examples, is_long
from tests.rarely import is_left_out

HERE = Path(__file__).parent
BROWSER = HERE / "browser"
ON_ONE_ENGINE = (
    "accounts",
    "cli",
    "end_to_end",
    "gateway",
    "live",
    "lobby",
    "operators",
    "regulars",
    "signing",
    "telemetry",
    "transparency",
    "versions",
)
"""Code above the log asks both engines the same. So the second one is tried here only if many
examples are wanted, or if such a folder is named."""
ON_BOTH_ENGINES = HERE / "live/test_two_processes.py"
"""Rooms with a store and rivals: these are tried on each engine in every run."""

# For loops that tests and their child processes make themselves; pytest's own have `asyncio_debug`.
os.environ["PYTHONASYNCIODEBUG"] = "1"
# What players keep of their games does not go to whoever runs the tests.
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="towerhall-data-")
atexit.register(shutil.rmtree, os.environ["XDG_DATA_HOME"], ignore_errors=True)

# Debug mode notes the whole stack, some fifty frames of pytest among them, for every future and
# callback, and asks the disk each time whether their files have changed. That costs more than the
# tests do themselves. The nearest frames tell enough, and their lines are read when they are shown.
NEAREST_FRAMES = 3
_walk_stack = traceback.walk_stack


class Nearest:
    """The frames from this one on, as far as they are noted."""

    def __init__(self, frame: FrameType | None) -> None:
        self.frame = frame

    def __iter__(self) -> Iterator[tuple[FrameType, int]]:
        return itertools.islice(_walk_stack(self.frame), NEAREST_FRAMES)


class NotedStack(traceback.StackSummary):
    """What debug mode notes; what an exception tells stays as it is.

    Most notes are never read, so each frame is a plain tuple, which `traceback` takes as well.
    """

    @classmethod
    def extract(
        cls, frame_gen: Iterable[tuple[FrameType, int]], **more: Any
    ) -> traceback.StackSummary:
        if not isinstance(frame_gen, Nearest):
            return super().extract(frame_gen, **more)
        noted: list[Any] = []
        frame = frame_gen.frame
        while frame is not None and len(noted) < NEAREST_FRAMES:
            code = frame.f_code
            noted.append((code.co_filename, frame.f_lineno, code.co_name, None))
            frame = frame.f_back
        return cls(noted)


# By name: to typeshed these are a function, a class and a constant for ever.
for _module, _name, _value in (
    (traceback, "walk_stack", Nearest),
    (traceback, "StackSummary", NotedStack),
    (asyncio.constants, "DEBUG_STACK_DEPTH", NEAREST_FRAMES),
):
    setattr(_module, _name, _value)


def is_on_second_engine(item: pytest.Item) -> bool:
    parameters: dict[str, object] = getattr(getattr(item, "callspec", None), "params", {})
    if "redis" not in parameters.values():
        return False
    folder = item.path.relative_to(HERE).parts[0]
    return folder in ON_ONE_ENGINE and item.path != ON_BOTH_ENGINES


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files in which a browser works come one by one among the others, most of which wait: beside
    each other they would only hold each other up."""
    named = any(folder in argument for argument in config.args for folder in ON_ONE_ENGINE)
    one_engine = not (named or is_long())
    left_out = {
        item
        for item in items
        if is_left_out(item.nodeid, config.args) or (one_engine and is_on_second_engine(item))
    }
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    busy = [path for path in files if path.is_relative_to(BROWSER)]
    others = [path for path in files if path not in set(busy)]
    apart = max(1, len(others) // (2 * len(busy) or 1))
    order: list[Path] = []
    for at, path in enumerate(busy):
        order += [path, *others[at * apart : (at + 1) * apart]]
    order += others[len(busy) * apart :]
    items[:] = [item for path in order for item in files[path]]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and collected tests stay until the end: no garbage collection looks at them, neither
    while they become more nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# Time per example depends on what else the machine does. The timeout per test still holds.
settings.register_profile(
    "towerhall", max_examples=examples(50, 100), deadline=None, print_blob=True
)
settings.load_profile("towerhall")
