"""The script that builds the page: when it builds, with which node, and what it says if not."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clients.web import build

SCRIPT = Path(build.__file__)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small tree of clients whose page was built after its last change."""
    web = tmp_path / "web"
    for name in ("web/src", "web/dist/assets", "typescript/src", "node_modules"):
        (tmp_path / name).mkdir(parents=True)
    for name in (
        "package.json",
        "package-lock.json",
        "web/package.json",
        "typescript/package.json",
    ):
        (tmp_path / name).write_text("{}")
    (web / "src/main.ts").write_text("")
    (tmp_path / "typescript/src/index.ts").write_text("")
    for path in tmp_path.rglob("*"):
        os.utime(path, (1000, 1000))
    (web / "dist/index.html").write_text("")
    monkeypatch.setattr(build, "WEB", web)
    monkeypatch.setattr(build, "CLIENTS", tmp_path)
    monkeypatch.setattr(build, "DIST", web / "dist")
    monkeypatch.setattr(build, "MODULES", tmp_path / "node_modules")
    monkeypatch.setattr(build, "LOCK", tmp_path / "package-lock.json")
    monkeypatch.setattr(build, "STAMP", tmp_path / "node_modules/.installed")
    return tmp_path


def later(path: Path) -> None:
    """Touch it after everything else."""
    moment = path.stat().st_mtime + 10**7
    os.utime(path, (moment, moment))


def test_a_page_that_is_newer_than_its_sources_is_fresh(tree: Path) -> None:
    assert build.is_fresh()
    assert build.build() == tree / "web/dist"


@pytest.mark.parametrize(
    "changed", ["web/src/main.ts", "typescript/src/index.ts", "package-lock.json", "web/src"]
)
def test_any_change_makes_it_stale(tree: Path, changed: str) -> None:
    os.utime(tree / changed, (2**33, 2**33))
    assert not build.is_fresh()


def test_what_the_build_made_itself_is_no_source(tree: Path) -> None:
    for made in ("web/dist", "node_modules"):
        os.utime(tree / made, (2**33, 2**33))
    (tree / "web/node_modules").mkdir()
    os.utime(tree / "web", (1000, 1000))
    later(tree / "web/node_modules")
    assert build.is_fresh()


def test_without_a_page_it_is_stale(tree: Path) -> None:
    (tree / "web/dist/index.html").unlink()
    assert not build.is_fresh()


@pytest.mark.parametrize("version", ["v20.0.0", "v20.20.2\n", "v24.1.0"])
def test_node_20_and_newer_will_do(version: str) -> None:
    assert build.is_new_enough(version)


@pytest.mark.parametrize("version", ["v18.20.0", "v9.0.0", "", "node: not found", "20.1.0"])
def test_anything_else_will_not(version: str) -> None:
    assert not build.is_new_enough(version)


def test_an_old_node_in_path_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, said in (("node", "v18.1.0"), ("npm", "9")):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {said}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build.node_from_path() is None
    (tmp_path / "node").write_text("#!/bin/sh\necho v22.1.0\n")
    found = build.node_from_path()
    assert found is not None
    assert found.node == tmp_path / "node"


def test_types_are_checked_again_after_a_change_or_a_complaint_only(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "CHECKED", tree / "node_modules/.checked")
    calls: list[str] = []
    monkeypatch.setattr(build, "run_script", calls.append)
    assert build.main(["--check"]) == build.main(["--check"]) == 0
    assert calls == ["check"]
    os.utime(tree / "web/src/main.ts", (2**33, 2**33))

    def complain(name: str) -> None:
        calls.append(name)
        raise build.BuildError("see above")

    monkeypatch.setattr(build, "run_script", complain)
    assert build.main(["--check"]) == build.main(["--check"]) == 1
    assert len(calls) == 3


def test_without_any_node_it_says_what_to_install(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "find_node", lambda: None)
    assert build.main(["--has-node"]) == 1
    assert build.main(["--force"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("web: node 20 or newer is needed")
    assert f"pip install '{build.WHEEL}'" in told


def test_packages_are_fetched_once_for_each_lock(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def note(command: list[str], node: build.Node, folder: Path, problem: str) -> None:
        calls.append(list(command))

    monkeypatch.setattr(build, "_run", note)
    node = build.Node(Path("node"), ["npm"])
    build.install(node)
    build.install(node)
    assert [command[:2] for command in calls] == [["npm", "ci"]]
    (tree / "package-lock.json").write_text('{"changed": true}')
    build.install(node)
    assert len(calls) == 2


def test_a_command_that_fails_is_told_with_what_it_was_for(tmp_path: Path) -> None:
    node = build.Node(Path(sys.executable), [])
    with pytest.raises(build.BuildError, match="it went wrong"):
        build._run([sys.executable, "-c", "raise SystemExit(3)"], node, tmp_path, "it went wrong")


def test_files_are_packed_where_that_helps_and_the_same_each_time(tmp_path: Path) -> None:
    node = build.need_node()
    build.install(node)
    (tmp_path / "page.js").write_text("tower " * 100)
    (tmp_path / "large.js").write_text("tower " * 50_000)
    (tmp_path / "tiny.js").write_text("1")
    (tmp_path / "photo.png").write_bytes(bytes(1000))
    build.pack(node, tmp_path)
    packed = (tmp_path / "page.js.gz").read_bytes()
    assert gzip.decompress(packed) == b"tower " * 100
    assert gzip.decompress((tmp_path / "large.js.gz").read_bytes()) == b"tower " * 50_000
    assert not (tmp_path / "tiny.js.gz").exists()
    assert not (tmp_path / "photo.png.gz").exists()
    build.pack(node, tmp_path)
    assert (tmp_path / "page.js.gz").read_bytes() == packed


def test_it_explains_itself() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    for option in ("--force", "--check", "--test", "--lock", "--has-node"):
        assert option in done.stdout
