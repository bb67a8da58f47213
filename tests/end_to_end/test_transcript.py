"""The transcript of the guide is a real one: its lines are sent again, and the same comes back."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.end_to_end.transcript import README, Message, play, rewritten, written

OPAQUE = re.compile(r"[\w-]{11}|[\w-]{6,12}…")
"""What differs in each run: ids, marks, and what is shortened."""
TIMES = ("now", "expires")


class Bindings:
    """Which opaque text of the page stands for which text of a run, one for one."""

    def __init__(self) -> None:
        self._there: dict[str, str] = {}
        self._back: dict[str, str] = {}

    def check(self, page: Any, run: Any, where: str) -> None:
        """Compare two documents; raises `AssertionError`."""
        if isinstance(page, dict):
            assert isinstance(run, dict), where
            assert page.keys() == run.keys(), where
            for key in page:
                if key not in TIMES:
                    self.check(page[key], run[key], f"{where}.{key}")
        elif isinstance(page, list):
            assert isinstance(run, list), where
            assert len(page) == len(run), where
            for at, (one, other) in enumerate(zip(page, run, strict=True)):
                self.check(one, other, f"{where}[{at}]")
        elif isinstance(page, str) and OPAQUE.fullmatch(page):
            assert self._there.setdefault(page, run) == run, where
            assert self._back.setdefault(run, page) == page, where
        else:
            assert (type(page), page) == (type(run), run), where


def apart(got: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """Messages in their order, and those that come a little later (P-92), without their times."""
    presence = sorted([*m[:3], len(m[3])] for m in got if m[0] == "presence")
    return [m for m in got if m[0] != "presence"], presence


async def test_the_transcript_of_the_guide_is_what_a_server_says(tmp_path: Path) -> None:
    page = README.read_text()
    said, run = written(page), await play(page, tmp_path)
    same = Bindings()
    for answer, answered in zip(said.answers, run.answers, strict=True):
        same.check(answer, answered, "HTTP")
    assert len(said.steps) > 10
    for at, (step, played) in enumerate(zip(said.steps, run.steps, strict=True)):
        same.check(step.sent, played.sent, f"step {at}")
        for one, other in zip(apart(step.got), apart(played.got), strict=True):
            same.check(one, other, f"step {at}")


def test_a_page_that_was_written_anew_says_the_same() -> None:
    page = README.read_text()
    assert rewritten(page, written(page)) == page
