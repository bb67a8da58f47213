"""Requests to append that leave together: one that fails does not take the others along."""

from typing import cast

from tests.eventlog.logs import attempt
from towerhall_server.eventlog.answers import Answer
from towerhall_server.eventlog.append import Appender, Request
from towerhall_server.store.opening import Store


class Bundle:
    """Takes calls, and sends them when it is told to."""

    def __init__(self) -> None:
        self.pending, self.sent = 0, 0

    def ask(self, *_: object) -> None:
        self.pending += 1

    def leave(self) -> None:
        self.sent, self.pending = self.sent + self.pending, 0


def test_an_attempt_that_cannot_be_packed_is_told_so_and_the_others_leave() -> None:
    bundle, answers = Bundle(), list[Answer | Exception]()
    appender = Appender(cast(Store, bundle), "node")
    broken = attempt(room=cast(str, None))
    appender.ask_now([Request(each, answers.append) for each in (attempt(), broken, attempt())])
    assert [type(answer) for answer in answers] == [AttributeError]
    assert (bundle.sent, bundle.pending) == (2, 0)
