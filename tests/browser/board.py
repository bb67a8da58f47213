"""What the board shows, read from the page, and what it should show, worked out from frames.

The page has no hook for tests: cards, calls and scores are read as they stand in the document.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from playwright.async_api import Page

from tests.browser.waiting import until
from towerhall_protocol.document import Document
from towerhall_protocol.merge_patch import apply

SHOWN: Final = """
() => {
  const board = document.querySelector(".five-towers");
  if (!board) return null;
  const all = (within, selector) => [...within.querySelectorAll(selector)];
  const number = (element) => parseInt(element.textContent.replace("−", "-"), 10);
  const call = (text) => (/^\\d+$/.test(text) ? Number(text) : /^(|…)$/.test(text) ? null : -1);
  const value = (card) => number(card.querySelector("text.big, text.number"));
  const player = (part) => ({
    score: number(part.querySelector(".score")),
    towers: Object.fromEntries(all(part, "[data-drop]").map((tower) => [
      tower.dataset.drop, all(tower, ".card:not(.ghost)").map(value)])),
  });
  const read = () => ({
    round: Number(board.dataset.round),
    phase: board.dataset.phase,
    pile: number(board.querySelector(".pile strong")),
    display: all(board, ".display .card").map((card) => card.dataset.place),
    calls: all(board, ".auction .call").map((each) => call(each.textContent.trim())),
    players: Object.fromEntries(
      all(board, ".mine, .player").map((part) => [part.dataset.seat, player(part)])),
  });
  try {
    return read();
  } catch {
    return null;
  }
}
"""
"""Nothing while the board is not there, or is being drawn."""

REMEMBER: Final = f"""
(() => {{
  const shown = {SHOWN};
  window.boards = {{}};
  const look = (seq) => {{
    if (!seq || seq !== document.documentElement.dataset.seq) return;
    const board = shown();
    if (board) window.boards[seq] = board;
    else requestAnimationFrame(() => look(seq));
  }};
  const start = () => new MutationObserver(() => look(document.documentElement.dataset.seq))
    .observe(document.documentElement, {{ attributeFilter: ["data-seq"] }});
  if (document.documentElement) start(); else addEventListener("DOMContentLoaded", start);
}})()
"""
"""Lets a page keep what its board showed at each seq, from the moment at which it shows it."""


async def shown(page: Page) -> dict[str, Any]:
    """What the board shows, as soon as there is one: a game is loaded when it is wanted."""
    found = await until(page, SHOWN, None)
    assert isinstance(found, dict)
    return found


async def remembered(page: Page) -> dict[int, dict[str, Any]]:
    """What a page with `REMEMBER` has kept."""
    return {int(seq): board for seq, board in (await page.evaluate("window.boards")).items()}


def views(frames: Iterable[Sequence[Any]]) -> dict[int, Document]:
    """The view at each seq, by the frames of a record."""
    view: Document = {}
    found: dict[int, Document] = {}
    for _, seq, _, _, _, patch in frames:
        view = apply(view, patch)
        found[seq] = view
    return found


def expected(view: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a board has to show of a view; nothing before the deal."""
    game = view.get("game")
    if game is None:
        return None
    seats = game["seats"]
    calls = game["calls"]
    order = [(game["start"] + step) % len(seats) for step in range(len(seats))]
    kinds = ("candy", "spooky", "tree", "scrap", "sand")
    return {
        "round": game["round"],
        "phase": game["phase"],
        "pile": game["pile"],
        "display": [f"display {card}" for card in game["display"]],
        # Nobody bids any more when all is over.
        "calls": [calls.get(str(seat)) for seat in order if game["phase"] != "over"],
        "players": {
            seat: {
                "score": player["score"],
                "towers": {kind: list(player["towers"].get(kind, [])) for kind in kinds},
            }
            for seat, player in seats.items()
        },
    }
