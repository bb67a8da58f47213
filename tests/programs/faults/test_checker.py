"""Every rule of the checker finds what it is for, and nothing else."""

from collections.abc import Callable

import pytest

from tests.programs.faults.checker import Commit, Log, check
from tests.programs.faults.history import History, Recorder

ROOM = "ABCDEF"


def log(*commands: tuple[str, int] | None, branch: str = "m", since: int = 1) -> list[Commit]:
    """A log whose commits are by these commands (None: by the room). From `since` on it is of a
    branch of its own."""
    return [
        Commit(
            seq,
            mark(seq, branch if seq >= since else "m"),
            view(seq, branch if seq >= since else "m"),
            *(command or ("", 0)),
        )
        for seq, command in enumerate(commands, start=1)
    ]


def mark(seq: int, branch: str = "m") -> str:
    return f"{branch}{seq}"


def view(seq: int, branch: str = "m") -> str:
    return f"view {branch}{seq}"


def recv(client: Recorder, *seqs: int, branch: str = "m") -> None:
    for seq in seqs:
        client.recv(seq, mark(seq, branch), view(seq, branch))


def sync(
    client: Recorder, seq: int, branch: str = "m", *, lost: int = 0, whole: bool = True
) -> None:
    client.sync(seq, mark(seq, branch), view(seq, branch), lost=lost, whole=whole)


class Story:
    """Two clients of a room, `a` and `b`, and what became of its log."""

    def __init__(self) -> None:
        self.history = History()
        self.a = self.history.client(ROOM, "a")
        self.b = self.history.client(ROOM, "b")
        self.logs: list[Log] = []
        self.losses: list[int] = []

    def lose(self, *commands: tuple[str, int] | None, branch: str = "m", since: int = 1) -> None:
        """The store goes back; it had held this."""
        self.logs.append(log(*commands, branch=branch, since=since))
        self.losses.append(self.history.fault("tail", 1))

    def broken(self) -> list[str]:
        found = check(ROOM, [self.a, self.b], self.logs, self.losses)
        return [violation.rule for violation in found]


def played() -> Story:
    """A good history: `a` moves at 2, `b` at 3, both see all of it."""
    story = Story()
    a, b = story.a, story.b
    sync(a, 1)
    sync(b, 1)
    a.invoke(1, tagged=True)
    recv(a, 2)
    a.ack(1, 2)
    recv(b, 2)
    b.invoke(1, tagged=True)
    recv(b, 3)
    b.ack(1, 3)
    recv(a, 3)
    story.logs = [log(None, ("a", 1), ("b", 1))]
    return story


def lost_tail() -> Story:
    """A good one in which the move of `b` at 3 goes back, and 3 is then something else."""
    story = played()
    story.logs.clear()
    story.lose(None, ("a", 1), ("b", 1))
    sync(story.a, 2, lost=1)
    sync(story.b, 2, lost=1)
    recv(story.a, 3, branch="n")
    recv(story.b, 3, branch="n")
    story.logs.append(log(None, ("a", 1), None, branch="n", since=3))
    return story


def resumed() -> Story:
    """A good one: `b` comes back twice, once with its own view, and sends a command again."""
    story = played()
    a, b = story.a, story.b
    b.invoke(2, tagged=True)
    b.unknown(2)
    recv(a, 4, 5)
    sync(b, 3, whole=False)
    recv(b, 4)
    b.ack(2, 4)
    b.invoke(3, tagged=False)
    b.reject(3, "not_waiting")
    sync(b, 5)
    story.logs = [log(None, ("a", 1), ("b", 1), ("b", 2), None)]
    return story


def healed() -> Story:
    """A good one: the store went back, and somebody put everything in its place again."""
    story = played()
    final = story.logs.pop()
    story.lose(None, ("a", 1), ("b", 1))
    sync(story.a, 3)
    story.logs.append(final)
    return story


def gone() -> Story:
    story = played()
    story.logs.clear()
    story.lose(None, ("a", 1), ("b", 1))
    story.a.gone()
    story.b.gone()
    story.logs.append([])
    return story


@pytest.mark.parametrize("story", [played, lost_tail, resumed, healed, gone])
def test_a_good_history_passes(story: Callable[[], Story]) -> None:
    assert story().broken() == []


def a_gap() -> Story:
    story = Story()
    sync(story.a, 4)
    sync(story.b, 4)
    story.logs = [[*log(None, None), Commit(4, mark(4), view(4))]]
    return story


def twice() -> Story:
    story = played()
    recv(story.a, 4)
    recv(story.b, 4)
    story.logs = [log(None, ("a", 1), ("b", 1), ("a", 1))]
    return story


def invented() -> Story:
    story = played()
    recv(story.a, 4)
    recv(story.b, 4)
    story.logs = [log(None, ("a", 1), ("b", 1), ("b", 9))]
    return story


def against_the_rules() -> Story:
    story = played()
    first, _, third = story.logs[0]
    story.logs = [[first, Commit(2, mark(2), view(2), "a", 1, "the rules refuse it"), third]]
    return story


def acknowledged_without_append() -> Story:
    story = played()
    story.a.invoke(2, tagged=True)
    story.a.ack(2, 3)
    return story


