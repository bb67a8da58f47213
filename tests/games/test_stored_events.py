"""The rules of each game say what is stored of its events, and all of it is told (P-122)."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import msgspec
import pytest

from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.games.five_towers import events as five_towers
from towerhall_server.games.nikitin_towers import GAME as NIKITIN_TOWERS
from towerhall_server.games.nikitin_towers import events as nikitin_towers

GAMES = [(FIVE_TOWERS, five_towers), (NIKITIN_TOWERS, nikitin_towers)]


@pytest.mark.parametrize(("game", "events"), GAMES, ids=["five_towers", "nikitin_towers"])
def test_the_events_are_listed_with_as_many_fields_as_are_stored(
    game: Any, events: ModuleType
) -> None:
    rules = (Path(str(events.__file__)).parent / "RULES.md").read_text()
    written = {}
    listed = rules.split("Events, with their fields")[1].split("\n\n")[1]
    for name, fields in re.findall(r"^\| `(\w+)` \| ?(.*?) ?\|$", listed, re.M):
        bare = re.sub(r"\([^)]*\)|:.*?(?=;|$)", "", fields)
        written[name] = len(re.findall(r"[^,;]+", bare)) if bare.strip() else 0
    kinds = get_args(game.event_type)
    assert written == {
        kind.__struct_config__.tag: len(msgspec.structs.fields(kind)) for kind in kinds
    }


@pytest.mark.parametrize(("game", "events"), GAMES, ids=["five_towers", "nikitin_towers"])
def test_all_of_an_event_is_told(game: Any, events: ModuleType) -> None:
    for kind in get_args(game.event_type):
        fields = msgspec.structs.fields(kind)
        event = kind(*(() if "tuple" in str(field.type) else 0 for field in fields))
        assert len(game.facts(event)) == 1 + len(fields)
        assert game.facts(event)[0] == kind.__struct_config__.tag
