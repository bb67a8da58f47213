"""`docs/limits.md` has every limit with the value of the code, and the sums that follow from it."""

import msgspec

from tests.docs.pages import chapter, rows, text
from towerhall_server.access.rates import Limits, Rate
from towerhall_server.config.settings import LIMIT, READERS

PAGE = text("docs/limits.md")
LIMITS = msgspec.structs.asdict(Limits())
RATES = {name for name, value in LIMITS.items() if isinstance(value, Rate)}
HOUR = 3600


def settings(title: str) -> dict[str, list[str]]:
    """The cells of each row, by the setting in the last one."""
    return {row[-1].strip("`"): row for row in rows(chapter(PAGE, title))}


def test_every_rate_has_its_value_and_what_it_allows_in_an_hour() -> None:
    written = settings("Per hour")
    assert set(written) == RATES
    for name, (_, rate, first, later, _, _) in written.items():
        limit = LIMITS[name]
        assert READERS[LIMIT + name](rate) == limit, name
        assert int(later) == round(limit.per_second * HOUR), name
        assert int(first) == int(later) + limit.burst, name


def test_every_other_limit_has_its_value() -> None:
    written = settings("At the same time") | settings("Sizes and times")
    assert {name: float(row[1]) for name, row in written.items()} == {
        name: value for name, value in LIMITS.items() if name not in RATES
    }


def test_a_bot_may_keep_as_many_rooms_open_as_is_said() -> None:
    rooms = LIMITS["sockets_per_bot"] - 1
    assert f"up to {rooms} rooms open beside the events" in " ".join(PAGE.split())
