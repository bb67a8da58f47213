"""Waiting for the page to be as a test wants it.

Playwright asks a page in every frame, which keeps it drawing frames. Here the page is asked when
its document has changed, and left alone otherwise.
"""

from typing import Any, Final

from playwright.async_api import Error, Page

from tests.browser.chromium import PATIENCE_MS

UNTIL: Final = """
([wanted, patience]) => new Promise((resolve, reject) => {
  const look = %s;
  const observer = new MutationObserver(check);
  const late = setTimeout(() => end(reject, new Error("still not so: " + JSON.stringify(
    { wanted, ...document.documentElement.dataset }))), patience);
  function end(say, what) {
    observer.disconnect();
    clearTimeout(late);
    say(what);
  }
  function check() {
    const found = look(wanted);
    if (found) end(resolve, found);
  }
  const all = { attributes: true, characterData: true, childList: true, subtree: true };
  observer.observe(document, all);
  check();
})
"""
LEFT: Final = ("Execution context was destroyed", "Cannot find context")
"""What is said if the page is loaded anew meanwhile."""


async def until(page: Page, look: str, wanted: object, patience_ms: int = PATIENCE_MS) -> Any:
    """What the function `look` finds in the page, once it finds anything."""
    while True:
        try:
            return await page.evaluate(UNTIL % look, [wanted, patience_ms])
        except Error as error:
            if not any(each in error.message for each in LEFT):
                raise
            await page.wait_for_load_state()