def acknowledged_elsewhere() -> Story:
    story = played()
    story.a.invoke(2, tagged=True)
    story.a.ack(2, 3)
    recv(story.a, 4)
    recv(story.b, 4)
    story.logs = [log(None, ("a", 1), ("b", 1), ("a", 2))]
    return story


def lost_unreported() -> Story:
    story = lost_tail()
    # Somebody else was told; `b`, whose move it was, begins anew as if it knew nothing.
    kept = [entry for entry in story.b.entries if type(entry).__name__ in ("Invoke", "Ack")]
    story.b.entries = kept
    sync(story.b, 3, branch="n")
    return story


def rejected_and_done() -> Story:
    story = played()
    story.a.invoke(2, tagged=True)
    story.a.reject(2, "stale")
    recv(story.a, 4)
    recv(story.b, 4)
    story.logs = [log(None, ("a", 1), ("b", 1), ("a", 2))]
    return story


def out_of_order() -> Story:
    story = Story()
    a, b = story.a, story.b
    a.invoke(1, tagged=True)
    a.ack(1, 3)
    b.invoke(1, tagged=True)
    b.ack(1, 2)
    sync(a, 3)
    sync(b, 3)
    story.logs = [log(None, ("b", 1), ("a", 1))]
    return story


def skipped() -> Story:
    story = played()
    recv(story.a, 5)
    recv(story.b, 4, 5)
    story.logs = [log(None, ("a", 1), ("b", 1), None, None)]
    return story


def repeated() -> Story:
    story = played()
    recv(story.a, 3)
    return story


def resumed_elsewhere() -> Story:
    story = played()
    sync(story.a, 2, whole=False)
    recv(story.a, 3)
    return story


def shown_before_append() -> Story:
    story = played()
    recv(story.a, 4)
    sync(story.a, 3, lost=1)
    return story


def another_view() -> Story:
    story = played()
    story.a.entries[-1:] = []
    story.a.recv(3, mark(3), "something else")
    return story


def moved_silently() -> Story:
    story = lost_tail()
    story.a.entries[-2:] = []
    sync(story.a, 3, branch="n")
    return story


def moved_back_silently() -> Story:
    story = played()
    sync(story.a, 2)
    recv(story.a, 3)
    return story


def called_gone() -> Story:
    story = played()
    story.a.gone()
    return story


def there_after_gone() -> Story:
    story = gone()
    sync(story.a, 3)
    return story


def unanswered() -> Story:
    story = played()
    story.a.invoke(2, tagged=True)
    story.a.unknown(2)
    return story


def behind() -> Story:
    story = played()
    story.a.entries[-1:] = []
    return story


BAD = [
    ("numbering", a_gap),
    ("once", twice),
    ("invented", invented),
    ("rules", against_the_rules),
    ("ack", acknowledged_without_append),
    ("ack", acknowledged_elsewhere),
    ("lost", lost_unreported),
    ("rejected", rejected_and_done),
    ("order", out_of_order),
    ("contiguous", skipped),
    ("contiguous", repeated),
    ("contiguous", resumed_elsewhere),
    ("unwritten", shown_before_append),
    ("view", another_view),
    ("silent", moved_silently),
    ("silent", moved_back_silently),
    ("gone", called_gone),
    ("gone", there_after_gone),
    ("answered", unanswered),
    ("agree", behind),
]


@pytest.mark.parametrize(("rule", "story"), BAD, ids=[story.__name__ for _, story in BAD])
def test_a_bad_history_breaks_its_rule_and_no_other(rule: str, story: Callable[[], Story]) -> None:
    assert story().broken() == [rule]


def test_a_rejection_counts_only_until_the_store_goes_back() -> None:
    """A refused command may be right on another past; a copy of it may still be under way."""
    story = played()
    story.logs.clear()
    story.a.invoke(2, tagged=True)
    story.a.reject(2, "stale")
    story.lose(None, ("a", 1), ("b", 1))
    sync(story.a, 3, branch="n", lost=1)
    sync(story.b, 3, branch="n", lost=1)
    story.logs.append(log(None, ("a", 1), ("a", 2), branch="n", since=3))
    assert story.broken() == []
    story.losses = [0]
    assert story.broken() == ["rejected"]


def test_a_rejection_counts_only_until_the_log_is_healed() -> None:
    """A copy of the command may be where the old past was kept."""
    story = played()
    story.logs.clear()
    story.lose(None, ("a", 1), ("b", 1))
    a, b = story.a, story.b
    a.invoke(2, tagged=True)
    sync(a, 2, lost=1)
    a.reject(2, "stale")
    recv(a, 3, 4)
    recv(b, 4)
    story.logs.append(log(None, ("a", 1), ("b", 1), ("a", 2)))
    assert story.broken() == []
    sync(a, 4)
    a.invoke(3, tagged=True)
    a.reject(3, "stale")
    recv(a, 5)
    recv(b, 5)
    story.logs[-1] = log(None, ("a", 1), ("b", 1), ("a", 2), ("a", 3))
    assert story.broken() == ["rejected"]


def test_every_log_needs_its_loss() -> None:
    with pytest.raises(ValueError, match="2 logs for 0 losses"):
        check(ROOM, [], [[], []])
