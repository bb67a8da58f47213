"""A page that shows towers which no game reaches: `clients/web/tests/harness/nikitin.html`."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from clients.web.build import MODULES, WEB, need_node


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def served_harness(folder: Path) -> Iterator[str]:
    """Build the page into that folder; its address."""
    vite = MODULES / "vite" / "bin" / "vite.js"
    config = Path("tests", "harness", "nikitin.vite.config.ts")
    command = [need_node().node, vite, "build", "-c", config, "--outDir", folder, "-l", "error"]
    subprocess.run(list(map(str, command)), cwd=WEB, check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/nikitin.html"
    finally:
        server.shutdown()
        server.server_close()
