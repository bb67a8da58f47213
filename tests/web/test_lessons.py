"""The lessons of the page: what is committed is what the real games do with that script."""

from itertools import pairwise

import msgspec
import pytest

from clients.web import lessons
from clients.web.lessons import LESSONS, Beat, Lesson

NAMES = [each.game.name for each in LESSONS]


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_the_committed_lesson_is_the_one_that_the_game_plays(lesson: Lesson) -> None:
    committed = lessons.path_of(lesson).read_bytes()
    assert committed == lessons.play(lesson), "`python clients/web/lessons.py` writes it anew"


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_a_lesson_has_five_rounds_in_order(lesson: Lesson) -> None:
    rounds = [beat.round for beat in lesson.beats]
    assert sorted(set(rounds)) == [1, 2, 3, 4, 5]
    assert all(one <= other for one, other in pairwise(rounds))
    assert all(any(b.deed for b in lesson.beats if b.round == each) for each in set(rounds))
    assert lesson.beats[-1].deed is None


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_a_lesson_offers_what_its_script_can_follow(lesson: Lesson) -> None:
    """A free beat shows all that the rules allow; every other one the deed alone."""
    shown = msgspec.json.decode(lessons.play(lesson))["beats"]
    for beat, written in zip(lesson.beats, shown, strict=True):
        if beat.deed is None:
            assert "offers" not in written
            continue
        commands = {each["command"] for each in written["offers"]}
        assert commands == {beat.deed["command"]}
        counts = [len(each.get("choices") or [None]) for each in written["offers"]]
        assert beat.free or counts == [1]


def test_a_script_that_breaks_the_rules_is_refused() -> None:
    beats = (Beat("pass", 1, lessons.PASS),)
    with pytest.raises(ValueError, match="does not offer"):
        lessons.play(LESSONS[0]._replace(beats=beats))
    free = (Beat("pass", 1, lessons.PASS, free=True),)
    with pytest.raises(ValueError, match="start_player_must_bid"):
        lessons.play(LESSONS[0]._replace(beats=free))
