"""Slips, ratings and the numbers that the specification names."""

from random import Random

from tests.protocol.test_spec import clause
from towerhall_server.gateway.http.regular_requests import MOST_REPORT
from towerhall_server.regulars.journal import MOST_PAST
from towerhall_server.regulars.profiles import MOST_PAGE, PAGE
from towerhall_server.regulars.ratings import (
    FIRST_POINTS,
    NEW,
    POINTS_PER_MU,
    Rating,
    points,
    rated,
)
from towerhall_server.regulars.reports import MOST_LINES
from towerhall_server.regulars.reports import PAGE as REPORTS_PAGE
from towerhall_server.regulars.slips import PLACED_GAMES


def test_the_numbers_of_the_specification_are_those_of_the_code() -> None:
    assert f"`points` of a new person are {points(NEW)};" in clause(201)
    assert f"{FIRST_POINTS} + {POINTS_PER_MU} · (mu − 3 · sigma)" in clause(201)
    assert f"After {PLACED_GAMES} rated games" in clause(201)
    assert f"`most` (1 to {MOST_PAGE}, else {PAGE})" in clause(205)
    assert f"The newest {MOST_PAST} games" in clause(205)
    assert f"at most {MOST_REPORT}\ncharacters" in clause(208)
    assert f"ids of at most {MOST_LINES} lines" in clause(208)
    assert f"the oldest {REPORTS_PAGE} reports" in clause(210)


def test_ratings_find_the_stronger_person_and_become_surer() -> None:
    chance, people = Random(3), [NEW] * 4
    for _ in range(300):
        seats = chance.sample(range(4), chance.randint(2, 4))
        order = sorted(seats, key=lambda seat: -(seat + chance.gauss(0, 1)))
        places = [order.index(seat) + 1 for seat in seats]
        for seat, after in zip(seats, rated([people[seat] for seat in seats], places), strict=True):
            people[seat] = after
    assert [points(each) for each in people] == sorted(points(each) for each in people)
    assert all(each.sigma < NEW.sigma / 3 for each in people)


def test_equal_places_are_a_draw_and_five_people_are_rated() -> None:
    one, other = rated([NEW, NEW], [1, 1])
    assert one == other == Rating(NEW.mu, one.sigma, 1, one.change)
    five = rated([NEW] * 5, [1, 2, 3, 4, 5])
    assert [each.mu for each in five] == sorted((each.mu for each in five), reverse=True)
