"""Commands that work straight on the store: what they explain, and which mistakes they tell.

What they do is tried where servers can be seen to obey: in `tests/operators`.
"""

from pathlib import Path

import pytest

from tests.cli.runs import here
from towerhall_server.cli.main import build_parser

ACTIONS = (
    *(("bans",), ("bans", "ls"), ("bans", "add"), ("bans", "lift")),
    *(("reports",), ("reports", "ls"), ("reports", "settle")),
    *(("projections",), ("projections", "show"), ("projections", "rebuild")),
    *(("tokens",), ("tokens", "revoke")),
    *(("operators",), ("operators", "ls"), ("operators", "revoke")),
    ("audit",),
)


@pytest.mark.parametrize("action", ACTIONS)
def test_help_shows_examples_that_the_command_understands(action: tuple[str, ...]) -> None:
    told = here(*action, "--help")
    assert told.status == 0
    start = f"  towerhall {' '.join(action)}"
    examples = [line.split()[1:] for line in told.out.splitlines() if line.startswith(start)]
    assert examples
    for example in examples:
        build_parser().parse_args(example)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("reports", "settle", "1"), "'1' is not the number of a report"),
        (("bans", "add", "short"), "'short' is not the id of a person"),
        (("bans", "lift", "x" * 12), "11 characters"),
        (("bans", "add", "AAAAAAAAAAA", "--reason", "x" * 201), "at most 200 characters"),
        (("tokens", "revoke", "short"), "'short' is not the id of a person"),
        (("operators", "revoke", "acme", "--key-digest", "abc"), "64 characters"),
        (("operators", "revoke", "A b"), "not the name of an operator"),
        (("operators", "revoke", "acme"), "no key of acme here"),
        (("audit", "--since", "yesterday"), "write 30m, 12h, 2d"),
    ],
)
def test_a_mistake_is_told_before_the_store_is_asked(arguments: tuple[str, ...], says: str) -> None:
    told = here(*arguments, "--redis-url", "redis://127.0.0.1:1/0")
    assert (told.status, told.out) == (2, "")
    assert says in told.err


@pytest.mark.parametrize("arguments", [("bans", "ls"), ("bans", "add", "AAAAAAAAAAA")])
def test_a_store_that_does_not_answer_is_told(arguments: tuple[str, ...], tmp_path: Path) -> None:
    told = here(*arguments, "--redis-url", "redis://me:sesame@127.0.0.1:1/0")
    assert told.status == 2
    assert "redis://127.0.0.1:1/0 does not answer" in told.err
    assert "sesame" not in told.err
    told = here(*arguments, "--data-folder", str(tmp_path))
    assert (told.status, list(tmp_path.iterdir())) == (2, [])
    assert "no server runs on the data folder" in told.err
