"""A progress bar on standard error: one line that redraws itself, or rare lines when piped."""

import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TextIO, TypeVar

Item = TypeVar("Item")
WIDTH = 30
REDRAW_SECONDS = 0.1
LINE_SECONDS = 10.0


class Progress:
    """One line that shows progress and the estimated time left."""

    def __init__(self, total: int, label: str, stream: TextIO | None = None) -> None:
        self._total = total
        self._label = label
        self._out = sys.stderr if stream is None else stream
        self._live = self._out.isatty()
        self._began = self._shown = monotonic()

    def show(self, count: int) -> None:
        """Set the number of items done. Draws rarely: a flickering line cannot be read."""
        now = monotonic()
        pause = REDRAW_SECONDS if self._live else LINE_SECONDS
        if now - self._shown >= pause and count < self._total:
            self._shown = now
            left = (now - self._began) / count * (self._total - count)
            self._draw(f"{_bar(count, self._total)} {count}/{self._total}, {left:.0f} s left")

    def done(self) -> None:
        seconds = monotonic() - self._began
        total = self._total
        self._draw(f"{_bar(total, total)} {total}/{total} in {seconds:.1f} s")
        if self._live:
            self._out.write("\n")

    def _draw(self, text: str) -> None:
        # Cursor to the start, new text, and whatever is left of the old one wiped away.
        line = f"{self._label} {text}"
        self._out.write(f"\r{line}\x1b[K" if self._live else line + "\n")
        self._out.flush()


def progress(
    items: Iterable[Item], total: int, label: str, stream: TextIO | None = None
) -> Iterator[Item]:
    """Pass the items on and show their count."""
    shown = Progress(total, label, stream)
    for count, item in enumerate(items, start=1):
        yield item
        shown.show(count)
    shown.done()


def _bar(count: int, total: int) -> str:
    filled = WIDTH * count // max(total, 1)
    return "[" + "#" * filled + "." * (WIDTH - filled) + "]"
