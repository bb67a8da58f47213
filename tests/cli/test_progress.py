"""The progress bar, on a terminal and in a pipe."""

import io

import pytest

from towerhall_server.cli import progress as module
from towerhall_server.cli.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_items_pass_through_in_order() -> None:
    assert list(progress(range(5), 5, "label", io.StringIO())) == [0, 1, 2, 3, 4]


def test_a_pipe_gets_whole_lines_and_no_control_characters() -> None:
    out = io.StringIO()
    list(progress(range(3), 3, "games", out))
    assert out.getvalue().startswith(f"games [{'#' * module.WIDTH}] 3/3 in ")
    assert out.getvalue().endswith("\n")
    assert "\r" not in out.getvalue()
    assert "\x1b" not in out.getvalue()


def test_a_terminal_gets_one_line_that_redraws_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REDRAW_SECONDS", 0.0)
    out = Terminal()
    list(progress(range(3), 3, "games", out))
    assert [" 1/3," in out.getvalue(), " 2/3," in out.getvalue()] == [True, True]
    assert out.getvalue().count("\n") == 1


def test_nothing_to_do_is_done_at_once() -> None:
    out = io.StringIO()
    assert list(progress([], 0, "games", out)) == []
    assert "0/0" in out.getvalue()
