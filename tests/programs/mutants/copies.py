"""A copy of the project as it lies here, changes that are not committed included, to break at will.

The installed packages are those of the project itself. So everything that runs in a copy is told to
look into the copy first, and `prove` asks an interpreter whether it does.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[3]
PACKAGES: Final = {
    "towerhall_server": "server",
    "towerhall_protocol": "protocol",
    "towerhall_client": "clients/python",
    "towerhall_conformance": "clients/conformance",
    "tests": ".",
}
"""Where each package is imported from."""
WHERE: Final = "import sys; print(*(__import__(name).__file__ for name in sys.argv[1:]), sep='\\n')"


class CopyError(Exception):
    """The copy cannot be made, or is not what runs."""


@contextmanager
def copied() -> Iterator[Path]:
    """A copy in a folder of its own, which goes with it."""
    with TemporaryDirectory(prefix="mutants-") as name:
        # As interpreters will see it: on some systems the temporary folder is a link.
        folder = Path(name).resolve()
        for path in _files():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, target)
        _compile(folder)
        prove(folder)
        yield folder


def environment(folder: Path) -> dict[str, str]:
    """For whatever runs in a copy."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    paths = [str((folder / where).resolve()) for where in PACKAGES.values()]
    return kept | {
        "PYTHONPATH": os.pathsep.join(paths),
        # Bytecode is trusted by time and size, which a bug may leave as they are.
        "PYTHONDONTWRITEBYTECODE": "1",
        # A folder above the copy that is a repository is none of git's business here.
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }


def prove(folder: Path, environ: dict[str, str] | None = None) -> None:
    """`CopyError` unless all packages are imported from the copy."""
    command = [sys.executable, "-c", WHERE, *PACKAGES]
    environ = environment(folder) if environ is None else environ
    run = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True)
    found = run.stdout.splitlines()
    if run.returncode or len(found) != len(PACKAGES):
        raise CopyError(f"the copy cannot be imported: {run.stderr.strip()}")
    for (package, where), file in zip(PACKAGES.items(), found, strict=True):
        if not Path(file).is_relative_to((folder / where).resolve() / package):
            raise CopyError(f"{package} is imported from {file}, not from the copy")


@contextmanager
def applied(folder: Path, patch: Path) -> Iterator[None]:
    """The copy with a patch in it; `CopyError` if it does not fit."""
    _apply(folder, patch)
    try:
        yield
    finally:
        _apply(folder, patch, "--reverse")


def complaint(folder: Path, patch: Path) -> str:
    """Why a patch does not fit; nothing if it does."""
    try:
        _apply(folder, patch, "--check")
    except CopyError as error:
        return str(error)
    return ""


def _apply(folder: Path, patch: Path, *flags: str) -> None:
    command = ["git", "apply", *flags, str(patch.resolve())]
    run = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True
    )
    if run.returncode:
        raise CopyError(run.stderr.strip().removeprefix("error: "))


def _files() -> list[Path]:
    """All that is in the repository or about to be."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    command += ["--cached", "--others", "--exclude-standard"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if run.returncode:
        raise CopyError(f"this is no repository: {run.stderr.strip()}")
    found = {Path(name) for name in run.stdout.split("\0") if name}
    return sorted(path for path in found if (ROOT / path).is_file())


def _compile(folder: Path) -> None:
    """Bytecode that is compared with its source by content: to compile anew for each bug is slow,
    and to go by time and size would miss some."""
    command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash"]
    subprocess.run([*command, "."], cwd=folder, check=True, stdout=subprocess.DEVNULL)
