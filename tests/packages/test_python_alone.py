"""The Python client installs and plays without the server, from a wheel of its own folder."""

import json
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path
from sysconfig import get_path

import pytest

from tests.end_to_end.servers import running
from towerhall_conformance.cases import ALL

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "clients" / "python"
NEEDS = ("msgpack", "msgspec", "websockets")
PACKAGES = {"towerhall_client", "towerhall_protocol", "towerhall_conformance"}


def built(kind: str, source: Path, target: Path) -> Path:
    """What a build tool makes of a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = target.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", FOLDER, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def alone(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the client and what it says it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("alone")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    for name in NEEDS:
        (folder / name).symlink_to(Path(get_path("platlib"), name))
    return folder


def python(alone: Path, code: str, *words: str) -> list[str]:
    """Python that finds nothing but that folder and its own library."""
    begin = f"import runpy, sys; sys.path.insert(0, {str(alone)!r}); "
    return [sys.executable, "-I", "-S", "-c", begin + code, *words]


def said(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_wheel_holds_the_client_and_its_needs_and_no_server(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        (meta,) = (name for name in names if name.endswith("/METADATA"))
        told = Parser().parsestr(packed.read(meta).decode())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == PACKAGES
    assert {"towerhall_client/py.typed", "towerhall_protocol/py.typed"} <= set(names)
    assert not [name for name in names if name.endswith(".pyc")]
    needed = {each.split(">")[0] for each in told.get_all("Requires-Dist", []) if ";" not in each}
    assert needed == set(NEEDS)
    assert (FOLDER / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_a_source_distribution_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    made = built("sdist", FOLDER, tmp_path / "sdist")
    subprocess.run(["tar", "-xzf", made, "-C", tmp_path], check=True)
    source = tmp_path / made.name.removesuffix(".tar.gz")
    again = built("wheel", source, tmp_path / "wheel")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())


def test_the_versions_and_needs_of_all_packages_agree() -> None:
    own, whole = (
        tomllib.loads((folder / "pyproject.toml").read_text()) for folder in (FOLDER, ROOT)
    )
    sdk = json.loads((ROOT / "clients/typescript/package.json").read_text())
    assert own["project"]["version"] == whole["project"]["version"] == sdk["version"]
    assert own["project"]["dependencies"] == whole["project"]["dependencies"]
    assert own["build-system"] == whole["build-system"]


def test_the_bot_of_its_readme_plays_without_the_server(alone: Path, tmp_path: Path) -> None:
    bot = FOLDER / "examples" / "bot.py"
    assert f"```python\n{bot.read_text()}```" in (FOLDER / "README.md").read_text()
    with running(tmp_path / "data") as server:
        out = said(python(alone, f"runpy.run_path({str(bot)!r}, run_name='__main__')", server.url))
    result, checks = out.splitlines()
    assert "'scores'" in result
    assert "'nonces': True" in checks
    assert "False" not in checks


def test_there_is_no_server_in_it(alone: Path) -> None:
    looked = "from importlib.util import find_spec; print(find_spec('towerhall_server'))"
    assert said(python(alone, looked)) == "None\n"


def test_its_kit_runs_without_the_server(alone: Path) -> None:
    listed = said(python(alone, "from towerhall_conformance.command import main; main(['--list'])"))
    assert all(case.name in listed for case in ALL.all)
