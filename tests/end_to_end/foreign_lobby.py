"""Somebody else's lobby: it knows HTTP, JSON, HMAC and what the specification says of operators.

Nothing of Towerhall is imported here, and nothing but the standard library: this is the whole of
what a site has to write that sends its people to play.
"""

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

MOST_AGE_SECONDS = 300


class ForeignLobby:
    """One operator: a key to ask with, a hook to be told at, a secret to believe it by."""

    def __init__(self, key: str, secret: str) -> None:
        self._key = key
        self._secret = secret.encode()
        self.url = ""
        """Of the service; known once it runs."""
        self.hook_url = ""
        self.told: list[dict[str, Any]] = []
        """Every delivery once, in the order in which they came."""
        self.refused = 0
        self.repeated = 0
        self._seen: set[str] = set()
        self._news = threading.Condition()

    # Asking

    def open_table(
        self, game: str, players: dict[str, str], *, once: str = "", **more: Any
    ) -> dict[str, Any]:
        """A room with a seat for each player, who are known here by their account."""
        seats = [{"external_id": account, "name": name} for account, name in players.items()]
        headers = {"Idempotency-Key": once} if once else {}
        return self._ask("POST", "/rooms", {"game": game, "seats": seats, **more}, headers)

    def table(self, code: str) -> dict[str, Any]:
        return self._ask("GET", f"/rooms/{code}")

    def close_table(self, code: str, reason: str) -> dict[str, Any]:
        return self._ask("POST", f"/rooms/{code}/close", {"reason": reason})

    def ban(self, account: str) -> dict[str, Any]:
        return self._ask("POST", "/bans", {"external_id": account, "reason": "unkind"})

    def forgive(self, ban: dict[str, Any]) -> None:
        self._ask("DELETE", f"/bans/{ban['id']}")

    def _ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        parts = urlsplit(self.url)
        connection = HTTPConnection(parts.netloc, timeout=15)
        try:
            connection.request(
                method,
                f"/v1/operator{path}",
                None if body is None else json.dumps(body),
                {
                    "Authorization": f"Bearer {self._key}",
                    "Content-Type": "application/json",
                    **(headers or {}),
                },
            )
            response = connection.getresponse()
            answer: dict[str, Any] = json.loads(response.read())
        finally:
            connection.close()
        if response.status >= 400:
            raise RuntimeError(answer["error"]["code"])
        return answer

    # Being told

    def hear(self, signature: str, delivery: str, body: bytes) -> int:
        """What a hook does: believe nothing unsigned, and nothing twice. The status to answer."""
        if not self._is_signed(signature, body):
            self.refused += 1
            return 400
        document = json.loads(body)
        with self._news:
            if delivery in self._seen:
                self.repeated += 1
            else:
                self._seen.add(delivery)
                self.told.append(document)
                self._news.notify_all()
        return 204

    def _is_signed(self, signature: str, body: bytes) -> bool:
        parts = [part.partition("=") for part in signature.split(",")]
        (sent,) = [value for name, _, value in parts if name == "t"]
        if abs(time.time() - int(sent)) > MOST_AGE_SECONDS:
            return False
        proof = hmac.new(self._secret, f"{sent}.".encode() + body, hashlib.sha256).hexdigest()
        return any(name == "v1" and hmac.compare_digest(value, proof) for name, _, value in parts)

    def wait_for(self, kind: str, code: str, seconds: float = 20) -> dict[str, Any]:
        """The first news of that kind of a room."""

        def found() -> dict[str, Any] | None:
            for news in self.told:
                if news["kind"] == kind and news["room"]["code"] == code:
                    return news
            return None

        with self._news:
            self._news.wait_for(found, seconds)
            news = found()
        assert news is not None, f"nobody told of {kind} in {code}"
        return news

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Run the hook."""
        lobby = self

        class Hook(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                signature = self.headers["Towerhall-Signature"]
                status = lobby.hear(signature, self.headers["Towerhall-Delivery"], body)
                self.send_response(status)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Hook) as server:
            self.hook_url = f"http://127.0.0.1:{server.server_port}/towerhall"
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield
            finally:
                server.shutdown()
                thread.join()
