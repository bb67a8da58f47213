"""What is true is believed: any game that went by the rules gives a record without findings."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.record.record_games import (
    GAMES,
    SMALL,
    STORIES,
    Story,
    record_of_story,
    told,
)
from towerhall_protocol.check_record import check_record
from towerhall_server.record.verify import check, verify


@pytest.mark.parametrize("story", [*STORIES, SMALL], ids=lambda story: f"{story.game}-{story.seed}")
def test_a_true_record_is_believed(story: Story) -> None:
    assert verify(record_of_story(story), GAMES) == ()


@st.composite
def stories(draw: st.DrawFn) -> Story:
    game = GAMES[draw(st.sampled_from(sorted(GAMES)))]
    seats = draw(st.sampled_from(game.seats))
    persons = draw(st.integers(1, seats))
    sealed = draw(st.sets(st.integers(0, persons - 1)))
    return Story(
        game=game.name,
        seats=seats,
        persons=persons,
        sealed=tuple(sorted(sealed)),
        cancelled=draw(st.integers(0, 2)) if sealed else 0,
        preset=draw(st.sampled_from(sorted(game.presets))),
        turn_seconds=draw(st.sampled_from((0, 5, 60))),
        beat_ms=draw(st.sampled_from((0, 2_500))),
        seed=draw(st.integers(0, 1 << 32)),
    )


@settings(max_examples=25)
@given(stories())
def test_any_game_played_by_the_rules_gives_a_record_that_is_believed(story: Story) -> None:
    report = check(record_of_story(story), GAMES)
    assert report.findings == ()
    summary, tape = report.summary, told(story)
    assert summary is not None
    assert summary.commits == summary.decided == summary.frames == len(tape.entries)
    assert sum(summary.actors.values()) == summary.commits
    assert (summary.deals, summary.cancelled) == (1 + story.cancelled, story.cancelled)
    assert summary.took_part == story.sealed
    assert summary.mark == tape.room.tag
    assert summary.ending == "result"


def test_each_kind_of_actor_is_counted() -> None:
    report = check(record_of_story(STORIES[3]), GAMES)
    assert report.summary is not None
    assert set(report.summary.actors) == {"person", "bot", "timer", "room"}


def test_a_beat_is_in_the_record_if_there_is_one() -> None:
    story = Story(beat_ms=4_000)
    record = record_of_story(story)
    assert verify(record, GAMES) == ()
    assert [each.name for each in check_record(record) if not each.ok] == []
    assert msgspec.json.decode(record)["settings"]["beat_ms"] == 4_000
    hasty = record_of_story(Story(beat_ms=0))
    assert "beat_ms" not in msgspec.json.decode(hasty)["settings"]
