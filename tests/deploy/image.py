"""The Dockerfile, read and followed as far as that goes without a container engine.

Files are copied as they would be, commands of the build stage are run, and what the image would
start is started. Folders at the root of a container are folders of one directory here; users are
not made.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Template

import msgspec

from clients.web.build import is_fresh
from tests.deploy.files import DOCKERFILE, DOCKERIGNORE, ROOT

Instruction = tuple[str, str]
FOLDERS = re.compile(r"(?<![\w.$/-])/(source|tools|wheels|app|data)\b")
"""All that the Dockerfile puts at the root of a container."""


MODULES = "clients/node_modules"
PAGE = "clients/web/dist"


class Stage(msgspec.Struct, frozen=True):
    base: str
    name: str
    instructions: list[Instruction]

    def all(self, word: str) -> list[str]:
        return [rest for found, rest in self.instructions if found == word]

    def one(self, word: str) -> str:
        (rest,) = self.all(word)
        return rest

    def words(self, word: str) -> list[str]:
        """An instruction in its form of a JSON list."""
        found: list[str] = json.loads(self.one(word))
        return found


def stages() -> list[Stage]:
    text = re.sub(r"^\s*#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    found: list[Stage] = []
    arguments: dict[str, str] = {}
    for line in filter(None, lines):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            found.append(Stage(Template(base).substitute(arguments), name, []))
        elif not found:
            assert word == "ARG", line
            name, _, value = rest.partition("=")
            arguments[name] = value
        else:
            found[-1].instructions.append((word, rest.strip()))
    return found


def is_ignored(path: str) -> bool:
    """Whether the builder never sees a file: the last line that fits it, or a folder above it."""
    ignored = False
    above = [path, *map(str, Path(path).parents)]
    for line in DOCKERIGNORE.read_text().splitlines():
        if line and not line.startswith("#"):
            pattern = _pattern(line.removeprefix("!"))
            if any(pattern.fullmatch(each) for each in above):
                ignored = not line.startswith("!")
    return ignored


def _pattern(line: str) -> re.Pattern[str]:
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    split = re.split(r"(\*\*/|\*\*|\*|\?)", line)
    return re.compile("".join(parts.get(part, re.escape(part)) for part in split))


def files_of(source: str) -> Iterator[Path]:
    """What COPY finds under a name, relative to the repository."""
    path = ROOT / source
    for each in [path] if path.is_file() else sorted(path.rglob("*")):
        name = each.relative_to(ROOT)
        if each.is_file() and not is_ignored(str(name)):
            yield name


def copies(stage: Stage) -> Iterator[tuple[list[str], str]]:
    """Sources in the repository, and where they go."""
    for rest in stage.all("COPY"):
        if not rest.startswith("--from="):
            *sources, target = rest.split()
            yield sources, target


def environment_of(stage: Stage, root: Path, before: str) -> dict[str, str]:
    """Variables that the stage sets."""
    pairs = (pair.partition("=") for rest in stage.all("ENV") for pair in shlex.split(rest))
    put_in = {name: FOLDERS.sub(rf"{root}/\1", value) for name, _, value in pairs}
    return {name: value.replace("$PATH", before) for name, value in put_in.items()}


def follow(root: Path) -> None:
    """Follow the build stage: afterwards `root` has what the second stage takes from it."""
    stage, _ = stages()
    work = root / stage.one("WORKDIR").removeprefix("/")
    for sources, target in copies(stage):
        for source in sources:
            for name in files_of(source):
                inside = name.relative_to(source) if name != Path(source) else name.name
                place = work / target / inside
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, place)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    variables = os.environ | {"PATH": path} | environment_of(stage, root, path)
    # What this machine has downloaded once need not be downloaded again.
    variables.pop("PIP_NO_CACHE_DIR", None)
    if (ROOT / MODULES).is_dir():
        shutil.copytree(ROOT / MODULES, work / MODULES, symlinks=True)
    # Nor need the same page be bundled twice. The copy is newer than its sources.
    if is_fresh():
        shutil.copytree(ROOT / PAGE, work / PAGE, copy_function=shutil.copy)
    for command in stage.all("RUN"):
        here = FOLDERS.sub(rf"{root}/\1", command)
        subprocess.run(["sh", "-euc", here], cwd=work, env=variables, check=True)
