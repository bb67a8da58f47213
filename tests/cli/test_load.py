"""`towerhall load`: it plays, measures, stops in time, and leaves other machines alone."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.runs import here
from tests.end_to_end.servers import running
from tests.sockets import free_port
from towerhall_server.cli.load import is_here
from towerhall_server.cli.main import build_parser


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The addresses of a server and of its metrics."""
    port = free_port()
    folder = tmp_path_factory.mktemp("load") / "data"
    with running(folder, "--metrics-port", str(port)) as server:
        yield server.url, f"http://127.0.0.1:{port}/metrics"


def test_help_shows_examples_that_the_command_understands() -> None:
    examples = re.findall(r"^  (towerhall load .*)$", here("load", "--help").out, re.MULTILINE)
    assert len(examples) >= 3
    for example in examples:
        build_parser().parse_args(example.split()[1:])


def test_rooms_are_played_and_what_they_cost_is_told(place: tuple[str, str]) -> None:
    url, metrics = place
    told = here(
        *("load", "--url", url, "--metrics", metrics, "--rooms", "3", "--seats", "2"),
        *("--seconds", "2", "--think", "0.01"),
    )
    assert told.status == 0, told.out + told.err
    found = re.search(r"moves    (\d+), [\d.]+ a second", told.out)
    assert found
    assert int(found[1]) > 20
    times = re.search(r"half within ([\d.]+) ms, .*, all ([\d.]+) ms", told.out)
    assert times
    assert 0 < float(times[1]) <= float(times[2]) < 2000
    used = re.search(r"server   (\d+)% of a core, (\d+) MB", told.out)
    assert used
    assert int(used[1]) > 0
    assert int(used[2]) > 20
    assert "load, seconds [####" in told.err


def test_rooms_that_the_service_refuses_are_failures(tmp_path: Path) -> None:
    limits = {"TOWERHALL_LIMIT_ROOMS_PER_IP": "1/h burst 1"}
    with running(tmp_path / "data", limits=limits) as server:
        told = here(
            *("load", "--url", server.url, "--rooms", "2", "--seats", "2"),
            *("--seconds", "1", "--think", "0"),
        )
    assert told.status == 1
    assert re.search(r"failed   [12] rooms: \w+", told.out)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--url", "http://towers.example:8000"), "is another machine"),
        (("--url", "https://towers.example.org"), "is another machine"),
        (("--rooms", "1001"), "--rooms must be 1 to 1000"),
        (("--seconds", "601"), "--seconds must be 1 to 600"),
        (("--think", "-1"), "--think must be 0 to 600"),
        (("--seats", "9"), "--seats must be"),
        (("--url", "http://127.0.0.1:1"), "is a server running?"),
    ],
)
def test_mistakes_are_told_and_nothing_is_loaded(arguments: tuple[str, ...], says: str) -> None:
    told = here("load", *arguments)
    assert (told.status, told.out) == (2, "")
    assert says in told.err


@pytest.mark.parametrize("metrics", ["ftp://127.0.0.1", "http://127.0.0.1:1/metrics"])
def test_metrics_that_are_none_are_told(place: tuple[str, str], metrics: str) -> None:
    told = here("load", "--url", place[0], "--metrics", metrics)
    assert (told.status, "--metrics" in told.err) == (2, True)


FAR = ("192.0.2.1", "[2001:db8::1]", "localhost.example", "towers.example")


def test_only_this_machine_is_here() -> None:
    for url in ("http://localhost:8000", "http://127.0.0.1", "http://[::1]:9000"):
        assert is_here(url)
    for host in FAR:
        assert not is_here(f"http://{host}:8000")
