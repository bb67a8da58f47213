"""What a body holds, and how long it may be."""

import json

import pytest
from msgspec.structs import replace

from towerhall_server.eventlog.pushes import Subscription, ToldOf
from towerhall_server.push.notes import BODY_BYTES, Note, body_of, is_news

DEVICE = Subscription("https://push.example/a", "", "", "de-AT-" + "x" * 29, 0, 0)
NOTE = Note("turn", "tag", "QJXKZB", "nikitin_towers", ("Ada",), "topic", 60, urgent=True)
FAMILY = "👩\u200d👩\u200d👧\u200d👦"


@pytest.mark.parametrize("name", ["Ada", "Я" * 24, FAMILY * 24, '"\\' * 12, "\u202e" * 600])
def test_the_longest_names_fit(name: str) -> None:
    body = body_of(replace(NOTE, names=(name,) * 4), DEVICE)
    assert len(body) < BODY_BYTES
    said = json.loads(body)
    assert all(name.startswith(each) for each in said["names"])
    assert set(said) <= {"kind", "room", "game", "names", "language", "place"}


@pytest.mark.parametrize(
    ("told", "news"),
    [
        (None, True),
        (ToldOf("turn", "tag", seen=False), False),
        (ToldOf("turn", "tag", seen=True), False),
        (ToldOf("turn", "other", seen=False), False),
        (ToldOf("turn", "other", seen=True), True),
        (ToldOf("turn", "tag", seen=False, sent=False), True),
        (ToldOf("invited", "invited", seen=False), True),
    ],
)
def test_what_is_news(told: ToldOf | None, news: bool) -> None:
    assert is_news(NOTE, told) is news
