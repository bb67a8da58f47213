"""A progress bar on standard error: one line that redraws itself, or rare lines when piped."""

import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TextIO, TypeVar

Item = TypeVar("Item")
WIDTH = 30
REDRAW_SECONDS = 0.1
LINE_SECONDS = 10.0


def progress(
    items: Iterable[Item], total: int, label: str, stream: TextIO | None = None
) -> Iterator[Item]:
    """Pass the items on and show how many of them have come, and how long the rest may take."""
    out = sys.stderr if stream is None else stream
    live = out.isatty()
    began = shown = monotonic()
    for count, item in enumerate(items, start=1):
        yield item
        now = monotonic()
        if now - shown >= (REDRAW_SECONDS if live else LINE_SECONDS) and count < total:
            shown = now
            left = (now - began) / count * (total - count)
            _show(out, f"{label} {_bar(count, total)} {count}/{total}, {left:.0f} s left", live)
    seconds = monotonic() - began
    _show(out, f"{label} {_bar(total, total)} {total}/{total} in {seconds:.1f} s", live)
    if live:
        out.write("\n")


def _bar(count: int, total: int) -> str:
    filled = WIDTH * count // max(total, 1)
    return "[" + "#" * filled + "." * (WIDTH - filled) + "]"


def _show(out: TextIO, line: str, live: bool) -> None:
    # Cursor to the start, new text, and whatever is left of the old one wiped away.
    out.write(f"\r{line}\x1b[K" if live else line + "\n")
    out.flush()
