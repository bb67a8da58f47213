"""A player who keeps as many commands under way as the protocol allows."""

from collections.abc import Mapping
from typing import Any

from tests.programs.faults.players import Player
from towerhall_protocol import updates as u


class Eager(Player):
    """Sits down, and gets ready and unready as fast as answers come, as often as it is asked to."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.left = 0
        """Commands that it will still send."""
        self.turned_away: list[Mapping[str, int | str]] = []
        """The params of each error that called a command one too many."""

    @property
    def has_sat_down(self) -> bool:
        return self.up and self.replay.seat is not None and not self.replay.unanswered

    @property
    def is_done(self) -> bool:
        return self.up and not self.left and not self.replay.unanswered

    def press(self, count: int) -> None:
        self.left = count
        self.go_on()

    def go_on(self) -> None:
        if self.replay.seat is None:
            super().go_on()
            return
        while self.left and self.up and not self.replay.is_full:
            self.left -= 1
            self._invoke(self.replay.ready(is_ready=self.left % 2 == 1))

    def _happened(self, update: u.Update) -> None:
        if isinstance(update, u.ErrorCame) and update.code == "too_many_unanswered":
            self.turned_away.append(update.params)
        super()._happened(update)
