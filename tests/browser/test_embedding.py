"""The page inside a page of another place: shown where the operator lists that place, else not."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

from playwright.async_api import expect

from tests.browser.chromium import Visitors
from tests.end_to_end.servers import LIMITS, running
from tests.sockets import free_port


@contextmanager
def site(port: int, shown: str) -> Iterator[str]:
    """Another place, with a page that shows that address inside itself."""
    page = f"<!doctype html><title>Site</title><iframe src='{shown}' width=900 height=600></iframe>"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_page = self.path == "/"
            self.send_response(200 if is_page else 204)
            self.send_header("content-type", "text/html")
            self.end_headers()
            if is_page:
                self.wfile.write(page.encode())

        def log_message(self, *told: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", port), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            # By another name than the service's: to a browser that is another place.
            yield f"http://localhost:{port}"
        finally:
            server.shutdown()
            thread.join()


async def test_a_listed_page_shows_it_and_people_can_play_there(
    visitors: Visitors, tmp_path: Path
) -> None:
    port = free_port()
    listed = {"TOWERHALL_EMBEDDERS": f"http://localhost:{port}"}
    with (
        running(tmp_path / "data", limits=LIMITS | listed) as server,
        site(port, server.url) as url,
    ):
        page = await visitors.visit(url)
        inside = page.frame_locator("iframe")
        await inside.locator("[data-lobby=up]").wait_for()
        await inside.get_by_role("button", name="Play now").click()
        await inside.locator("[data-status=playing]").wait_for()
        await expect(inside.locator("[data-seat]").first).to_be_attached()


async def test_no_other_page_does(visitors: Visitors, tmp_path: Path) -> None:
    visitors.mean("frame-ancestors", "failed: GET .*ERR_BLOCKED_BY")
    port = free_port()
    listed = {"TOWERHALL_EMBEDDERS": "https://other.example"}
    with (
        running(tmp_path / "data", limits=LIMITS | listed) as server,
        site(port, server.url) as url,
    ):
        page = await visitors.visit(url)
        await page.wait_for_load_state("networkidle")
        assert await page.frame_locator("iframe").get_by_role("button").count() == 0
