"""The image: built from the right files, by commands that work, and it starts what it should."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clients.web import build
from tests.deploy.files import DOCKERFILE, DOCKERIGNORE, ROOT, environment, servers
from tests.deploy.image import copies, environment_of, files_of, follow, is_ignored, stages
from tests.end_to_end.raw import ask, new_guest, new_room
from tests.end_to_end.topology import store
from tests.sockets import free_port
from tests.test_project import PACKAGES, normal

SOON_SECONDS = 15.0
# Following the build stage fetches and bundles the page as well.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the build stage has been followed."""
    folder = tmp_path_factory.mktemp("image")
    follow(folder)
    return folder


# What is in it


def test_all_that_is_copied_exists_and_is_not_ignored() -> None:
    build_stage, _ = stages()
    for sources, _ in copies(build_stage):
        for source in sources:
            assert list(files_of(source)), source


def test_everything_that_is_let_through_is_copied_and_nothing_else_is_seen() -> None:
    build_stage, _ = stages()
    copied = {source for sources, _ in copies(build_stage) for source in sources}
    let_through = re.findall(r"^!(.+)$", DOCKERIGNORE.read_text(), re.MULTILINE)
    assert copied == set(let_through)
    for secret in (".git/config", ".env", "data/key", "tests/conftest.py", "server/other/key"):
        assert is_ignored(secret), secret
    assert is_ignored("server/towerhall_server/gateway/__pycache__/page.pyc")


def test_all_that_the_page_is_made_from_is_copied() -> None:
    build_stage, _ = stages()
    copied = {
        name
        for sources, _ in copies(build_stage)
        for source in sources
        for name in files_of(source)
    }
    made_from = {path.relative_to(ROOT) for path in build.sources() if path.is_file()}
    assert len(made_from) > 100
    assert made_from - copied == set()


def test_all_packages_are_copied() -> None:
    build_stage, _ = stages()
    copied = {source for sources, _ in copies(build_stage) for source in sources}
    assert {str(package.relative_to(ROOT)) for package in PACKAGES} <= copied


@pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine != "x86_64",
    reason="the linter of Dockerfiles comes as a program for this kind of machine only",
)
def test_the_linter_of_dockerfiles_has_no_complaints() -> None:
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run(
        [linter, "--no-color", DOCKERFILE], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("", 0)


def test_it_runs_as_somebody_without_rights_and_ends_by_the_signal_that_drains() -> None:
    build_stage, last = stages()
    assert build_stage.base == last.base
    uid, gid = last.one("USER").split(":")
    assert int(uid) >= 1000
    (made,) = last.all("RUN")
    assert f"useradd --uid {uid} --user-group " in made
    assert f"--owner {uid} --group {gid} --mode 700 /data" in made
    assert last.one("STOPSIGNAL") == "SIGTERM"
    assert last.all("COPY") == [f"--from={build_stage.name} /app /app"]


def test_its_python_is_the_oldest_that_the_project_supports() -> None:
    found = re.fullmatch(r"python:(\d+\.\d+)\.\d+-slim-\w+@sha256:[0-9a-f]{64}", stages()[0].base)
    assert found is not None
    assert f'requires-python = ">={found[1]}"' in (ROOT / "pyproject.toml").read_text()


def test_both_stages_have_one_base_that_can_be_replaced() -> None:
    text = DOCKERFILE.read_text()
    assert f"ARG TOWERHALL_PYTHON_IMAGE={stages()[0].base}\n" in text
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["${TOWERHALL_PYTHON_IMAGE}"] * 2


# Locks


LOCKS = {"requirements.lock": {"server"}, "build.lock": {"build", "docs", "page"}}
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def pins(text: str) -> set[tuple[str, str]]:
    return {(found[1], found[2]) for found in PIN.finditer(text)}


def locked(name: str) -> str:
    return (ROOT / "server" / name).read_text()


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_the_versions_that_everybody_else_has(name: str) -> None:
    found = pins(locked(name))
    assert len(found) > 5
    assert found <= pins((ROOT / "constraints.txt").read_text())


@pytest.mark.parametrize("name", LOCKS)
def test_every_line_of_a_lock_is_a_version_or_a_hash_of_it(name: str) -> None:
    entries = re.split(r"\n(?=\S)", locked(name).strip())
    for entry in entries:
        first, *hashes = (line.strip() for line in entry.split("\\\n"))
        assert PIN.fullmatch(first), first
        assert hashes, first
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes), first


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_all_that_the_project_asks_for(name: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"]]
    for extra in LOCKS[name]:
        wanted += project["optional-dependencies"][extra]
    names = {normal(re.split(r"[^\w-]", requirement)[0]) for requirement in wanted}
    assert names <= {name for name, _ in pins(locked(name))}


def test_what_builds_the_project_is_pinned() -> None:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (backend,) = document["build-system"]["requires"]
    assert PIN.fullmatch(backend)
    assert document["project"]["optional-dependencies"]["build"] == [backend]
    assert pins(backend) <= pins(locked("build.lock"))


def test_nothing_gets_into_the_image_without_its_hash() -> None:
    build_stage, last = stages()
    calls = [
        part.strip()
        for stage in (build_stage, last)
        for command in stage.all("RUN")
        for part in command.split("&&")
        if "pip" in part and "-m venv" not in part
    ]
    assert len(calls) == 4
    for call in calls:
        from_registry = "--no-index" not in call
        assert ("--require-hashes --only-binary :all: --requirement " in call) is from_registry
    assert sum("--no-index" not in call for call in calls) == len(LOCKS)


def test_a_file_with_another_hash_is_refused(tmp_path: Path) -> None:
    entry = next(e for e in re.split(r"\n(?=\S)", locked("requirements.lock")) if "dangerous" in e)
    forged = tmp_path / "requirements.lock"
    forged.write_text(re.sub(r"sha256:[0-9a-f]{8}", "sha256:00000000", entry))
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
    command += ["--requirement", str(forged), "--dest", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "DO NOT MATCH" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["requirements.lock"]


# What it does


def variables_of(root: Path, port: int) -> dict[str, str]:
    """What processes in the image find, on a port that is free here."""
    variables = environment_of(stages()[1], root, os.environ["PATH"])
    assert variables["TOWERHALL_PORT"] == stages()[1].one("EXPOSE")
    return variables | {"TOWERHALL_PORT": str(port), "HOME": "nowhere"}


@contextmanager
def started(root: Path, variables: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """What a container would start."""
    last = stages()[1]
    (root / "data").mkdir(mode=0o700, exist_ok=True)
    program, *rest = last.words("ENTRYPOINT") + last.words("CMD")
    process = subprocess.Popen(
        [root / "app/bin" / program, *rest],
        cwd=root / last.one("WORKDIR").removeprefix("/"),
        env=variables,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def is_healthy(root: Path, check: list[str], variables: dict[str, str]) -> bool:
    """What the health check of a container says."""
    program, *rest = check
    done = subprocess.run(
        [root / "app/bin" / program, *rest], env=variables, capture_output=True, check=False
    )
    return done.returncode == 0


def image_check() -> list[str]:
    """The command of the image's own health check."""
    words: list[str] = json.loads(stages()[1].one("HEALTHCHECK").partition(" CMD ")[2])
    return words


def await_health(root: Path, check: list[str], variables: dict[str, str]) -> None:
    deadline = time.monotonic() + SOON_SECONDS
    while not is_healthy(root, check, variables):
        assert time.monotonic() < deadline, "it did not get healthy"
        time.sleep(0.1)


def written_to(folder: Path) -> set[tuple[Path, int]]:
    return {(path, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def test_it_serves_by_itself_and_writes_to_its_data_folder_only(root: Path) -> None:
    port = free_port()
    variables = variables_of(root, port)
    url = f"http://127.0.0.1:{port}"
    before = written_to(root / "app")
    with started(root, variables) as process:
        await_health(root, image_check(), variables)
        page = ask(url, "GET", "/")
        assert page.status == 200
        names = re.findall(rb'(?:src|href)="\./([\w./-]+)"', page.body)
        assert any(name.endswith(b".js") for name in names)
        for name in names:
            assert ask(url, "GET", f"/{name.decode()}").status == 200
        assert b'id="P-42"' in ask(url, "GET", "/docs/spec").body
        code = new_room(url, new_guest(url), seats=2)["code"]
        assert ask(url, "GET", f"/v1/rooms/{code}").status == 200
        process.send_signal(getattr(signal, stages()[1].one("STOPSIGNAL")))
        assert process.wait(SOON_SECONDS) == 0
        assert not is_healthy(root, image_check(), variables)
    assert written_to(root / "app") == before
    assert written_to(root / "data")


def test_it_serves_with_the_variables_of_the_compose_file(root: Path, tmp_path: Path) -> None:
    service = servers()["server-1"]
    port = free_port()
    wanted = environment(service, {}, tmp_path / "secrets")
    how, *words = service["healthcheck"]["test"]
    assert how == "CMD"
    assert "127.0.0.1:8000/" in words[-1]
    check = [*words[:-1], words[-1].replace(":8000/", f":{port}/")]
    with store(tmp_path) as store_url:
        # As the file has it: the password comes from a file of its own.
        named = re.sub(r":[^:@]+@", "@", store_url)
        variables = variables_of(root, port) | wanted | {"TOWERHALL_REDIS_URL": named}
        before = written_to(root)
        with started(root, variables) as process:
            await_health(root, check, variables)
            process.send_signal(signal.SIGTERM)
            assert process.wait(SOON_SECONDS) == 0
        assert written_to(root) == before


def test_without_a_key_it_says_how_to_make_one(root: Path) -> None:
    variables = variables_of(root, 0) | {"TOWERHALL_REDIS_URL": "redis://localhost:1/0"}
    with started(root, variables) as process:
        _, told = process.communicate(timeout=SOON_SECONDS)
    assert process.returncode == 2
    assert told.startswith("towerhall serve: TOWERHALL_TOKEN_KEYS is missing")
    assert "secrets.token_urlsafe" in told
