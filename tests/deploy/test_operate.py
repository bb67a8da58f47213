"""The commands of docs/operate.md for several servers run here as they are written, if possible."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path

from tests.deploy.files import CADDYFILE, COMPOSE, ROOT, image_of, servers, services
from tests.end_to_end.raw import ask, new_guest, new_room
from tests.end_to_end.topology import answers, wait_until
from tests.sockets import free_port

PAGE = (ROOT / "docs/operate.md").read_text()


def section() -> str:
    found = re.search(r"^## Run several servers\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def blocks() -> list[list[str]]:
    found = re.findall(r"^```sh\n(.*?)^```", section(), re.MULTILINE | re.DOTALL)
    return [block.splitlines() for block in found]


@contextmanager
def running(line: str, folder: Path, variables: dict[str, str]) -> Iterator[None]:
    """A line of the page in a terminal of its own."""
    with (folder / "said.log").open("a") as said:
        process = subprocess.Popen(
            ["sh", "-c", line],
            cwd=folder,
            env=variables,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


def test_the_commands_without_containers_serve_one_game_from_two_servers(tmp_path: Path) -> None:
    *_, (make_key,), lines = blocks()
    ports = {port: str(free_port()) for port in ("6379", "8000", "8001", "8002")}
    text = "\n".join(lines)
    assert set(re.findall(r":?\b(\d{4})\b", text)) == set(ports)
    text = re.sub(r"\b(\d{4})\b", lambda found: ports[found[1]], text)
    text = text.replace(".venv/bin/towerhall", f"{sys.executable} -m towerhall_server")
    text = text.replace("server/Caddyfile", str(CADDYFILE))
    name, _, value = make_key.removeprefix("export ").partition("=")
    key = subprocess.run(["sh", "-c", f"echo {value}"], capture_output=True, text=True, check=True)
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "TOWERHALL_ADMIN": "off",
        name: key.stdout.strip(),
    }
    urls = {port: f"http://127.0.0.1:{real}" for port, real in ports.items()}
    with ExitStack() as stack:
        for line in text.splitlines():
            if "towerhall_server" in line:
                # Whoever types is not faster than a store starts.
                wait_until((tmp_path / "appendonlydir").exists)
            stack.enter_context(running(line, tmp_path, variables))
        wait_until(lambda: answers(urls["8001"]) and answers(urls["8002"]))
        wait_until(lambda: answers(urls["8000"]))
        code = new_room(urls["8000"], new_guest(urls["8000"]), seats=2)["code"]
        for port in ("8000", "8001", "8002"):
            assert ask(urls[port], "GET", f"/v1/rooms/{code}").status == 200


def test_the_commands_with_containers_name_services_that_exist() -> None:
    replaced = []
    for line in chain.from_iterable(blocks()):
        words = shlex.split(line)
        if words[:2] != ["docker", "compose"]:
            continue
        assert words[2] in ("up", "build")
        named = [word for word in words[3:] if not word.startswith("--")]
        assert set(named) <= set(services())
        if "--no-deps" in words:
            replaced += named
    assert replaced == list(servers())


def test_what_else_it_says_is_so() -> None:
    text = " ".join(section().split())
    assert "`docker-compose.yml`: Valkey, three servers, Caddy" in text
    assert len(servers()) == 3
    assert image_of("store").startswith("valkey/")
    assert image_of("proxy").startswith("caddy:")
    assert blocks()[0][0] == "python3 server/new_secrets.py"
    for name in re.findall(r"`(TOWERHALL_\w+_IMAGE)`", PAGE):
        assert name in COMPOSE.read_text()
    assert "`TOWERHALL_SITE=towers.example.org`" in text
    assert services()["proxy"]["environment"]["TOWERHALL_SITE"] == "${TOWERHALL_SITE:-:80}"
