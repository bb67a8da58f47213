"""Windows by turns: who is measured when, and what becomes of several windows."""

from random import Random

from tests.programs.bench.alternating import Series, alternated, together
from tests.programs.bench.load import Step, Window

STEP = Step("any", moves=1100, warm_up=100)


def window(cpu: float, latencies_us: tuple[int, ...] = (), seconds: float = 1.0) -> Window:
    return Window("any", 1000, seconds, cpu, 0.1, 0.5, 0.01, latencies_us, 2)


def order_of(number: int) -> str:
    """Who was asked for windows, one letter each."""
    asked = []

    def play(name: str) -> Window:
        asked.append(name)
        return window(0.1)

    plays = {name: lambda _, name=name: play(name) for name in "abc"}
    alternated(plays, Series(STEP, windows=20), Random(number))
    return "".join(asked)


def test_each_turn_measures_every_server_once_in_an_order_of_chance() -> None:
    order = order_of(1)
    turns = [order[at : at + 3] for at in range(0, len(order), 3)]
    assert len(turns) == 20
    assert all(sorted(turn) == ["a", "b", "c"] for turn in turns)
    assert len(set(turns)) > 1


def test_the_order_depends_on_the_repeat_alone() -> None:
    assert order_of(1) == order_of(1) != order_of(2)


def test_there_are_tables_for_the_moves_that_are_under_way_when_a_window_ends() -> None:
    assert Series(STEP, windows=3).most_moves(rooms=200) == 3 * 1300


def test_several_windows_are_one_with_sums_and_the_latencies_of_all() -> None:
    one = together([window(0.1, (1, 5, 9)), window(0.3, (2, 4, 10), seconds=2.0)])
    assert (one.name, one.moves, one.seconds, one.late_slots) == ("any", 2000, 3.0, 4)
    assert (one.server_cpu, one.store_cpu, one.client_cpu, one.others_cpu) == (0.4, 0.2, 1.0, 0.02)
    assert one.latencies_us == (1, 2, 4, 5, 9, 10)
