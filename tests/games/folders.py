"""Game folders beside the real ones, for one test: in this process only, nothing is installed."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

PACKAGE = "towerhall_server.games"
AddFolder = Callable[[str, str], None]


@contextmanager
def more_folders(home: Path) -> Iterator[AddFolder]:
    """A function that adds a folder of this name, whose `__init__.py` has this code."""
    package = import_module(PACKAGE)
    path, before = package.__path__, set(sys.modules)

    def add(folder: str, code: str) -> None:
        (home / folder).mkdir()
        (home / folder / "__init__.py").write_text(code)

    package.__path__ = [*path, str(home)]
    try:
        yield add
    finally:
        package.__path__ = path
        for module in set(sys.modules) - before:
            if module.startswith(f"{PACKAGE}."):
                del sys.modules[module]
                vars(package).pop(module.removeprefix(f"{PACKAGE}."), None)
