"""What is promised with each setting of a store, as a table."""

import pytest

from towerhall_server.store.durability import ASKED, GRANT, after_failover, promises, shortcoming

BEST = {
    "appendonly": "yes",
    "appendfsync": "always",
    "maxmemory": "1073741824",
    "maxmemory-policy": "noeviction",
    "min-replicas-to-write": "1",
}


def of(name: str, value: str, **more: str) -> tuple[str, bool]:
    """What is promised for one setting, the others being the best."""
    found = {**BEST, **more, name: value}
    told = dict(zip(ASKED, promises(found), strict=True))[name]
    return told.text, told.warns


@pytest.mark.parametrize(
    ("name", "value", "warns", "says"),
    [
        ("appendonly", "yes", False, "writes every move to a file"),
        ("appendonly", "no", True, "all moves since its last snapshot are lost"),
        ("appendfsync", "always", False, "on the disk. It survives the end of any process, and a"),
        ("appendfsync", "everysec", True, "a power cut loses the moves of about the last two"),
        ("appendfsync", "no", True, "that the operating system has not written"),
        ("appendfsync", "sometimes", True, "is unknown"),
        ("maxmemory", "1073741824", False, "the store refuses moves, and rooms pause"),
        ("maxmemory", "0", False, "may then be killed"),
        ("maxmemory-policy", "noeviction", False, "no room is evicted"),
        ("maxmemory-policy", "allkeys-lru", True, "evicts rooms"),
        ("min-replicas-to-write", "0", False, "A failover to a replica may lose the last ones"),
        ("min-replicas-to-write", "2", False, "without that many connected replicas the store"),
    ],
)
def test_each_setting_is_told_with_its_value_and_what_follows(
    name: str, value: str, warns: bool, says: str
) -> None:
    text, warned = of(name, value)
    assert text.startswith(f"{name} is {value}")
    assert says in text
    assert warned is warns


def test_nothing_is_promised_for_syncs_of_a_file_that_is_not_written() -> None:
    for value in ("always", "everysec", "no"):
        text, warned = of("appendfsync", value, appendonly="no")
        assert text == f"appendfsync is {value}: without appendonly it means nothing"
        assert warned


def test_replicas_promise_no_more_than_they_keep() -> None:
    assert "a failover may lose the last ones" in of("min-replicas-to-write", "1")[0]


@pytest.mark.parametrize(
    ("wait", "replicas", "warns", "says"),
    [
        (0, 2, False, "a failover may lose the last acknowledged moves"),
        (1, 1, False, "A failover to one of these loses none"),
        (2, 1, True, "no move is acknowledged until there are enough"),
    ],
)
def test_the_url_says_what_a_failover_loses(
    wait: int, replicas: int, warns: bool, says: str
) -> None:
    told = after_failover(wait, replicas)
    assert says in told.text
    assert told.warns is warns


def test_settings_do_not_contradict_a_url_that_waits() -> None:
    assert not any("a failover may lose" in told.text for told in promises(BEST, waits=True))


@pytest.mark.parametrize("name", ASKED)
def test_a_setting_that_is_not_told_is_not_known(name: str) -> None:
    found = {other: value for other, value in BEST.items() if other != name}
    told = dict(zip(ASKED, promises(found), strict=True))[name]
    assert told.text.startswith(f"{name} is hidden")
    assert told.warns


def test_a_store_that_tells_nothing_is_one_line() -> None:
    (told,) = promises({})
    assert told.warns
    assert "is unknown" in told.text
    assert GRANT in told.text


def test_promises_are_one_line_each_and_say_the_subject_first() -> None:
    for found in (BEST, dict.fromkeys(ASKED, "no"), {}):
        for told in promises(found):
            assert "\n" not in told.text
            assert not told.text.endswith(".")


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        (BEST, None),
        ({"appendonly": "yes", "appendfsync": "always"}, None),
        ({**BEST, "appendonly": "no"}, "the store has appendonly no: set appendonly yes"),
        (
            {**BEST, "appendfsync": "everysec"},
            "the store has appendfsync everysec: set appendfsync always",
        ),
        ({}, f"the store hides appendonly and appendfsync: {GRANT}"),
        ({"appendonly": "no"}, f"the store hides appendfsync: {GRANT}"),
        ({"appendonly": "yes"}, f"the store hides appendfsync: {GRANT}"),
    ],
)
def test_what_durable_storage_lacks_is_told_with_the_change(
    found: dict[str, str], problem: str | None
) -> None:
    assert shortcoming(found) == problem
